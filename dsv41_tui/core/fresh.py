"""Whether a reading of a node still holds."""

from __future__ import annotations

from typing import TypeVar

from dsv41_tui.core.model import NodeState, Reading

T = TypeVar("T")


def usable(node: NodeState, reading: Reading[T], now: float) -> tuple[T, float | None] | None:
    """The value of a connected node with its age where that is late, None for unknown or not connected."""
    if not node.reachable or reading.value is None or (state := reading.read(now)) == "unknown":
        return None
    return reading.value, None if state == "ok" else reading.age_s(now)


def fresh(node: NodeState, reading: Reading[T], now: float) -> T | None:
    """The value only if it is neither late nor failed, for use beside another reading."""
    seen = usable(node, reading, now)
    return seen[0] if seen is not None and seen[1] is None else None
