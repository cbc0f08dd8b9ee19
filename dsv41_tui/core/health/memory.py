"""Unified memory of the nodes that run the model: too little, not where the driver can take it, or falling fast.

The GPU driver and RDMA registration take pages only from MemFree; MemAvailable also counts page cache that programs,
but not the driver, get back. The same registration error has two causes that `/proc/meminfo` tells apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.finding import Cause, Evidence, Finding, Severity
from dsv41_tui.core.health.common import (
    Kind,
    cause,
    compute_nodes,
    duration,
    finding,
    fix,
    fresh,
    rate,
    readings,
    size,
    title,
    usable,
)
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import GIB, MIB, Memory

KHO = Kind(id="memory-kho-cma", severities=("error", "warn"), pane="memory")
AVAILABLE = Kind(id="memory-available-low", severities=("error", "warn"), pane="memory")
CACHE = Kind(id="memory-page-cache", severities=("error", "warn"), pane="memory")
FALLING = Kind(id="memory-falling", severities=("warn", "info"), pane="memory")
PRESSURE = Kind(id="memory-pressure", severities=("warn",), pane="memory")
DIRTY = Kind(id="memory-dirty", severities=("info",), pane="memory")
SWAP = Kind(id="memory-swap", severities=("info",), pane="memory")
KINDS = (KHO, AVAILABLE, CACHE, FALLING, PRESSURE, DIRTY, SWAP)

DIRTY_LARGE = 4 * GIB
"""Written but not yet on disk: seconds of an NVMe, and out of reach for a cache drop."""
SWAP_LARGE = GIB
FALLING_FAST = 32 * MIB
"""Bytes per second; slower falls are seen by the low-water marks in time."""
NEAR = 8
"""Times `free_warn`: above this MemFree may fall as fast as it likes, as it does when weights are loaded."""

_MEMINFO = "/proc/meminfo"
_DROP_FILE = "dd if=FILE iflag=nocache count=0 status=none"
_DROP_ALL = "sudo sh -c 'sync; echo 1 > /proc/sys/vm/drop_caches'"
_DROP_ALL_UNSYNCED = "sudo sh -c 'echo 1 > /proc/sys/vm/drop_caches'"
"""For a node whose NFS server does not answer: a bare `sync` waits for every filesystem, that one too."""
_KHO_OFF = (
    "cat /sys/kernel/kexec_crash_size",
    """sudo sed -i 's/^GRUB_CMDLINE_LINUX_DEFAULT="/&kho=off /' /etc/default/grub && sudo update-grub && sudo reboot""",
    "grep -E 'CmaTotal|CmaFree' /proc/meminfo",
)
_WHO = (
    "ps -eo pid,rss,comm --sort -rss | head",
    "nvidia-smi --query-compute-apps=pid,process_name,used_gpu_memory --format=csv",
)


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every connected node but a NAS."""
    for node in compute_nodes(state):
        seen = usable(node, node.memory, now)
        if seen is None:
            continue
        memory, stale_s = seen
        yield from _registration(node, memory, limits, now, stale_s)
        yield from _available(node, memory, limits, stale_s)
        if stale_s is None:
            yield from _falling(node, memory, limits)
        yield from _dirty(node, memory, stale_s)
        yield from _swap(node, memory, stale_s)
        yield from _pressure(node, memory, limits, now)


def starved(memory: Memory, limits: Limits) -> bool:
    """Whether page cache holds what the driver needs: little MemFree beside much cache.

    A machine with less than four times the cache limit is not one that the limit was made for.
    """
    cache = memory.page_cache
    if memory.free is None or cache is None or memory.total is None:
        return False
    return memory.free < limits.free_warn and cache >= limits.cache_warn and memory.total >= 4 * limits.cache_warn


