"""The one writer of state: `reduce(state, event) -> state`, pure.

Rates are taken over the node's own clock (`uptime_s`), because readings travel for an unknown time. A counter that
went back means a remount or a reboot and gives no rate. A frame that failed keeps the last value and says why.
"""

from __future__ import annotations

from typing import Any

from dsv41_tui.core import reduce_log, reduce_nfs, reduce_rdma
from dsv41_tui.core.events import (
    BookRead,
    ChannelsChanged,
    CostTaken,
    Elapsed,
    Event,
    FailuresCleared,
    FailureSeen,
    LinkChanged,
    LogSourceOpened,
    LogsUnreadable,
    ProbeEnded,
    ProbeStarted,
    RankLogChanged,
    ReadingTaken,
)
from dsv41_tui.core.model import ClusterState, Link, LowWater, NetRate, NodeState, Notice, Observer, Reading
from dsv41_tui.core.rates import elapsed_s, rate
from dsv41_tui.core.readings import Host, Memory, NetInterface
from dsv41_tui.core.trend import extend

NOTICES = 50
SLOPE_WEIGHT = 0.25
"""Weight of the newest second in the smoothed slope of MemFree."""


def reduce(state: ClusterState, event: Event) -> ClusterState:
    """Join one event to the state. An event of a node that is not configured changes nothing."""
    if isinstance(event, Elapsed):
        return _elapsed(state, event)
    if isinstance(event, LogSourceOpened):
        return _source(state, event)
    if isinstance(event, BookRead):
        return state.model_copy(update={"book": event.book, "book_notes": event.notes})
    name = getattr(event, "node", None)
    for index, node in enumerate(state.nodes):
        if node.name == name:
            changed, notices = _node(node, event, state)
            if changed is node:
                return state
            nodes = (*state.nodes[:index], changed, *state.nodes[index + 1 :])
            update: dict[str, Any] = {"nodes": nodes}
            if notices:
                update["notices"] = (*state.notices, *notices)[-NOTICES:]
            return state.model_copy(update=update)
    return state


def _source(state: ClusterState, event: LogSourceOpened) -> ClusterState:
    known = {source.id: source for source in state.log_sources}
    if known.get(event.source.id) == event.source:
        return state
    return state.model_copy(update={"log_sources": tuple({**known, event.source.id: event.source}.values())})


def _elapsed(state: ClusterState, event: Elapsed) -> ClusterState:
    """Failures that have been quiet for long enough are over."""
    nodes = tuple(reduce_log.age(node, event.at, state) for node in state.nodes)
    if all(new is old for new, old in zip(nodes, state.nodes, strict=True)):
        return state
    return state.model_copy(update={"nodes": nodes})


def _node(node: NodeState, event: Event, state: ClusterState) -> tuple[NodeState, list[Notice]]:
    if isinstance(event, ReadingTaken):
        return _reading(node, event, state)
    if isinstance(event, LinkChanged):
        return _link(node, event)
    if isinstance(event, ChannelsChanged):
        link = node.link.model_copy(
            update={"channels": event.channels, "channel_limit": event.limit, "unwatched": event.unwatched}
        )
        return node.model_copy(update={"link": link}), []
    if isinstance(event, CostTaken):
        return node.model_copy(update={"observer": _observer(node.observer, event)}), []
    if isinstance(event, ProbeStarted | ProbeEnded):
        return reduce_nfs.probe(node, event, state.limits)
    if isinstance(event, RankLogChanged | FailureSeen | FailuresCleared | LogsUnreadable):
        return reduce_log.join(node, event, state), []
    return node, []


def _link(node: NodeState, event: LinkChanged) -> tuple[NodeState, list[Notice]]:
    """A failed attempt keeps `down_since`; a login resets it and the observer's count."""
    old = node.link
    up = event.phase == "up"
    down_since = None if up else (old.down_since if old.down_since is not None else event.at)
    link = Link(
        phase=event.phase,
        since=event.at if event.phase != old.phase else old.since,
        kind=event.kind if event.phase != "connecting" else old.kind,
        why=event.why if event.phase != "connecting" else old.why,
        reason=event.reason if event.phase != "connecting" else old.reason,
        fix=event.fix if event.phase != "connecting" else old.fix,
        retry_at=event.retry_at,
        down_since=down_since,
        logins=old.logins + (1 if up else 0),
    )
    update: dict[str, Any] = {"link": link}
    notices = []
    if up:
        update["observer"] = Observer(since=event.at, sessions=1)
        if old.logins:
            notices.append(Notice(at=event.at, node=node.name, kind="link-back"))
    elif old.phase == "up" and event.phase != "closed":
        notices.append(Notice(at=event.at, node=node.name, kind="link-lost", detail=event.why or ""))
    return node.model_copy(update=update), notices


