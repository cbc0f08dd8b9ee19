"""Facts for people, in the field's own terms: `MemFree 1.1 GiB, Cached 109.0 GiB, ulimit -l unlimited`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dsv41_tui.core.amounts import size
from dsv41_tui.core.facts import FACTS, FRACTIONS, Facts
from dsv41_tui.core.messages import t

TERMS: dict[str, str] = {
    "mem_total": "MemTotal", "mem_free": "MemFree", "mem_available": "MemAvailable", "cached": "Cached",
    "shmem": "Shmem", "anon": "AnonPages", "slab": "Slab", "swap_free": "SwapFree", "cma_total": "CmaTotal",
    "cma_free": "CmaFree", "psi_full": "PSI full avg10 %", "memlock": "ulimit -l", "memory_limit": "cgroup memory.max",
    "shm_size": "shm size", "open_files": "ulimit -n", "kernel": "kernel", "kho": "Kexec HandOver",
    "uptime_s": "uptime s", "gpu_util": "GPU %", "gpu_watts": "GPU W", "gpu_mhz": "GPU MHz", "gpu_celsius": "GPU C",
    "port_state": "port", "phys_state": "phys_state", "link_gbit": "link Gb/s", "measured_gbit": "measured Gb/s",
    "mtu": "MTU", "gid": "GID", "gid_type": "GID type", "gid_index": "GID index", "nccl_version": "NCCL",
    "container_state": "container", "exit_code": "exit code", "oom_killed": "OOMKilled", "health": "/health",
    "kv_usage": "kv_cache_usage", "running": "Running", "waiting": "Waiting", "nfs_version": "vers",
}  # fmt: skip
"""Where the field has a word of its own; the others are said by their name."""


def term(name: str) -> str:
    return TERMS.get(name, name.replace("_", " "))


def reading(name: str, facts: Facts) -> str | None:
    """One fact: `MemFree 1.1 GiB`; None where nobody read it."""
    value = facts.get(name)
    if value is None:
        return None
    if isinstance(value, bool):
        return f"{term(name)}: {t('failures.yes') if value else t('failures.no')}"
    if isinstance(value, str):
        return f"{term(name)} {value[:80]}"
    if FACTS.get(name) == "bytes":
        return f"{term(name)} {'unlimited' if math.isinf(value) else limit_size(value)}"
    return f"{term(name)} {value * 100:.0f} %" if name in FRACTIONS else f"{term(name)} {value:.6g}"


def limit_size(value: float) -> str:
    """Bytes; small ones, as a memlock of 64 KiB, are not rounded to nothing."""
    return f"{value / 1024:.0f} KiB" if 0 < value < 1 << 20 else size(int(value))


def readings(names: Iterable[str], facts: Facts) -> str:
    """Several facts, those that were read: `MemFree 1.1 GiB, Cached 109.0 GiB`."""
    return ", ".join(text for name in names if (text := reading(name, facts)) is not None)