def _registration(
    node: NodeState, memory: Memory, limits: Limits, now: float, stale_s: float | None
) -> Iterable[Finding]:
    """One finding for one error to come: with both causes at hand, the one that a cache drop does not mend leads."""
    if memory.cma_leaked:
        yield _kho(node, memory, limits, now, stale_s)
    elif starved(memory, limits):
        cache = memory.page_cache
        assert cache is not None and memory.free is not None
        hung = any(mount.state == "not-responding" for mount in node.nfs)
        # With half of the machine in page cache no model is loaded, so a start is what comes next, and it fails.
        certain = memory.total is not None and 2 * cache >= memory.total
        yield finding(
            CACHE,
            "error" if certain else "warn",
            title(cache=size(cache), free=size(memory.free)),
            fix(),
            node=node.name,
            causes=(
                cause("mem_page_cache_pressure", "confirmed", "page-cache", cache=size(cache), free=size(memory.free)),
                _no_kho(memory),
            ),
            evidence=_memory_evidence(memory),
            commands=("sync FILE", _DROP_FILE, _DROP_ALL_UNSYNCED if hung else _DROP_ALL),
            stale_s=stale_s,
        )


def _no_kho(memory: Memory) -> Cause:
    if memory.cma_total is None or memory.cma_free is None:
        return cause("kernel_kho_cma", "possible", "kho-unread")
    return cause("kernel_kho_cma", "ruled-out", "kho-not", free=size(memory.cma_free), total=size(memory.cma_total))


def _kho(node: NodeState, memory: Memory, limits: Limits, now: float, stale_s: float | None) -> Finding:
    assert memory.cma_free is not None and memory.cma_total is not None
    host = fresh(node, node.host, now)
    off = host.kho_off if host is not None else None
    values = {"free": size(memory.cma_free), "total": size(memory.cma_total)}
    kernel = [Evidence(source="uname -r", reading=host.kernel)] if host is not None and host.kernel else []
    option = {True: "kho=off", False: "kho=off absent", None: "unread"}[off]
    return finding(
        KHO,
        "error",
        title(**values),
        fix("fix-already-off" if off else "fix"),
        node=node.name,
        causes=(
            cause("kernel_kho_cma", "likely" if off else "confirmed", "kho-despite-off" if off else "kho", **values),
            _cache_beside_kho(memory, limits),
        ),
        evidence=(*_memory_evidence(memory), *kernel, Evidence(source="/proc/cmdline", reading=option)),
        commands=_KHO_OFF[2:] if off else _KHO_OFF,
        restart=True,
        stale_s=stale_s,
    )


def _cache_beside_kho(memory: Memory, limits: Limits) -> Cause:
    """Whether page cache would make the same error by itself."""
    cache, free = memory.page_cache, memory.free
    if cache is None or free is None:
        return cause("mem_page_cache_pressure", "possible", "page-cache-unread")
    if starved(memory, limits):
        return cause("mem_page_cache_pressure", "likely", "page-cache-too", cache=size(cache), free=size(free))
    return cause("mem_page_cache_pressure", "ruled-out", "page-cache-not", cache=size(cache), free=size(free))


def _memory_evidence(memory: Memory) -> tuple[Evidence, ...]:
    return (
        Evidence(
            source=_MEMINFO,
            reading=readings(
                MemFree=memory.free, MemAvailable=memory.available, Cached=memory.cached, Shmem=memory.shmem
            ),
        ),
        Evidence(source=_MEMINFO, reading=readings(CmaTotal=memory.cma_total, CmaFree=memory.cma_free)),
    )


