"""The `rdma` part of `status --json`: one object a port, with what its rank is told and what is right for it."""

from __future__ import annotations

from typing import Any

from dsv41_tui.core import fabric, gid
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.rdma import PortRate


def rdma_documents(node: NodeState, now: float) -> list[dict[str, Any]]:
    """Ports of the newest reading; a node that was not read has one object without a device, which says why."""
    if node.rdma.value is None:
        return [] if node.role == "nas" else [{"device": None, **_age(node, now), "error": node.rdma.error}]
    return [_document(node, known, now) for known in node.rdma.value]


def _age(node: NodeState, now: float) -> dict[str, Any]:
    age = node.rdma.age_s(now)
    return {"age_s": None if age is None else round(age, 1), "read": node.rdma.read(now)}


def _document(node: NodeState, known: PortRate, now: float) -> dict[str, Any]:
    port, verdict, log = known.port, gid.judge(node, known.port), fabric.rank_log(node)
    counters_age = node.rdma_counters.age_s(now)
    return {
        **port.model_dump(exclude={"gids"}),
        "used": fabric.uses(node, port),
        "gids": [{**entry.model_dump(), "ipv4": entry.ipv4} for entry in port.gids],
        "gid_index": {
            "told": verdict.told,
            "right": None if verdict.right is None else verdict.right.index,
            "fault": verdict.fault,
            "known": verdict.known,
            "drifted": list(gid.drifted(known)),
        },
        "registration": None if log is None else log.registration,
        "per_s": {name: round(value, 1) for name, value in sorted(known.per_s.items())},
        "since_start": dict(sorted(known.since_start.items())),
        "counters_age_s": None if counters_age is None else round(counters_age, 1),
        "counters_read": node.rdma_counters.read(now),
        **_age(node, now),
        "error": node.rdma.error,
    }