def _observer(old: Observer, event: CostTaken) -> Observer:
    since = old.since if old.since is not None else event.at
    minutes = (event.at - since) / 60
    per_minute = event.cpu_s / minutes if event.cpu_s is not None and minutes > 0.05 else old.cpu_s_per_min
    return Observer(
        cpu_s=event.cpu_s if event.cpu_s is not None else old.cpu_s,
        since=since,
        cpu_s_per_min=per_minute,
        bytes_per_s=event.bytes_per_s if event.bytes_per_s is not None else old.bytes_per_s,
        sessions=event.sessions,
    )


def _reading(node: NodeState, event: ReadingTaken, state: ClusterState) -> tuple[NodeState, list[Notice]]:
    old: Reading[Any] = getattr(node, event.name)
    if event.error is not None or event.value is None:
        failed = old.model_copy(update={"error": event.error or "nothing was read", "period_s": event.period_s})
        return node.model_copy(update={event.name: failed}), []
    update: dict[str, Any] = {}
    if event.uptime_s is not None:
        update["uptime_s"] = event.uptime_s
    notices: list[Notice] = []
    value: Any = event.value
    if event.name == "net":
        value = _net_rates(node, event)
    elif event.name == "rdma":
        value = reduce_rdma.ports(node, event, notices)
    elif event.name == "memory":
        update |= _memory(node, event, state)
    elif event.name == "host":
        update |= _host(node, event, notices)
    elif event.name == "processes":
        value = reduce_log.processes_read(node, event)
    elif event.name == "containers":
        update |= reduce_log.containers_read(node, event, state)
    update[event.name] = old.model_copy(
        update={
            "value": value,
            "at": event.at,
            "error": None,
            "period_s": event.period_s,
            "uptime_s": event.uptime_s,
        }
    )
    node = node.model_copy(update=update)
    if event.name in reduce_nfs.SOURCES:
        return reduce_nfs.join(node, event, notices, state.limits, old)
    if event.name == "rdma_counters":
        return reduce_rdma.counted(node, event, old), notices
    return node, notices


def _memory(node: NodeState, event: ReadingTaken, state: ClusterState) -> dict[str, Any]:
    """Low-water marks, the trend and the slope of MemFree."""
    memory = event.value
    assert isinstance(memory, Memory)
    update: dict[str, Any] = {
        "low_free": _lower(node.low_free, memory.free, event.at),
        "low_available": _lower(node.low_available, memory.available, event.at),
        "free_trend": extend(node.free_trend, event.at, memory.free, min),
    }
    if reduce_log.rank_runs(node, state):
        update["low_free_service"] = _lower(node.low_free_service, memory.free, event.at)
        update["low_available_service"] = _lower(node.low_available_service, memory.available, event.at)
    before, gap = node.memory, elapsed_s(node.memory, event)
    if before.value is not None and before.value.free is not None and memory.free is not None and gap is not None:
        if 0.2 < gap < 10:
            slope = (memory.free - before.value.free) / gap
            old = node.free_slope_bytes_per_s
            update["free_slope_bytes_per_s"] = slope if old is None else old + SLOPE_WEIGHT * (slope - old)
        elif gap >= 10:
            update["free_slope_bytes_per_s"] = None
    return update


def _lower(mark: LowWater | None, value: int | None, at: float) -> LowWater | None:
    if value is None or (mark is not None and mark.value <= value):
        return mark
    return LowWater(value=value, at=at)


def _host(node: NodeState, event: ReadingTaken, notices: list[Notice]) -> dict[str, Any]:
    """Another boot id: the node was restarted, so every mark since its boot starts anew."""
    host, before = event.value, node.host.value
    assert isinstance(host, Host)
    if before is None or before.boot_id is None or host.boot_id in (None, before.boot_id):
        return {}
    notices.append(Notice(at=event.at, node=node.name, kind="rebooted", detail=host.kernel or ""))
    marks = dict.fromkeys(("low_free", "low_available", "low_free_service", "low_available_service"))
    return {**marks, "free_slope_bytes_per_s": None, "nfs": (), **reduce_rdma.FORGOTTEN, **reduce_log.rebooted(node)}


def _net_rates(node: NodeState, event: ReadingTaken) -> tuple[NetRate, ...]:
    interfaces: tuple[NetInterface, ...] = event.value  # type: ignore[assignment]
    before = {rate.interface.name: rate.interface for rate in node.net.value or ()}
    elapsed = elapsed_s(node.net, event)
    rates = []
    for interface in interfaces:
        old = before.get(interface.name)
        rx = tx = None
        if old is not None and elapsed is not None:
            rx = rate(old.rx_bytes, interface.rx_bytes, elapsed)
            tx = rate(old.tx_bytes, interface.tx_bytes, elapsed)
        rates.append(NetRate(interface=interface, rx_bytes_per_s=rx, tx_bytes_per_s=tx))
    return tuple(rates)
