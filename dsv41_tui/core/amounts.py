"""Amounts for people, the same words everywhere."""

from __future__ import annotations

from dsv41_tui.core.readings import GIB, MIB


def size(value: int) -> str:
    """Bytes for people: `109.0 GiB`, below one GiB `32 MiB`."""
    return f"{value / GIB:.1f} GiB" if value >= GIB * 0.95 or value == 0 else f"{value / MIB:.0f} MiB"
