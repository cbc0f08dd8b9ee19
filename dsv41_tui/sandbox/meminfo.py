"""The text of `/proc/meminfo` and `/proc/pressure/memory`, in the order and with the lines of a GB10's kernel."""

from __future__ import annotations

from dsv41_tui.core.readings import MIB
from dsv41_tui.sandbox.scenario import NodeScene
from dsv41_tui.sandbox.simulate import MemoryNow

GB10_TOTAL_KB = 127_600_748
_NAS_TOTAL_KB = 16_301_204
_BUFFERS_KB = 61_240
_KERNEL_KB = {
    "KReclaimable": 402_116,
    "Slab": 921_744,
    "SReclaimable": 402_116,
    "SUnreclaim": 519_628,
    "KernelStack": 24_880,
    "PageTables": 61_088,
    "SecPageTables": 1_024,
    "VmallocUsed": 230_916,
    "Percpu": 26_240,
}
_KERNEL_SUM_KB = sum(
    _KERNEL_KB[name] for name in ("Slab", "KernelStack", "PageTables", "SecPageTables", "VmallocUsed", "Percpu")
)
_RESERVE_KB = 640 * 1024
"""What the kernel keeps back from MemAvailable."""
_SWAP_KB = 16_777_212
_NAMES = """
MemTotal MemFree MemAvailable Buffers Cached SwapCached Active Inactive Active(anon) Inactive(anon) Active(file)
Inactive(file) Unevictable Mlocked SwapTotal SwapFree Zswap Zswapped Dirty Writeback AnonPages Mapped Shmem
KReclaimable Slab SReclaimable SUnreclaim KernelStack PageTables SecPageTables NFS_Unstable Bounce WritebackTmp
CommitLimit Committed_AS VmallocTotal VmallocUsed VmallocChunk Percpu HardwareCorrupted AnonHugePages
ShmemHugePages ShmemPmdMapped FileHugePages FilePmdMapped CmaTotal CmaFree Unaccepted Balloon HugePages_Total
HugePages_Free HugePages_Rsvd HugePages_Surp Hugepagesize Hugetlb
"""


def meminfo(now: MemoryNow, scene: NodeScene) -> str:
    """A GB10's memory: what the GPU holds is in no line of its own, only missing from MemFree."""
    fixed = {"CmaTotal": int(scene.cma_total_mib * 1024), "CmaFree": int(scene.cma_free_mib * 1024)}
    return _render(_lines(GB10_TOTAL_KB, now, _SWAP_KB) | fixed)


def nas_meminfo() -> str:
    """A NAS with 16 GiB, most of it file cache; its kernel has no CMA."""
    now = MemoryNow(gpu=0, anon=1_900 * MIB, shmem=210 * MIB, cache=11_000 * MIB)
    return _render(_lines(_NAS_TOTAL_KB, now, 0))


def pressure(percent: float, uptime_s: float) -> str:
    """Steady pressure since boot; `full` is four fifths of `some`."""
    lines = []
    for word, share in (("some", percent), ("full", percent * 0.8)):
        total = int(uptime_s * share * 1e4)
        lines.append(f"{word} avg10={share:.2f} avg60={share:.2f} avg300={share:.2f} total={total}\n")
    return "".join(lines)


def _lines(total: int, now: MemoryNow, swap: int) -> dict[str, int]:
    """All lines in KiB; MemFree is what is left, never below the kernel's own floor."""
    anon, shmem, cache = now.anon // 1024, now.shmem // 1024, now.cache // 1024
    files = max(0, cache - _BUFFERS_KB)
    free = max(180_000, total - now.gpu // 1024 - anon - shmem - cache - _KERNEL_SUM_KB)
    available = free - _RESERVE_KB + int(0.985 * cache) + _KERNEL_KB["SReclaimable"]
    active_anon, active_file = anon * 45 // 100, files * 46 // 100
    return {
        "MemTotal": total,
        "MemFree": free,
        "MemAvailable": max(0, min(available, total)),
        "Buffers": _BUFFERS_KB,
        "Cached": files + shmem,
        "Active": active_anon + active_file,
        "Inactive": anon - active_anon + shmem + files - active_file,
        "Active(anon)": active_anon,
        "Inactive(anon)": anon - active_anon + shmem,
        "Active(file)": active_file,
        "Inactive(file)": files - active_file,
        "Unevictable": 27_104,
        "Mlocked": 27_104,
        "SwapTotal": swap,
        "SwapFree": swap,
        "Dirty": 312,
        "AnonPages": anon,
        "Mapped": min(files, 1_920_116) + shmem // 2,
        "Shmem": shmem,
        "CommitLimit": total // 2 + swap,
        "Committed_AS": anon * 3,
        "VmallocTotal": 135_288_315_904,
        "AnonHugePages": 262_144,
        "FileHugePages": 0,
        "Hugepagesize": 2_048,
    } | _KERNEL_KB


def _render(values: dict[str, int]) -> str:
    names = [name for name in _NAMES.split() if not name.startswith("Cma") or name in values]
    return "".join(
        f"{name + ':':<15}{values.get(name, 0):>9}{'' if name.startswith('HugePages_') else ' kB'}\n" for name in names
    )
