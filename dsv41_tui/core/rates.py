"""Counters to rates, over the time that passed on the node's own clock."""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.events import ReadingTaken
from dsv41_tui.core.model import Reading


def elapsed_s(before: Reading[Any], event: ReadingTaken) -> float | None:
    """Seconds between the last good reading and this one; None without one, or over a reboot."""
    if before.at is None:
        return None
    if event.uptime_s is not None and before.uptime_s is not None:
        gap = event.uptime_s - before.uptime_s
    else:
        gap = event.at - before.at
    return gap if gap > 0 else None


def rate(old: int, new: int, gap_s: float) -> float | None:
    """Units per second; None when the counter went back, which means that it was reset."""
    return None if new < old else (new - old) / gap_s
