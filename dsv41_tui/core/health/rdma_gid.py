"""GID indices: the one that a rank is told against the table of its port, and tables that moved since the boot."""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core import fabric, gid
from dsv41_tui.core.finding import Cause, Evidence, Finding
from dsv41_tui.core.health.common import Kind, Seen, cause, compute_nodes, finding, fix, title, usable
from dsv41_tui.core.health.rdma import folder, place
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.rdma import Gid, PortRate, RdmaPort

GID_WRONG = Kind(id="rdma-gid-wrong", severities=("error", "warn"), pane="rdma")
GID_MOVED = Kind(id="rdma-gid-moved", severities=("info",), pane="rdma")
KINDS = (GID_WRONG, GID_MOVED)

TITLES: dict[gid.Fault, str] = {
    "empty": "title-empty",
    "v1": "title-v1",
    "link-local": "title-link-local",
    "other-interface": "title-other",
    "other-address": "title-other",
    "no-address": "title-no-address",
}
WHY: dict[gid.Fault, str] = {
    "empty": "gid-empty",
    "link-local": "gid-link-local",
    "other-interface": "gid-other-interface",
    "other-address": "gid-other-address",
}


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of the ports that ranks use."""
    del limits
    for node in compute_nodes(state):
        seen = usable(node, node.rdma, now)
        if seen is None:
            continue
        for known in fabric.fabric_ports(node):
            verdict = gid.judge(node, known.port)
            no_address = verdict.fault == "no-address" and not fabric.uses(node, known.port)
            if verdict.fault is not None and not no_address:
                yield _wrong(node, known, verdict, verdict.fault, seen[1])
            elif verdict.fault is None and (moved := gid.drifted(known)):
                yield _moved(node, known, moved, seen[1])


def _wrong(
    node: NodeState, known: PortRate, verdict: gid.GidVerdict, fault: gid.Fault, stale_s: float | None
) -> Finding:
    port, best = known.port, verdict.right
    index = "?" if verdict.told is None else verdict.told
    return finding(
        GID_WRONG,
        "warn" if fabric.serving(node) else "error",
        title(
            TITLES[fault],
            port=place(port),
            index=index,
            entry=_short(verdict.entry),
            right="?" if best is None else best.index,
        ),
        _mend(fault, best),
        node=node.name,
        causes=_causes(fault),
        evidence=_evidence(node, known, verdict),
        commands=_commands(port, fault),
        restart=fault != "no-address",
        stale_s=stale_s,
    )


def _mend(fault: gid.Fault, best: Gid | None) -> Seen:
    if fault == "no-address":
        return fix("fix-no-address")
    return fix("fix-none") if best is None else fix(right=best.index, address=best.ipv4 or best.gid)


def _causes(fault: gid.Fault) -> tuple[Cause, ...]:
    if fault == "v1":
        return (cause("gid_type_mismatch", "confirmed", "gid-v1"),)
    if fault == "no-address":
        return (cause("fabric_unreachable", "likely", "gid-no-address"),)
    return (cause("gid_index_wrong_or_empty", "confirmed", WHY[fault]),)


def _short(entry: Gid | None) -> str:
    return "?" if entry is None else entry.ipv4 or entry.gid


def _evidence(node: NodeState, known: PortRate, verdict: gid.GidVerdict) -> list[Evidence]:
    container = fabric.rank_container(node)
    spec = fabric.setting(node, "NCCL_IB_GID_INDEX")
    found = []
    if container is not None and spec is not None:
        found.append(Evidence(source=f"container {container.name}", reading=f"NCCL_IB_GID_INDEX={spec}"))
    elif verdict.told is not None:
        found.append(Evidence(source="NCCL", reading=f"GID index {verdict.told}"))
    for entry in known.port.gids:
        line = f"{entry.gid} {entry.type or '?'} {entry.netdev or '?'}"
        found.append(Evidence(source=f"{folder(known.port)}/gids/{entry.index}", reading=line))
    found += [Evidence(source="GID", reading=line) for line in gid.drifted(known)]
    return found or [Evidence(source=f"{folder(known.port)}/gids", reading="-")]


def _commands(port: RdmaPort, fault: gid.Fault) -> tuple[str, ...]:
    if fault == "no-address":
        return ("ip -br -4 addr",)
    where = folder(port)
    return (f"grep -H . {where}/gids/[0-9] {where}/gid_attrs/types/[0-9] 2>/dev/null", "ip -br -4 addr")


def _moved(node: NodeState, known: PortRate, moved: tuple[str, ...], stale_s: float | None) -> Finding:
    return finding(
        GID_MOVED,
        "info",
        title(port=place(known.port), moved=", ".join(moved)),
        fix(),
        node=node.name,
        causes=(cause("gid_index_wrong_or_empty", "possible", "gid-moved"),),
        evidence=[Evidence(source=f"{folder(known.port)}/gids", reading=line) for line in moved],
        commands=(f"grep -H . {folder(known.port)}/gids/[0-9]",),
        stale_s=stale_s,
    )
