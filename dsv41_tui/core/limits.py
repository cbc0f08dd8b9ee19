"""Thresholds as one value: the recipe's published ones, overridden by the configuration. Bytes and seconds."""

from __future__ import annotations

from dsv41_tui.core.readings import GIB
from dsv41_tui.core.value import Value


class Limits(Value):
    """What counts as too little or too much. Memory is judged by headroom, never by a percentage."""

    available_warn: int = 3 * GIB
    """MemAvailable below this is a warning."""
    available_error: int = GIB * 3 // 2
    """MemAvailable below this is an error: the level at which published guards kill the container."""
    free_warn: int = 2 * GIB
    """MemFree below this, with `cache_warn` of page cache, is a warning: the GPU driver allocates from MemFree."""
    cache_warn: int = 16 * GIB
    psi_warn_percent: float = 5.0
    """Memory pressure `full avg10` above this is shown and said."""
    exhaustion_warn_s: float = 120.0
    """Falling fast: time to exhaustion below this is said."""
    nfs_slow_rtt_ms: float = 100.0
    nfs_slow_probe_s: float = 1.0
    silent_after_s: float = 4.0
    """A node whose connection stands and that has not answered for so long is said to be silent."""
    nas_link_mbit: int | None = None
    """Speed of the NAS's link where no reading tells it."""
    nconnect: int = 8
    rsize: int = 1 << 20
    source: str = "built in"
    """Where these come from, for people."""
