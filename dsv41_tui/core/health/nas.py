"""The NAS itself, where it can be logged into: RAID, bond, link, NFS service."""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import (
    Kind,
    cause,
    compute_nodes,
    duration,
    ethernet,
    finding,
    fix,
    title,
    usable,
)
from dsv41_tui.core.health.mounts import link_mbit, wire_speeds
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import NasServer, RaidArray

DEGRADED = Kind(id="nas-raid-degraded", severities=("error", "warn"), pane="nfs")
STOPPED = Kind(id="nas-nfsd-stopped", severities=("error", "warn"), pane="nfs")
REBUILDING = Kind(id="nas-raid-rebuilding", severities=("warn",), pane="nfs")
BOND = Kind(id="nas-bond-member-down", severities=("warn",), pane="nfs")
LINK_SLOW = Kind(id="nas-link-slow", severities=("info",), pane="nfs")
THREADS = Kind(id="nas-nfsd-threads", severities=("info",), pane="nfs")
KINDS = (DEGRADED, STOPPED, REBUILDING, BOND, LINK_SLOW, THREADS)

FEW_THREADS = 8
"""Fewer than a Linux server starts with; each connection of each node wants one that is free."""
SYSTEM_RAID1_SLOTS = 8
"""NAS makers mirror their own small system over every bay, present or not: `raid1 [24/4]` is healthy there."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every connected NAS, then of its link beside those of the nodes."""
    for node in state.nodes:
        seen = usable(node, node.nas, now)
        if seen is None:
            continue
        told, stale_s = seen
        for array in told.raid:
            yield from _raid(node, array, stale_s)
        yield from _service(node, told, stale_s)
        yield from _bonds(node, told, stale_s)
    yield from _link(state, limits, now)


def is_system_mirror(array: RaidArray) -> bool:
    """Whether the array is a maker's own mirror over all bays, whose empty slots are no loss."""
    return array.level == "raid1" and (array.members or 0) >= SYSTEM_RAID1_SLOTS


def _raid(node: NodeState, array: RaidArray, stale_s: float | None) -> Iterable[Finding]:
    degraded = array.degraded and not is_system_mirror(array)
    if not degraded and array.action in (None, "check"):
        return
    progress = _progress(array)
    disks = "?" if array.working is None or array.members is None else f"{array.working}/{array.members}"
    yield finding(
        DEGRADED if degraded else REBUILDING,
        "error" if degraded else "warn",
        title(
            "title-rebuilding" if degraded and array.action else "title",
            name=array.name,
            level=array.level,
            disks=disks,
            action=array.action or "",
            progress=progress,
        ),
        fix(),
        node=node.name,
        causes=(cause("raid_degraded" if degraded else "raid_rebuild", "confirmed", "raid", disks=disks),),
        evidence=(Evidence(source="/proc/mdstat", reading=f"{array.name} {array.level} {disks} {progress}".strip()),),
        commands=("cat /proc/mdstat",),
        stale_s=stale_s,
    )


def _progress(array: RaidArray) -> str:
    """`42.5 %, 1 h 10 min left`, as far as the array tells."""
    parts = []
    if array.progress_percent is not None:
        parts.append(f"{array.progress_percent:.1f} %")
    if array.eta_s is not None:
        parts.append(t("findings.left", time=duration(array.eta_s)))
    return ", ".join(parts)


def _service(node: NodeState, told: NasServer, stale_s: float | None) -> Iterable[Finding]:
    threads = told.nfsd_threads
    if threads is None or threads >= FEW_THREADS or (threads == 0 and node.role != "nas"):
        return
    stopped = threads == 0
    yield finding(
        STOPPED if stopped else THREADS,
        "error" if stopped else "info",
        title(threads=threads),
        fix(),
        node=node.name,
        causes=(cause("nfs_server_down", "confirmed", "nfsd-zero"),) if stopped else (),
        evidence=(Evidence(source="/proc/fs/nfsd/threads", reading=str(threads)),),
        commands=(
            ("sudo systemctl start nfs-server", "/etc/init.d/nfs restart   # QNAP", "cat /proc/fs/nfsd/threads")
            if stopped
            else ("sudo sh -c 'echo 16 > /proc/fs/nfsd/threads'",)
        ),
        stale_s=stale_s,
    )


def _bonds(node: NodeState, told: NasServer, stale_s: float | None) -> Iterable[Finding]:
    for bond in told.bonds:
        if bond.members_up < bond.members:
            yield finding(
                BOND,
                "warn",
                title(name=bond.name, up=bond.members_up, members=bond.members),
                fix(),
                node=node.name,
                causes=(cause("bond_member_down", "confirmed", "bond", up=bond.members_up, members=bond.members),),
                evidence=(
                    Evidence(
                        source="/proc/net/bonding",
                        reading=f"{bond.name} {bond.mode}: {bond.members_up}/{bond.members} up",
                    ),
                ),
                commands=("grep -H . /proc/net/bonding/*",),
                stale_s=stale_s,
            )


def _link(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Said only when every port of every node is faster, since nobody tells which port the reads come through."""
    speeds = [wire_speeds(node, now) for node in compute_nodes(state)]
    if not speeds or not all(speeds) or not any(mount.mounted for node in state.nodes for mount in node.nfs):
        return
    slowest = min(min(ports) for ports in speeds)
    nases = [node for node in state.nodes if node.role == "nas" and node.reachable]
    for nas in nases or (None,):
        speed = link_mbit(nas, limits, now)
        if speed is None or speed >= slowest:
            continue
        yield finding(
            LINK_SLOW,
            "info",
            title(speed=ethernet(speed), nodes=ethernet(slowest)),
            fix(),
            node=nas.name if nas is not None else None,
            causes=(cause("link_slower_than_nodes", "confirmed", "link-slow", speed=ethernet(speed)),),
            evidence=(
                Evidence(source="/sys/class/net/*/speed", reading=f"NAS {speed} Mbit/s"),
                Evidence(source="/sys/class/net/*/speed", reading=f"nodes {slowest} Mbit/s"),
            ),
            commands=("grep -H . /sys/class/net/*/speed",),
        )
