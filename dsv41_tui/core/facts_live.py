"""The facts of a watched node, for the conditions of the failure book. What is late or unread is absent."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dsv41_tui.core import fabric, gid
from dsv41_tui.core.containers import UNLIMITED, Container
from dsv41_tui.core.facts import Fact, Facts
from dsv41_tui.core.fresh import fresh
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import ClusterState, NfsStateName, NodeState
from dsv41_tui.core.readings import MIB

FALLING = 512 * MIB
"""Bytes a second: gigabytes within seconds."""
MOVING = MIB
"""Bytes a second of NFS reads that prove that a load goes on."""
_LOADING = frozenset({"load", "prefetch", "shards", "weights", "post-load", "draft"})
LOGGED = frozenset({"ready", "loading", "running", "waiting", "idle"})
"""What the rank's log says of itself up to a line: known for lines of the past too."""
_LASTING = frozenset({
    "kernel", "arch", "driver", "gdr", "kho", "mem_total", "cma_total", "nccl_version", "engine_version",
    "ranks_expected", "memlock", "memory_limit", "shm_size", "ib_in_container",
})  # fmt: skip
"""Cannot change while the container runs on."""
_OUTCOME = frozenset({
    "container_state", "exit_code", "oom_killed", "restart_count", "peer_exited", "nccl_version_differs",
})  # fmt: skip
"""What became of a run is told after the line that shows why."""
_ENDED = ("exited", "dead")
_WORST: tuple[NfsStateName, ...] = ("not-responding", "stale-handle", "denied", "unmounted", "slow", "fine")


def facts_of(node: NodeState, state: ClusterState, now: float) -> Facts:
    """What is known of `node` at `now` (the operator's monotonic clock), by the names of `core.facts`."""
    found: dict[str, Fact | None] = {}
    found.update(_memory(node, now))
    found.update(_machine(node, now))
    found.update(_container(node, now))
    found.update(_log(fabric.rank_log(node)))
    found.update(_fabric(node, state, now))
    found.update(_nfs(node))
    found.update(_peers(node, state, now))
    return {name: value for name, value in found.items() if value is not None}


def at_the_time(then: Facts, now: Facts, age_s: float) -> Facts:
    """The readings that a line of `age_s` ago is judged by: those of its time, filled by what cannot have changed.

    Of the outcome of its run the newest word holds, and an end that was seen stays seen.
    """
    uptime = now.get("uptime_s")
    rebooted = isinstance(uptime, float | int) and uptime < age_s
    lasting = {} if rebooted else {name: value for name, value in now.items() if name in _LASTING}
    outcome = {name: value for name, value in now.items() if name in _OUTCOME and then.get(name) is not True}
    return {**lasting, **then, **outcome}


def timeless(facts: Facts) -> Facts:
    """Those of the facts that say something of an earlier moment too."""
    return {name: value for name, value in facts.items() if name in _LASTING | _OUTCOME | LOGGED}


def _memory(node: NodeState, now: float) -> dict[str, Fact | None]:
    memory = fresh(node, node.memory, now)
    if memory is None:
        return {}
    pressure = fresh(node, node.pressure, now)
    slope = node.free_slope_bytes_per_s
    return {
        "mem_total": memory.total,
        "mem_free": memory.free,
        "mem_available": memory.available,
        "cached": memory.cached,
        "shmem": memory.shmem,
        "anon": memory.anon,
        "slab": memory.slab,
        "swap_free": memory.swap_free,
        "cma_total": memory.cma_total,
        "cma_free": memory.cma_free,
        "mem_driver": memory.driver,
        "mem_falling": None if slope is None else slope <= -FALLING,
        "psi_full": pressure.full_avg10 if pressure is not None else None,
    }


def _machine(node: NodeState, now: float) -> dict[str, Fact | None]:
    host, gpu = node.host.value if node.reachable else None, fresh(node, node.gpu, now)
    found: dict[str, Fact | None] = {"uptime_s": node.uptime_s}
    if host is not None:
        words = (host.command_line or "").split()
        kho = False if "kho=off" in words else True if {"kho", "kho=on"} & set(words) else None
        found |= {"kernel": host.kernel, "arch": host.machine, "kho": kho}
    if gpu is not None:
        found |= {
            "driver": gpu.driver,
            "gpu_util": gpu.utilization_percent,
            "gpu_watts": gpu.power_w,
            "gpu_mhz": gpu.sm_clock_mhz,
            "gpu_celsius": gpu.temperature_c,
            "gdr": False if "GB10" in (gpu.name or "") else None,
        }
    return found


