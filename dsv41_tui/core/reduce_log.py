"""Joins what logs say to a node: the state of each rank's engine, failures that were seen, logs that are unread.

Two clocks meet here. Stamps of lines and StartedAt are Unix seconds; events and the ageing of failures run on the
operator's monotonic clock, so a failure keeps when, on that clock, its last line was written.
"""

from __future__ import annotations

import operator
from typing import Any

from dsv41_tui.core.containers import ContainerEngine, ProcessLimits
from dsv41_tui.core.events import FailuresCleared, FailureSeen, LogsUnreadable, RankLogChanged, ReadingTaken
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_live import facts_of
from dsv41_tui.core.failure import Book
from dsv41_tui.core.log import LogFact, Occurrence, RankLog
from dsv41_tui.core.model import ClusterState, NodeState

LogEvent = RankLogChanged | FailureSeen | FailuresCleared | LogsUnreadable

FAILURES = 100
"""Kept a node; beyond it the one that has been quiet for longest goes."""
OPEN_INITS = 64
LOGS = 16
LINE_LIMIT = 2000
LATE_S = 30.0
"""Readings that were taken so long after a line are not those of its time."""
FILL_S = 10.0
"""For so long after a line readings that were not there yet are added to it."""
SAME_START_S = 0.05
"""Docker and podman round StartedAt in several ways; no container is started twice within this."""


def join(node: NodeState, event: LogEvent, state: ClusterState) -> NodeState:
    """The node with what the event tells; `state` gives the other nodes, to name a lost peer by its rank."""
    if isinstance(event, RankLogChanged):
        return _rank_log(node, event, state)
    if isinstance(event, FailureSeen):
        return _seen(node, event)
    if isinstance(event, FailuresCleared):
        return _cleared(node, event)
    unread = {source: why for source, why in node.unread_logs.items() if source != event.source}
    if event.why is not None:
        unread[event.source] = event.why
    return node if unread == node.unread_logs else node.model_copy(update={"unread_logs": unread})


def age(node: NodeState, now: float, state: ClusterState) -> NodeState:
    """Drop failures that have not been seen for as long as their rule says; `now` is monotonic.

    To those that are new, readings are added that came a moment after the line.
    """
    if not node.failures:
        return node
    limits = _limits(state.book)
    kept = tuple(item for item in node.failures if not _over(item, limits.get(item.rule), now))
    if any(_is_new(item, now) for item in kept):
        facts = facts_of(node, state, now)
        kept = tuple(_filled(item, facts) if _is_new(item, now) else item for item in kept)
    same = len(kept) == len(node.failures) and all(map(operator.is_, kept, node.failures))
    return node if same else node.model_copy(update={"failures": kept})


def _limits(book: Book) -> dict[str, float]:
    return {rule.id: rule.clears_after_s for rule in book.failures if rule.clears_after_s is not None}


def _is_new(item: Occurrence, now: float) -> bool:
    return item.came_at is not None and now - item.came_at <= FILL_S


def _filled(item: Occurrence, facts: Facts) -> Occurrence:
    missing = {name: value for name, value in facts.items() if name not in item.facts}
    return item.model_copy(update={"facts": {**item.facts, **missing}}) if missing else item


def _over(item: Occurrence, limit: float | None, now: float) -> bool:
    return limit is not None and item.last_seen is not None and now - item.last_seen > limit


def rank_containers(node: NodeState, state: ClusterState) -> frozenset[str]:
    """Names of the containers of this node that carry a rank: those whose log is a rank's, followed or not."""
    configured = {item.name for item in state.log_sources if item.node == node.name and item.kind == "rank"}
    return frozenset(configured | {log.container for log in node.logs if log.rank is not None})


def rank_runs(node: NodeState, state: ClusterState) -> bool:
    """Whether a rank's container runs here, by the newest reading of docker."""
    if node.containers.value is None:
        return False
    names = rank_containers(node, state)
    return any(item.state == "running" and item.name in names for item in node.containers.value.containers)


def containers_read(node: NodeState, event: ReadingTaken, state: ClusterState) -> dict[str, Any]:
    """A container that started anew ends what its old log said; a rank's, the low-water marks of the service too."""
    engine, before = event.value, node.containers.value
    assert isinstance(engine, ContainerEngine)
    update: dict[str, Any] = {}
    ranks = rank_containers(node, state)
    if before is not None and _newest(engine, ranks) > _newest(before, ranks):
        update |= {"low_free_service": None, "low_available_service": None}
    started = {item.name: item.started_at for item in engine.containers if item.started_at is not None}
    for log in node.logs:
        newest = started.get(log.container)
        if newest is not None and _new_run(log, newest):
            node = _begin(node, RankLog(container=log.container, rank=log.rank, started_at=newest))
            update |= {"logs": node.logs, "failures": node.failures}
    return update


def processes_read(node: NodeState, event: ReadingTaken) -> tuple[ProcessLimits, ...]:
    """The processes with the moment since which each has been in its state."""
    value: Any = event.value
    before = {process.pid: process for process in node.processes.value or ()}
    return tuple(
        process.model_copy(update={"state_since": _state_since(before.get(process.pid), process, event.at)})
        for process in value
    )


