"""The fabric between nodes: links slower than the others, frames of different size, rails that cross.

Ports of which nobody tells whether they are used are compared with their namesakes only.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core import fabric
from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import Kind, argument, cause, compute_nodes, finding, fix, fresh, title, usable
from dsv41_tui.core.health.rdma import folder, place
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.rdma import PortRate, RdmaPort

LINK_SLOW = Kind(id="rdma-link-slow", severities=("warn",), pane="rdma")
MTU_DIFFERS = Kind(id="rdma-mtu-differs", severities=("warn",), pane="rdma")
RAILS_CROSSED = Kind(id="rdma-rails-crossed", severities=("warn",), pane="rdma")
KINDS = (LINK_SLOW, MTU_DIFFERS, RAILS_CROSSED)

CARD_GBIT = 100.0
"""The least that a ConnectX-7 port of a GB10 trains to with a sound cable."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Links of each node, then what differs between nodes."""
    del limits
    for node in compute_nodes(state):
        yield from _slow(node, state, now)
    yield from _mtu(state, now)
    yield from _rails(state, now)


def _slow(node: NodeState, state: ClusterState, now: float) -> Iterable[Finding]:
    """A link that trained lower than its card's other ports, than the ports at the other end, or than the card can."""
    seen = usable(node, node.rdma, now)
    if seen is None:
        return
    for known in fabric.fabric_ports(node):
        port = known.port
        if port.state != "ACTIVE" or port.rate_gbit is None:
            continue
        used = bool(fabric.uses(node, port))
        others = [other for other in _beside(node, port, state, now, used=used) if other.rate_gbit is not None]
        best = max((other.rate_gbit or 0.0 for other in others), default=0.0)
        best = max(best, CARD_GBIT if used and port.hca_type else 0.0)
        if port.rate_gbit >= best:
            continue
        netdev = argument(port.netdev) if port.netdev else "NETDEV"
        yield finding(
            LINK_SLOW,
            "warn",
            title(port=place(port), rate=f"{port.rate_gbit:g}", best=f"{best:g}"),
            fix(),
            node=node.name,
            causes=(
                cause("link_trained_low", "likely", "link-low", rate=f"{port.rate_gbit:g}"),
                *((cause("cx7_degraded_init", "possible", "link-degraded"),) if port.hca_type else ()),
            ),
            evidence=(
                Evidence(source=f"{folder(port)}/rate", reading=f"{port.rate_gbit:g} Gb/sec"),
                *(Evidence(source=f"{place(other)}", reading=f"{other.rate_gbit:g} Gb/sec") for other in others),
            ),
            commands=(f"sudo ethtool {netdev}", f"sudo ethtool -m {netdev}"),
            stale_s=seen[1],
        )


def _beside(node: NodeState, port: RdmaPort, state: ClusterState, now: float, *, used: bool) -> list[RdmaPort]:
    """ACTIVE ports of the same card, and those that the other ranks use.

    Of a port of which nobody tells whether it is used, only its namesakes: it can be another network's.
    """
    found: list[RdmaPort] = []
    if used:
        own = [known.port for known in node.rdma.value or () if known.port.system_guid == port.system_guid]
        found += [other for other in own if other.state == "ACTIVE" and other != port and other.system_guid]
    for peer in compute_nodes(state):
        if peer.name != node.name and fresh(peer, peer.rdma, now) is not None:
            ports = [known.port for known in fabric.fabric_ports(peer) if known.port.state == "ACTIVE"]
            found += [other for other in ports if used or other.device == port.device]
    return found


def _fabric(state: ClusterState, now: float) -> list[tuple[NodeState, tuple[PortRate, ...]]]:
    """Nodes whose ports are known now, with the ports of the fabric that are up."""
    found = []
    for node in compute_nodes(state):
        if fresh(node, node.rdma, now) is not None:
            ports = tuple(known for known in fabric.fabric_ports(node) if known.port.state == "ACTIVE")
            found.append((node, ports))
    return found


def _mtu(state: ClusterState, now: float) -> Iterable[Finding]:
    """Of all ports that are used; where nobody tells, of ports with the same name."""
    groups: dict[str, list[tuple[NodeState, RdmaPort]]] = {}
    for node, ports in _fabric(state, now):
        for known in ports:
            if known.port.netdev_mtu is not None and known.port.netdev:
                group = "" if fabric.uses(node, known.port) else known.port.device
                groups.setdefault(group, []).append((node, known.port))
    for found in groups.values():
        sizes = sorted({port.netdev_mtu or 0 for _, port in found})
        if len(sizes) > 1:
            yield _mtu_finding(found, sizes)


def _mtu_finding(read: list[tuple[NodeState, RdmaPort]], sizes: list[int]) -> Finding:
    small = [(node, port) for node, port in read if (port.netdev_mtu or 0) < sizes[-1]]
    return finding(
        MTU_DIFFERS,
        "warn",
        title(sizes=", ".join(map(str, sizes)), nodes=", ".join(sorted({node.name for node, _ in small}))),
        fix(),
        causes=(cause("mtu_mismatch", "confirmed", "mtu-differs", largest=sizes[-1]),),
        evidence=[
            Evidence(source=f"{node.name} {port.netdev}", reading=f"mtu {port.netdev_mtu}, RDMA {port.active_mtu}")
            for node, port in read
        ],
        commands=[
            f"sudo ip link set {argument(port.netdev or '')} mtu {sizes[-1]}   # {node.name}" for node, port in small
        ],
    )


def _rails(state: ClusterState, now: float) -> Iterable[Finding]:
    """Ports in the same order are joined by NCCL; where their networks are in another order, no pair can talk."""
    nodes = [(node, ports, fabric.subnets(ports)) for node, ports in _fabric(state, now) if len(ports) > 1]
    if len(nodes) < 2:
        return
    _, first_ports, first = nodes[0]
    for node, ports, nets in nodes[1:]:
        if None in nets or nets == first or set(nets) != set(first) or len(nets) != len(first):
            continue
        lines = [f"{place(known.port)} {net}.0" for known, net in zip(ports, nets, strict=True)]
        yield finding(
            RAILS_CROSSED,
            "warn",
            title(ports=", ".join(lines), other=nodes[0][0].name),
            fix(),
            node=node.name,
            causes=(cause("rail_cross_nic", "likely", "rails-crossed"),),
            evidence=[
                Evidence(source=f"{nodes[0][0].name} {place(known.port)}", reading=f"{net}.0")
                for known, net in zip(first_ports, first, strict=True)
            ],
            commands=("ip -br -4 addr",),
            restart=True,
        )