def _container(node: NodeState, now: float) -> dict[str, Fact | None]:
    if fresh(node, node.containers, now) is None or (box := fabric.rank_container(node)) is None:
        return {}
    process = fabric.rank_process(node)
    limit = process.memlock_bytes if process is not None and process.memlock_bytes is not None else box.memlock_bytes
    memory = box.memory_limit_bytes
    return {
        "memlock": _limit(limit),
        "memory_limit": math.inf if memory == 0 else _limit(memory),
        "shm_size": box.shm_bytes,
        "container_state": box.state,
        "exit_code": box.exit_code if box.state in _ENDED else None,
        "oom_killed": box.oom_killed,
        "restart_count": box.restart_count,
        "ib_in_container": _has_device(box),
    }


def _limit(value: int | None) -> float | None:
    return math.inf if value == UNLIMITED else value


def _has_device(box: Container) -> bool | None:
    """Docker lists what it was asked for; nothing listed at all is no answer while podman is in play."""
    if box.privileged or any(device.startswith("/dev/infiniband") for device in box.devices):
        return True
    return None if box.privileged is None else False


def _log(log: RankLog | None) -> dict[str, Fact | None]:
    if log is None:
        return {}
    return {
        "nccl_version": log.nccl_version,
        "engine_version": log.engine_version,
        "ready": log.served,
        "loading": log.phase in _LOADING and not log.served if log.phase is not None else None,
        "running": log.running,
        "waiting": log.waiting,
        "idle": log.running == 0 and log.waiting == 0 if log.running is not None and log.waiting is not None else None,
        "ranks_expected": log.world_size,
    }


def _fabric(node: NodeState, state: ClusterState, now: float) -> dict[str, Fact | None]:
    if fresh(node, node.rdma, now) is None:
        return {}
    ports = fabric.fabric_ports(node)
    named = [known for known in node.rdma.value or () if fabric.uses(node, known.port)]
    used = named or list(ports)
    if not used:
        return {}
    worst = next((known for known in used if known.port.state not in ("ACTIVE", None)), used[0])
    verdicts = [gid.judge(node, known.port) for known in used]
    verdict = next((item for item in verdicts if item.fault is not None), verdicts[0])
    errors = [known.since_start[name] for known in used for name in fabric.LOSS if name in known.since_start]
    rates = [known.port.rate_gbit for known in used if known.port.state == "ACTIVE" and known.port.rate_gbit]
    told, right, known_table = verdict.told, verdict.right, verdict.known
    return {
        "port_state": worst.port.state,
        "phys_state": worst.port.physical_state,
        "link_gbit": min(rates, default=None),
        "mtu": worst.port.netdev_mtu,
        "mtu_differs": _mtu_differs(state, now),
        "gid_index": told,
        "gid": verdict.entry.gid if verdict.entry is not None else None,
        "gid_type": verdict.entry.type if verdict.entry is not None else None,
        "gid_empty": verdict.entry is None if told is not None and known_table else None,
        "gid_index_differs": told != right.index if told is not None and right is not None else None,
        "rdma_errors": sum(errors) if errors else None,
    }


def _mtu_differs(state: ClusterState, now: float) -> bool | None:
    sizes = [
        known.port.netdev_mtu
        for node in state.nodes
        if fresh(node, node.rdma, now) is not None
        for known in fabric.fabric_ports(node)
        if known.port.netdev_mtu is not None
    ]
    return len(set(sizes)) > 1 if len(sizes) > 1 else None


def _nfs(node: NodeState) -> dict[str, Fact | None]:
    """Of the worst mount: it is the one that a failure is about."""
    if not node.reachable or not node.nfs:
        return {}
    mount = min(node.nfs, key=lambda item: _WORST.index(item.state) if item.state in _WORST else len(_WORST))
    rates = [item.read_bytes_per_s for item in node.nfs if item.read_bytes_per_s is not None]
    connections = mount.got.get("nconnect", "")
    return {
        "nfs_state": mount.state if mount.state != "unknown" else None,
        "nfs_soft": None if mount.hard is None else not mount.hard,
        "nfs_mounted": mount.mounted,
        "nfs_version": mount.version,
        "nconnect": float(connections) if connections.isdecimal() else None,
        "progress": True if sum(rates) > MOVING else None,
    }


def _peers(node: NodeState, state: ClusterState, now: float) -> dict[str, Fact | None]:
    """What other ranks say: one that ended, another NCCL."""
    others = [other for other in state.nodes if other.name != node.name and other.role != "nas"]
    boxes = [fabric.rank_container(other) for other in others if fresh(other, other.containers, now) is not None]
    states = [box.state for box in boxes if box is not None]
    log = fabric.rank_log(node)
    own = log.nccl_version if log is not None else None
    theirs = [item.nccl_version for item in map(fabric.rank_log, others) if item is not None and item.nccl_version]
    return {
        "peer_exited": any(item in _ENDED for item in states) if states else None,
        "nccl_version_differs": _differs(own, theirs),
    }


def _differs(own: str | None, theirs: Iterable[str]) -> bool | None:
    known = list(theirs)
    return any(other != own for other in known) if own and known else None
