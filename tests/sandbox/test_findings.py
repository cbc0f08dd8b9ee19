"""Each scenario leads to one error with its cause, and shows in what the panel knows; a healthy pair leads to nothing.

All scenarios run side by side, told: the panel waits for their cost and their logs, and needs the machine for little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.runtime.observe import observe
from dsv41_tui.runtime.open import open_config
from dsv41_tui.sandbox.launch import start_sandbox

pytestmark = pytest.mark.sandbox

LIMIT_S = 25.0
AT_ONCE = 4
"""Machines of two cores start so many at a time."""
EXPECTED = {
    "page-cache": ("nccl-reg-mr-enomem", "mem_page_cache_pressure", "spark2", "ibv_reg_mr_iova2 failed"),
    "kho": ("nccl-reg-mr-enomem", "kernel_kho_cma", "spark2", "ibv_reg_mr_iova2 failed"),
    "memlock": ("nccl-reg-mr-enomem", "memlock_ulimit", "spark2", "ibv_reg_mr_iova2 failed"),
    "gid-drift": ("nccl-modifyqp-61-nodata", "gid_index_wrong_or_empty", "spark2", "local GID index 3, local GID ::"),
    "nccl-socket-fallback": ("rdma-not-in-container", "ib_device_not_in_container", None, "NET/IB : No device found"),
    "rank-dead": ("engine-rank-gone", "peer_died", "spark2", "Connection closed by remote peer spark2"),
    "oom": ("kernel-oomkill-bystander", "uma_memory_exhausted", "spark2", "invoked oom-killer"),
}
"""Id, cause and node of the one error, and what stands in a line of its evidence."""

Seen = tuple[ClusterState, tuple[Finding, ...]]


async def look(name: str) -> Seen:
    """What the panel makes of a scenario over SSH; the sandbox is gone afterwards."""
    sandbox = await start_sandbox(name, told=True)
    try:
        cluster = open_config(sandbox.config)
        try:
            await observe(cluster, LIMIT_S)
            return cluster.store.state, cluster.store.findings
        finally:
            await cluster.stop()
    finally:
        await sandbox.stop()


def head(state: ClusterState) -> NodeState:
    return state.node("spark1")


def worker(state: ClusterState) -> NodeState:
    return state.node("spark2")


def box_state(node: NodeState) -> tuple[str | None, int | None]:
    engine = node.containers.value
    assert engine is not None
    (box,) = engine.containers
    return box.state, box.exit_code


def memlock(node: NodeState) -> int | None:
    engine = node.containers.value
    assert engine is not None
    return engine.containers[0].memlock_bytes


def index_of_v2(node: NodeState) -> list[int]:
    return [
        gid.index for known in node.rdma.value or () for gid in known.port.gids if gid.ipv4 and gid.type == "RoCE v2"
    ]


SHOWN: dict[str, Callable[[ClusterState], object]] = {
    "page-cache": lambda state: worker(state).memory.value.page_cache > 100 << 30,  # type: ignore[union-attr, operator]
    "kho": lambda state: worker(state).host.value.kernel == "7.0.0-1019-nvidia",  # type: ignore[union-attr]
    "memlock": lambda state: (memlock(head(state)), memlock(worker(state))) == (-1, 8 << 20),
    "gid-drift": lambda state: (index_of_v2(head(state)), index_of_v2(worker(state))) == ([3, 3], [5, 3]),
    "nccl-socket-fallback": lambda state: [log.transport for log in worker(state).logs] == ["socket"],
    "rank-dead": lambda state: (box_state(head(state))[0], box_state(worker(state))) == ("running", ("exited", 137)),
    "oom": lambda state: box_state(worker(state)) == ("exited", 1),
    "healthy": lambda state: (
        [log.registration for node in (head(state), worker(state)) for log in node.logs] == ["ok", "ok"]
    ),
}
"""What of the scene the state must hold."""


def faults(name: str, seen: Seen) -> list[str]:
    """What is not as the scenario is about, in words."""
    state, findings = seen
    told = [f"{found.severity} {found.id} {found.node} {found.cause_id}" for found in findings]
    wrong = [] if SHOWN[name](state) else [f"{name}: its scene is not seen"]
    if name not in EXPECTED:
        return wrong + [f"{name}: {line}" for line in told]
    identity, cause, node, line = EXPECTED[name]
    errors = [found for found in findings if found.severity == "error"]
    if [(found.id, found.cause_id, found.node) for found in errors] != [(identity, cause, node)]:
        return [*wrong, f"{name}: {told}"]
    (found,) = errors
    if found.causes[0].cause_id != cause or found.causes[0].likelihood != "confirmed":
        wrong.append(f"{name}: {found.causes}")
    if not any(line in (proof.line or "") for proof in found.evidence):
        wrong.append(f"{name}: no evidence {line}: {found.evidence}")
    lines = [proof.line for proof in found.evidence if proof.line]
    if len(set(lines)) != len(lines):
        wrong.append(f"{name}: a line of evidence stands twice: {lines}")
    return wrong


async def test_each_scenario_leads_to_one_error_with_its_cause_and_healthy_to_none() -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> list[str]:
        async with turns:
            return faults(name, await look(name))

    found = await asyncio.gather(*(one(name) for name in ("healthy", *EXPECTED)))
    assert [fault for wrong in found for fault in wrong] == []