def _state_since(old: ProcessLimits | None, new: ProcessLimits, at: float) -> float:
    same = old is not None and old.state == new.state and old.state_since is not None
    return old.state_since if same and old is not None and old.state_since is not None else at


def _newest(engine: ContainerEngine, names: frozenset[str]) -> float:
    started = (item.started_at for item in engine.containers if item.name in names and item.started_at is not None)
    return max(started, default=0.0)


def rebooted(node: NodeState) -> dict[str, Any]:
    """What the kernel said before a reboot is over."""
    return {"failures": tuple(item for item in node.failures if not item.source.endswith("/kernel"))}


def _begin(node: NodeState, log: RankLog) -> NodeState:
    """Put an empty log in the place of the container's old one; failures of the run before are over."""
    others = tuple(item for item in node.logs if item.container != log.container)[-(LOGS - 1) :]
    kept = tuple(item for item in node.failures if not _of_past_run(item, log, node))
    return node.model_copy(update={"logs": (*others, log), "failures": kept})


def _of_past_run(item: Occurrence, log: RankLog, node: NodeState) -> bool:
    """Of the container's own log; when a rank starts, also of the kernel and the launcher, which have no StartedAt."""
    if log.started_at is None:
        return False
    own = item.source == f"{node.name}/{log.container}"
    if item.started_at is not None:
        return own and item.started_at < log.started_at
    offset = node.clock.value.offset_s if node.clock.value is not None else 0.0
    return (own or log.rank is not None) and item.last_at < log.started_at - offset


def _rank_log(node: NodeState, event: RankLogChanged, state: ClusterState) -> NodeState:
    old = next((log for log in node.logs if log.container == event.container), None)
    new_run = _new_run(old, event.started_at)
    if new_run is None:
        return node
    if old is None or new_run:
        old = RankLog(container=event.container, rank=event.rank, started_at=event.started_at)
        node = _begin(node, old)
    update: dict[str, Any] = {}
    if old.started_at is None and event.started_at is not None:
        update["started_at"] = event.started_at
    for fact in event.facts:
        _apply(old, update, fact, node, state)
    if "init_started_at" in update:
        update["init_open_since"] = _monotonic(update["init_started_at"], event, node)
    if event.line_at is not None and (old.last_line_at is None or event.line_at > old.last_line_at):
        update["last_line_at"] = event.line_at
    if not update:
        return node
    log = old.model_copy(update=update)
    logs = tuple(log if item.container == log.container else item for item in node.logs)
    return node.model_copy(update={"logs": logs})


def _monotonic(stamp: float | None, event: RankLogChanged, node: NodeState) -> float | None:
    """A stamp of the node's clock on the operator's monotonic one, for what is judged by its age."""
    if stamp is None:
        return None
    if event.seen_at is None or stamp <= 0:
        return event.at
    offset = node.clock.value.offset_s if node.clock.value is not None else 0.0
    return event.at - max(0.0, event.seen_at - (stamp - offset))


def _new_run(old: RankLog | None, started_at: float | None) -> bool | None:
    """Whether lines of a container with this StartedAt begin a new log; None where they are of a past run.

    An unknown StartedAt on either side is taken for the same run: what was read stays.
    """
    if old is None or old.started_at is None or started_at is None:
        return False
    if abs(started_at - old.started_at) <= SAME_START_S:
        return False
    return True if started_at > old.started_at else None


_PLAIN = (
    "nccl_version", "devices", "gid_index", "transport", "socket_interface", "address", "channels", "engine_version",
    "world_size", "running", "waiting",
)  # fmt: skip


def _apply(log: RankLog, update: dict[str, Any], fact: LogFact, node: NodeState, state: ClusterState) -> None:
    """Write what one line says into `update`, over what `log` and earlier lines of the batch say."""

    def now(name: str) -> Any:
        return update[name] if name in update else getattr(log, name)

    for name in _PLAIN:
        value = getattr(fact, name)
        if value is not None and value != now(name):
            update[name] = value
    if fact.rank is not None and now("rank") is None:
        update["rank"] = fact.rank
    if fact.init is not None:
        update.update(_inits(fact, now("open_inits"), now("init_complete")))
    if fact.registration == "failed":
        update["registration"] = "failed"
    elif (fact.connected or fact.init == "complete") and now("transport") == "ib" and now("registration") is None:
        update["registration"] = "ok"
    if fact.phase is not None and not (now("served") and not fact.served) and fact.phase != now("phase"):
        update.update(phase=fact.phase, phase_at=fact.at)
    if fact.served:
        update["served"] = True
    if fact.stopping:
        update["stopping"] = True
    _apply_loss(log.model_copy(update=update), update, fact, node, state)


def _inits(fact: LogFact, opened: dict[str, float], complete: int) -> dict[str, Any]:
    others = {key: at for key, at in opened.items() if key != fact.communicator}
    if fact.init == "start":
        others = {**dict(list(others.items())[-(OPEN_INITS - 1) :]), fact.communicator: fact.at or 0.0}
    elif fact.init == "complete":
        complete += 1
    return {"open_inits": others, "init_complete": complete, "init_started_at": min(others.values(), default=None)}


