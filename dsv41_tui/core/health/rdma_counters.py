"""Counters of the fabric: packets sent again, errors of a link, and a port that carries nothing beside one that does.

The first reading after the connection gives no rate, and a rate holds until the next reading. CNPs are no fault: they
are congestion control at work.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core import fabric
from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import Kind, argument, cause, compute_nodes, finding, fix, fresh, title
from dsv41_tui.core.health.rdma import folder, place
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState, Notice
from dsv41_tui.core.rdma import PortRate, RdmaPort

LOSSY = Kind(id="rdma-lossy", severities=("warn",), pane="rdma")
LINK_ERRORS = Kind(id="rdma-link-errors", severities=("warn",), pane="rdma")
HALF_USED = Kind(id="rdma-half-used", severities=("warn",), pane="rdma")
KINDS = (LOSSY, LINK_ERRORS, HALF_USED)

LOST_PER_S = 1.0
"""A sound fabric loses nothing; single packets are lost when a port comes up."""
ERRORS = ("symbol_error", "port_rcv_errors", "rx_icrc_encapsulated")
BUSY_PACKETS_PER_S = 10_000.0
IDLE_SHARE = 0.01
FLAPPED_SHOWN_S = 3600.0


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of each node's used ports, while both readings are fresh."""
    del limits
    for node in compute_nodes(state):
        if fresh(node, node.rdma, now) is None or fresh(node, node.rdma_counters, now) is None:
            continue
        ports = tuple(known for known in fabric.fabric_ports(node) if known.port.state == "ACTIVE")
        for known in ports:
            yield from _lossy(node, known)
            yield from _errors(node, known, state.notices, now)
        yield from _half_used(node, ports)


def _growing(known: PortRate, names: tuple[str, ...]) -> list[Evidence]:
    """The counters of these names that grow now, with their growth since the start."""
    return [
        Evidence(
            source=f"{folder(known.port)}/*counters/{name}",
            reading=f"{known.per_s[name]:.1f}/s, +{known.since_start.get(name, 0)}",
        )
        for name in names
        if known.per_s.get(name, 0.0) > 0
    ]


def _lossy(node: NodeState, known: PortRate) -> Iterable[Finding]:
    lost = fabric.per_s(known, fabric.LOSS)
    if lost is None or lost < LOST_PER_S:
        return
    cnp = fabric.per_s(known, fabric.CNP) or 0.0
    yield finding(
        LOSSY,
        "warn",
        title(port=place(known.port), rate=f"{lost:.0f}"),
        fix(),
        node=node.name,
        causes=(
            cause("network_loss", "likely", "fabric-lossy"),
            *((cause("fabric_congestion", "possible", "fabric-cnp", rate=f"{cnp:.0f}"),) if cnp >= 1 else ()),
        ),
        evidence=_growing(known, fabric.LOSS),
        commands=_look(known.port),
    )


def _look(port: RdmaPort) -> tuple[str, ...]:
    name = argument(port.netdev) if port.netdev else "NETDEV"
    return (f"grep -H . {folder(port)}/hw_counters/*", f"sudo ethtool -S {name}")


def _errors(node: NodeState, known: PortRate, notices: tuple[Notice, ...], now: float) -> Iterable[Finding]:
    evidence = _growing(known, ERRORS)
    falls = [
        notice
        for notice in notices
        if notice.kind == "port-down"
        and notice.node == node.name
        and notice.detail.split(" ")[0] == place(known.port)
        and now - notice.at <= FLAPPED_SHOWN_S
    ]
    fell = len(falls) if falls else int(known.per_s.get("link_downed", 0.0) > 0)
    if not evidence and not fell:
        return
    falls_told = [Evidence(source=f"{folder(known.port)}/state", reading=notice.detail) for notice in falls]
    yield finding(
        LINK_ERRORS,
        "warn",
        title("title" if evidence else "title-fell", port=place(known.port), count=fell),
        fix(),
        node=node.name,
        causes=(cause("cable_or_transceiver", "likely" if evidence else "possible", "link-errors"),),
        evidence=[*evidence, *falls_told, *_growing(known, ("link_downed",))],
        commands=_look(known.port),
    )


def _half_used(node: NodeState, ports: tuple[PortRate, ...]) -> Iterable[Finding]:
    """Of the ports that the rank is told to use, one moves and another one has not moved."""
    told = [known for known in ports if fabric.uses(node, known.port)]
    rates = [(known, rate) for known in told if (rate := fabric.per_s(known, fabric.PACKETS)) is not None]
    busiest = max((rate for _, rate in rates), default=0.0)
    if busiest < BUSY_PACKETS_PER_S:
        return
    idle = [known for known, rate in rates if rate < busiest * IDLE_SHARE]
    if not idle:
        return
    yield finding(
        HALF_USED,
        "warn",
        title(idle=", ".join(place(known.port) for known in idle), used=len(rates) - len(idle), of=len(rates)),
        fix(),
        node=node.name,
        causes=(cause("rail_unused", "likely", "rail-unused"),),
        evidence=[Evidence(source=place(known.port), reading=f"{rate:,.0f} packets/s") for known, rate in rates],
        commands=tuple(f"ping -c 3 -I {argument(known.port.netdev or 'NETDEV')} PEER_ADDRESS" for known in idle),
        restart=False,
    )