def _available(node: NodeState, memory: Memory, limits: Limits, stale_s: float | None) -> Iterable[Finding]:
    """MemAvailable against the thresholds, which are lowered on a machine of less than eight times their size."""
    if memory.available is None or memory.total is None:
        return
    severity: Severity
    error, warn = (min(limit, memory.total // 8) for limit in (limits.available_error, limits.available_warn))
    if memory.available < error:
        severity, limit = "error", error
    elif memory.available < warn:
        severity, limit = "warn", warn
    else:
        return
    anon = "unread" if memory.anon is None else size(memory.anon)
    yield finding(
        AVAILABLE,
        severity,
        title(available=size(memory.available), limit=size(limit)),
        fix(),
        node=node.name,
        causes=(
            cause("uma_memory_exhausted", "confirmed", "exhausted", available=size(memory.available)),
            cause("host_job_ate_margin", "possible", "host-job", anon=anon),
            cause("mem_page_cache_pressure", "ruled-out", "available-counts-cache"),
        ),
        evidence=(
            Evidence(
                source=_MEMINFO,
                reading=readings(MemAvailable=memory.available, MemFree=memory.free, MemTotal=memory.total),
            ),
            Evidence(source=_MEMINFO, reading=readings(AnonPages=memory.anon, Shmem=memory.shmem, GPU=memory.driver)),
        ),
        commands=_WHO,
        stale_s=stale_s,
    )


def _falling(node: NodeState, memory: Memory, limits: Limits) -> Iterable[Finding]:
    """MemFree will be used up soon. What page cache takes is information: only the driver misses it."""
    slope, free = node.free_slope_bytes_per_s, memory.free
    if slope is None or free is None or slope > -FALLING_FAST or free >= NEAR * limits.free_warn:
        return
    left_s = free / -slope
    if left_s >= limits.exhaustion_warn_s or starved(memory, limits):
        return
    to_cache = memory.available is not None and memory.available >= NEAR * limits.free_warn
    available = "unread" if memory.available is None else size(memory.available)
    suspect = (
        cause("mem_page_cache_pressure", "likely", "falls-into-cache", available=available)
        if to_cache
        else cause("uma_memory_exhausted", "likely", "falls-for-good", available=available)
    )
    yield finding(
        FALLING,
        "info" if to_cache else "warn",
        title(rate=rate(-slope), left=duration(left_s)),
        fix("fix-cache" if to_cache else "fix"),
        node=node.name,
        causes=(suspect,),
        evidence=(
            Evidence(source=_MEMINFO, reading=readings(MemFree=free, MemAvailable=memory.available)),
            Evidence(source="MemFree", reading=f"-{rate(-slope)}"),
        ),
        commands=(_DROP_FILE,) if to_cache else _WHO,
    )


def _pressure(node: NodeState, memory: Memory, limits: Limits, now: float) -> Iterable[Finding]:
    """Programs stand still for memory (PSI `full`)."""
    seen = usable(node, node.pressure, now)
    if seen is None or seen[0].full_avg10 is None or seen[0].full_avg10 < limits.psi_warn_percent:
        return
    pressure, stale_s = seen
    low = memory.available is not None and memory.available < limits.available_warn
    available = "unread" if memory.available is None else size(memory.available)
    yield finding(
        PRESSURE,
        "warn",
        title(percent=f"{pressure.full_avg10:.0f}"),
        fix(),
        node=node.name,
        causes=(
            cause(
                "uma_memory_exhausted",
                "likely" if low else "possible",
                "pressure-low" if low else "pressure",
                available=available,
            ),
        ),
        evidence=(
            Evidence(
                source="/proc/pressure/memory",
                reading=f"full avg10 {pressure.full_avg10:.1f} %, some avg10 {pressure.some_avg10:.1f} %",
            ),
            Evidence(source=_MEMINFO, reading=readings(MemAvailable=memory.available, MemFree=memory.free)),
        ),
        commands=("cat /proc/pressure/memory", _WHO[0]),
        stale_s=stale_s,
    )


def _dirty(node: NodeState, memory: Memory, stale_s: float | None) -> Iterable[Finding]:
    """Data of a copy that is not on disk yet."""
    if memory.dirty is None or (waiting := memory.dirty + (memory.writeback or 0)) < DIRTY_LARGE:
        return
    yield finding(
        DIRTY,
        "info",
        title(dirty=size(waiting)),
        fix(),
        node=node.name,
        evidence=(Evidence(source=_MEMINFO, reading=readings(Dirty=memory.dirty, Writeback=memory.writeback)),),
        commands=("sync FILE", _DROP_FILE),
        stale_s=stale_s,
    )


def _swap(node: NodeState, memory: Memory, stale_s: float | None) -> Iterable[Finding]:
    """Swap in use costs latency when it is read back, and is no fault by itself."""
    if memory.swap_total is None or memory.swap_free is None:
        return
    used = memory.swap_total - memory.swap_free
    if used < SWAP_LARGE:
        return
    yield finding(
        SWAP,
        "info",
        title(used=size(used), total=size(memory.swap_total)),
        fix(),
        node=node.name,
        evidence=(Evidence(source=_MEMINFO, reading=readings(SwapTotal=memory.swap_total, SwapFree=memory.swap_free)),),
        commands=("grep -H VmSwap /proc/[0-9]*/status | sort -k2 -n | tail",),
        stale_s=stale_s,
    )
