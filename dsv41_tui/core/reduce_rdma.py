"""Joins readings of HCAs: ports with the interfaces below them, counters to rates, and what moved since the boot.

A counter that went back was reset by its driver: it gives no rate, and what it shows now has been counted since. One
that stands at 4294967295 is full and tells nothing more.
"""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.events import ReadingTaken
from dsv41_tui.core.model import NodeState, Notice, Reading
from dsv41_tui.core.rates import elapsed_s, rate
from dsv41_tui.core.rdma import Gid, PortRate, RdmaCounters, RdmaPort
from dsv41_tui.core.readings import NetInterface

FULL = frozenset({(1 << 32) - 1, 4 * ((1 << 32) - 1)})
"""Where counters of 32 bits stay, as read and as bytes."""
_HEADERS = 96
"""Bytes that the kernel keeps for RoCE headers in an Ethernet frame."""
_MTUS = (4096, 2048, 1024, 512, 256)

FORGOTTEN: dict[str, Reading[Any]] = {"rdma": Reading(), "rdma_counters": Reading()}
"""After a reboot the tables and the counters begin anew."""
PortKey = tuple[str, int]


def ports(node: NodeState, event: ReadingTaken, notices: list[Notice]) -> tuple[PortRate, ...]:
    """The ports as read now, with the rates and first GIDs that were known; adds notices of what moved."""
    read: tuple[RdmaPort, ...] = event.value  # type: ignore[assignment]
    rebooted = None not in (event.uptime_s, node.rdma.uptime_s) and event.uptime_s < node.rdma.uptime_s  # type: ignore[operator]
    before = {} if rebooted else {_key(known.port): known for known in node.rdma.value or ()}
    links = {known.interface.name: known.interface for known in node.net.value or ()}
    joined = []
    for found in read:
        port = _with_netdev(found, links.get(found.netdev or ""))
        old = before.get(_key(port))
        if old is None:
            joined.append(PortRate(port=port, first_gids=gid_lines(port)))
            continue
        notices += _moved(node.name, old.port, port, event.at)
        first = old.first_gids or gid_lines(port)
        joined.append(old.model_copy(update={"port": port, "first_gids": first}))
    return tuple(joined)


def counted(node: NodeState, event: ReadingTaken, old: Reading[Any]) -> NodeState:
    """The node with the rates that these counters give against those of the reading before."""
    read: tuple[RdmaCounters, ...] = event.value  # type: ignore[assignment]
    before = {(known.device, known.port): known.values for known in old.value or ()}
    now = {(known.device, known.port): known.values for known in read}
    elapsed = elapsed_s(old, event)
    changed = []
    for known in node.rdma.value or ():
        first, last = before.get(_key(known.port)), now.get(_key(known.port))
        if first is None or last is None or elapsed is None:
            changed.append(known.model_copy(update={"per_s": {}}))
            continue
        growth = {name: known.since_start.get(name, 0) + grown(first[name], last[name]) for name in last.keys() & first}
        update = {"per_s": _rates(first, last, elapsed), "since_start": {**known.since_start, **growth}}
        changed.append(known.model_copy(update=update))
    return node.model_copy(update={"rdma": node.rdma.model_copy(update={"value": tuple(changed)})})


def grown(first: int, last: int) -> int:
    """By how much a counter grew, at least; after a reset, what it has counted since."""
    return last - first if last >= first else last


def gid_lines(port: RdmaPort) -> tuple[str, ...]:
    """The table as `INDEX GID TYPE NETDEV`, to be compared with another moment's."""
    return tuple(f"{gid.index} {gid.gid} {gid.type or '?'} {gid.netdev or '?'}" for gid in port.gids)


def _key(port: RdmaPort) -> PortKey:
    return port.device, port.port


def _rates(first: dict[str, int], last: dict[str, int], elapsed: float) -> dict[str, float]:
    rates = {}
    for name in last.keys() & first:
        value = None if last[name] in FULL else rate(first[name], last[name], elapsed)
        if value is not None:
            rates[name] = value
    return rates


def _with_netdev(port: RdmaPort, link: NetInterface | None) -> RdmaPort:
    """MTU and speed of the interface below, and the RDMA MTU that the kernel makes of it."""
    mtu = port.netdev_mtu if port.netdev_mtu is not None or link is None else link.mtu
    active = None if mtu is None or port.active_mtu is not None else active_mtu(mtu)
    return port.model_copy(
        update={
            "netdev_mtu": mtu,
            "netdev_speed_mbit": link.speed_mbit if link is not None else None,
            "active_mtu": port.active_mtu if active is None else active,
        }
    )


def active_mtu(netdev_mtu: int) -> int | None:
    """The largest RDMA MTU that fits with its headers: 9000 gives 4096, 1500 gives 1024."""
    return next((mtu for mtu in _MTUS if mtu <= netdev_mtu - _HEADERS), None)


def _moved(node: str, old: RdmaPort, new: RdmaPort, at: float) -> list[Notice]:
    notices = []
    name = new.device if new.port == 1 else f"{new.device}:{new.port}"
    if old.state == "ACTIVE" and new.state not in ("ACTIVE", None):
        detail = f"{name} {new.state} {new.physical_state or ''}".strip()
        notices.append(Notice(at=at, node=node, kind="port-down", detail=detail))
    elif old.state not in ("ACTIVE", None) and new.state == "ACTIVE":
        notices.append(Notice(at=at, node=node, kind="port-up", detail=name))
    places, moved = _places(new.gids), []
    for key, indices in _places(old.gids).items():
        if (now := places.get(key)) is not None and now != indices:
            moved.append(f"{name} {key[0]} {key[1]} {_list(indices)} -> {_list(now)}")
    return notices + [Notice(at=at, node=node, kind="gid-moved", detail=text) for text in moved]


def _places(gids: tuple[Gid, ...]) -> dict[tuple[str, str], tuple[int, ...]]:
    """At which indices each IPv4 address stands, by address and type."""
    places: dict[tuple[str, str], tuple[int, ...]] = {}
    for gid in gids:
        if gid.ipv4 is not None:
            key = gid.ipv4, gid.type or "?"
            places[key] = (*places.get(key, ()), gid.index)
    return places


def _list(indices: tuple[int, ...]) -> str:
    return ",".join(str(index) for index in indices)
