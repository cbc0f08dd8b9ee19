"""Reads that stand flat at the ceiling of an Ethernet link: the sum over all nodes that read from one server.

The ceiling is the line rate without Ethernet, IP and TCP headers: 94 % of it with frames of 1500 bytes, 99 % with jumbo
frames. A rate near it that does not move is a link; a disk or a busy server wavers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dsv41_tui.core.finding import Cause, Evidence, Finding, Severity
from dsv41_tui.core.health.common import (
    Kind,
    cause,
    compute_nodes,
    ethernet,
    finding,
    fix,
    host_argument,
    rate,
    title,
)
from dsv41_tui.core.health.mounts import link_mbit, nas_of, server, server_key
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState

FLAT = Kind(id="nfs-flat", severities=("warn", "info"), pane="nfs")
KINDS = (FLAT,)

LINKS_MBIT = (1000, 2500, 5000, 10000)
NOW_BAND = (0.90, 1.01)
"""Share of the line rate that the newest sum must have."""
TREND_BAND = (0.90, 1.10)
"""The same for the trend, whose points are the highest rates of a bucket, so that a sum of them overshoots a little."""
BUCKETS = 6
"""Half a minute of five-second buckets."""
WAVER = 0.04
"""Largest spread within the trend, as a share of its highest point."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """At most one finding a server, of no node."""
    readers: dict[str, list[tuple[NodeState, NfsMount]]] = {}
    for node in compute_nodes(state):
        for mount in _superblocks(node):
            readers.setdefault(server_key(mount), []).append((node, mount))
    for group in readers.values():
        yield from _flat(state, group, limits, now)


def _superblocks(node: NodeState) -> Iterator[NfsMount]:
    """Mounted ones, each counter once; those of a node that cannot be read too, so that no sum is made without it."""
    seen = set()
    for mount in node.nfs:
        key = mount.device or mount.mount_point
        if mount.mounted and key not in seen:
            seen.add(key)
            yield mount


def _flat(
    state: ClusterState, readers: list[tuple[NodeState, NfsMount]], limits: Limits, now: float
) -> Iterable[Finding]:
    if any(not node.reachable or node.mountstats.read(now) != "ok" for node, _ in readers):
        return
    rates = [mount.read_bytes_per_s for _, mount in readers]
    total = sum(value for value in rates if value is not None)
    ceiling = next((mbit for mbit in LINKS_MBIT if _within(total, mbit, NOW_BAND)), None)
    if ceiling is None or None in rates:
        return
    history = _history([mount for _, mount in readers])
    if history is None or not all(_within(point, ceiling, TREND_BAND) for point in history):
        return
    if max(history) - min(history) > WAVER * max(history):
        return
    yield _finding(state, readers, total, ceiling, limits, now)


def _within(value: float, mbit: int, band: tuple[float, float]) -> bool:
    line = mbit * 1_000_000 / 8
    return band[0] * line <= value <= band[1] * line


def _history(mounts: list[NfsMount]) -> list[int] | None:
    """The summed rates of the newest whole buckets that all mounts have, None where one of them is missing."""
    last = min((mount.trend.last_bucket or 0) for mount in mounts)
    sums = []
    for bucket in range(last - BUCKETS + 1, last + 1):
        points = [_point(mount, bucket) for mount in mounts]
        known = [point for point in points if point is not None]
        if len(known) < len(points):
            return None
        sums.append(sum(known))
    return sums


def _point(mount: NfsMount, bucket: int) -> int | None:
    trend = mount.trend
    if trend.last_bucket is None:
        return None
    index = len(trend.points) - 1 - (trend.last_bucket - bucket)
    return trend.points[index] if 0 <= index < len(trend.points) else None


def _finding(
    state: ClusterState,
    readers: list[tuple[NodeState, NfsMount]],
    total: float,
    ceiling: int,
    limits: Limits,
    now: float,
) -> Finding:
    mount = readers[0][1]
    known = link_mbit(nas_of(state, mount), limits, now)
    severity, why = _judge(known, ceiling)
    busy = [(node, seen) for node, seen in readers if (seen.read_bytes_per_s or 0) >= 1 << 20]
    names = {node.name for node, _ in busy}
    host = host_argument(server(mount))
    head = title(
        "title-one" if len(names) == 1 else "title",
        server=server(mount) or "?",
        rate=rate(total),
        nodes=len(names),
        speed=ethernet(ceiling),
    )
    return finding(
        FLAT,
        severity,
        head,
        fix(),
        causes=(why,),
        evidence=[
            Evidence(source=f"{node.name} {seen.mount_point}", reading=rate(seen.read_bytes_per_s or 0))
            for node, seen in busy
        ],
        commands=(
            f"ip route get {host}",
            "grep -H . /sys/class/net/*/speed",
            "grep -H . /sys/class/net/*/speed   # on the server",
        ),
    )


def _judge(known_mbit: int | None, ceiling: int) -> tuple[Severity, Cause]:
    """A link that is full as wide as it is, is information; one that should be wider is a warning."""
    speed = ethernet(ceiling)
    if known_mbit is None or known_mbit < ceiling * 0.9:
        return "warn", cause("link_saturated", "likely", "flat", speed=speed)
    if known_mbit > ceiling * 1.1:
        return "warn", cause("link_slower_than_known", "likely", "flat-below", speed=speed, known=ethernet(known_mbit))
    return "info", cause("link_saturated", "confirmed", "flat-known", known=ethernet(known_mbit))
