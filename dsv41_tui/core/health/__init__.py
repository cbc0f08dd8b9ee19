"""What is wrong, from the state alone: one file a subject, each with `KINDS` and `check(state, limits, now)`.

Law 1: pure; the same state at the same time gives the same findings in the same order. Law 2: unknown is compared with
nothing and is never healthy. Law 3: a stale reading is no more than a warning and says its age. Every finding that can
be made is listed in docs/findings.md.
"""

from __future__ import annotations

from typing import Any, Literal

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.health import (
    engine,
    engine_nccl,
    failures,
    host,
    link,
    memory,
    nas,
    nfs,
    nfs_flat,
    nfs_options,
    rdma,
    rdma_counters,
    rdma_gid,
    rdma_pair,
    shm,
)
from dsv41_tui.core.health.common import SEVERITIES, Kind
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState, Reading

Verdict = Literal["ok", "warn", "error", "unknown"]

SUBJECTS = (
    link,
    failures,
    engine,
    engine_nccl,
    memory,
    nfs,
    rdma,
    rdma_pair,
    rdma_gid,
    nas,
    shm,
    nfs_options,
    nfs_flat,
    rdma_counters,
    host,
)
"""In the order in which findings of equal severity are shown."""
KINDS: tuple[Kind, ...] = tuple(kind for subject in SUBJECTS for kind in subject.KINDS)
_RANK = {kind.id: float(rank) for rank, kind in enumerate(KINDS)}
_BOOK_RANK = len(link.KINDS) - 0.5
"""Findings of the failure book stand after those of a link that is down, and before all other readings."""

OWN_CAUSES = (
    "bond_member_down",
    "cable_or_transceiver",
    "fabric_congestion",
    "host_memory_limit",
    "link_saturated",
    "link_slower_than_known",
    "link_slower_than_nodes",
    "link_trained_low",
    "logind_remove_ipc",
    "mtu_mismatch",
    "nas_overloaded",
    "network_loss",
    "nfs_client_queue",
    "operator_network",
    "port_admin_down",
    "raid_degraded",
    "raid_rebuild",
    "rail_unused",
    "rank_stopped",
)
"""Cause ids that the catalogue of failures has none for; the others are the catalogue's."""


def findings(state: ClusterState, limits: Limits, now: float) -> tuple[Finding, ...]:
    """All findings, worst first: by severity, then kind, then node in the cluster's order, then title."""
    order = {node.name: index for index, node in enumerate(state.nodes)}
    merged: dict[tuple[str, str | None, str], Finding] = {}
    told = list(failures.check(state, limits, now))
    read = [found for subject in SUBJECTS if subject is not failures for found in subject.check(state, limits, now)]
    echoes = {rule.id for rule in state.book.failures if rule.echo}
    for found in engine.fold(failures.absorb(read, told, echoes)):
        key = (found.id, found.node, found.title)
        twin = merged.get(key)
        merged[key] = found if twin is None else twin.model_copy(update={"count": twin.count + found.count})
    return tuple(
        sorted(
            merged.values(),
            key=lambda found: (
                SEVERITIES.index(found.severity),
                _RANK.get(found.id, _BOOK_RANK),
                order.get(found.node or "", -1),
                found.title,
            ),
        )
    )


def verdict(state: ClusterState, findings: tuple[Finding, ...], now: float) -> Verdict:
    """One word for the cluster; an error stands over what could not be read, and that over everything else."""
    severities = {found.severity for found in findings}
    if "error" in severities:
        return "error"
    if not state.nodes or any(not readable(node, now) for node in state.nodes):
        return "unknown"
    return "warn" if "warn" in severities else "ok"


def readable(node: NodeState, now: float) -> bool:
    """Whether what the verdict rests on was read in time, or the NAS's own word.

    That is memory, the mounts that are and those that fstab asks for. Docker, the GPU, logind, `/dev/shm` and the host
    only add to it: they are named in `reading-unreadable` and change no verdict.
    """
    if not node.reachable:
        return False
    if node.role == "nas":
        return node.nas.read(now) == "ok"
    if any(reading.read(now) != "ok" for reading in (node.memory, node.mountinfo, node.mountstats)):
        return False
    if node.fstab.read(now) != "ok" and not _absent(node.fstab):
        return False
    return all(mount.state != "unknown" for mount in node.nfs)


def _absent(reading: Reading[Any]) -> bool:
    """Whether the node said that there is no such file, which is an answer: nothing is asked for there.

    The words are those of the C locale, in which all is read.
    """
    return (reading.error or "").endswith("No such file or directory")