def _apply_loss(log: RankLog, update: dict[str, Any], fact: LogFact, node: NodeState, state: ClusterState) -> None:
    """Which rank is gone. A rank that only fell silent is back with the next token; one that died is not.

    The first line that names a rank decides: what follows it is its echo.
    """
    if fact.alive and log.silent_since is not None:
        update["silent_since"] = None
        if log.lost_peer is None:
            update["dead_rank"] = None
    if log.stopping:
        return
    if fact.dead_rank is not None and log.dead_rank is None:
        update["dead_rank"] = fact.dead_rank
        update["lost_peer"] = log.lost_peer or f"rank {fact.dead_rank}"
    elif fact.lost_peer is not None and log.lost_peer is None:
        update["lost_peer"] = fact.lost_peer
        if log.dead_rank is None:
            update["dead_rank"] = _rank_of(fact.lost_peer, log, node, state)
    elif fact.silent and log.served and log.silent_since is None:
        update["silent_since"] = fact.at if fact.at is not None else 0.0
        if log.dead_rank is None:
            update["dead_rank"] = _only_other(log)


def _only_other(log: RankLog) -> int | None:
    return 1 - log.rank if log.world_size == 2 and log.rank in (0, 1) else None


def _rank_of(peer: str, log: RankLog, node: NodeState, state: ClusterState) -> int | None:
    """Of two ranks the other one; else the rank whose host name or bootstrap address it is."""
    if (other := _only_other(log)) is not None or not peer:
        return other
    for item in state.nodes:
        if item.name == node.name:
            continue
        hostname = item.host.value.hostname if item.host.value is not None else None
        names = {item.name, *(name.partition(".")[0] for name in (hostname,) if name)}
        for theirs in item.logs:
            if theirs.rank is not None and (peer in names or peer == theirs.address):
                return theirs.rank
        if peer in names and item.rank is not None:
            return item.rank
    return None


def _seen(node: NodeState, event: FailureSeen) -> NodeState:
    if event.count == 0:
        return _signalled(node, event)
    for index, item in enumerate(node.failures):
        if item.rule == event.rule and item.source == event.source and item.silencers == event.silencers:
            merged = _again(item, event)
            return node.model_copy(update={"failures": (*node.failures[:index], merged, *node.failures[index + 1 :])})
    fresh = Occurrence(
        rule=event.rule,
        source=event.source,
        first_at=event.line_at,
        last_at=_last_at(event),
        last_seen=_last_seen(event),
        count=event.count,
        first_line=event.line[:LINE_LIMIT],
        first_number=event.number,
        rank=event.rank,
        started_at=event.started_at,
        signals=event.signals,
        silencers=event.silencers,
        **_readings(event),
    )
    kept = node.failures
    if len(kept) >= FAILURES:
        quiet = min(range(len(kept)), key=lambda index: kept[index].last_at)
        kept = (*kept[:quiet], *kept[quiet + 1 :])
    return node.model_copy(update={"failures": (*kept, fresh)})


def _again(item: Occurrence, event: FailureSeen) -> Occurrence:
    """Readings of the time of a line beat those that were taken long after an earlier one."""
    last_seen = _last_seen(event)
    update = {
        "count": item.count + event.count,
        "last_at": max(item.last_at, _last_at(event)),
        "last_seen": last_seen if item.last_seen is None else max(item.last_seen, last_seen),
        "signals": {**event.signals, **item.signals},
    }
    better = item.facts_late_s > LATE_S >= _late_s(event)
    return item.model_copy(update={**update, **(_readings(event) if better else {})})


def _signalled(node: NodeState, event: FailureSeen) -> NodeState:
    """A line speaks for or against the causes of what was seen before it."""
    failures = tuple(
        item.model_copy(update={"signals": {**event.signals, **item.signals}})
        if item.rule == event.rule and item.source == event.source
        else item
        for item in node.failures
    )
    return node.model_copy(update={"failures": failures})


def _last_at(event: FailureSeen) -> float:
    return event.line_at if event.last_at is None else max(event.last_at, event.line_at)


def _last_seen(event: FailureSeen) -> float:
    """When, on the operator's monotonic clock, the last line was written."""
    return event.at if event.seen_at is None else event.at - max(0.0, event.seen_at - _last_at(event))


def _late_s(event: FailureSeen) -> float:
    return 0.0 if event.seen_at is None else max(0.0, event.seen_at - event.line_at)


def _readings(event: FailureSeen) -> dict[str, Any]:
    return {"facts": event.facts, "facts_late_s": _late_s(event), "came_at": event.at}


def _cleared(node: NodeState, event: FailuresCleared) -> NodeState:
    def over(item: Occurrence) -> bool:
        return (
            item.rule in event.rules
            and (event.source is None or item.source == event.source)
            and (event.line_at is None or item.last_at <= event.line_at)
        )

    kept = tuple(item for item in node.failures if not over(item))
    return node if len(kept) == len(node.failures) else node.model_copy(update={"failures": kept})
