"""The memory bar: one skyline of the whole unified pool; height says how hard a part is to get back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dsv41_tui.ui.glyphs import Glyphs
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.numbers import GIB

if TYPE_CHECKING:
    from dsv41_tui.core.readings import Memory

ORDER = ("gpu", "proc", "shm", "kern", "cache", "free")
ONE_CELL = GIB * 4 // 5
"""A part of 0.8 GiB or more gets a cell, however short the bar."""


@dataclass(frozen=True)
class Parts:
    """The pool in bytes; they add up to MemTotal when all are known. Field names are those of the theme."""

    total: int | None
    gpu: int | None
    """Driver and GPU: what no process and no cache accounts for."""
    proc: int | None
    """AnonPages and hugetlb."""
    shm: int | None
    kern: int | None
    cache: int | None
    free: int | None

    @property
    def other(self) -> int | None:
        """Shared memory and kernel in one, where there is no room for two columns."""
        return None if self.shm is None or self.kern is None else self.shm + self.kern


def parts_of(memory: Memory | None) -> Parts:
    """Split a reading of /proc/meminfo."""
    if memory is None:
        return Parts(None, None, None, None, None, None, None)
    proc = None if memory.anon is None else memory.anon + (memory.hugetlb or 0)
    return Parts(
        memory.total, memory.driver, proc, memory.shmem, memory.kernel, memory.page_cache, memory.free
    )  # fmt: skip


def share(values: Sequence[int], cells: int) -> list[int]:
    """Cells for each value, in proportion; none is lost, and what has `ONE_CELL` bytes gets at least one."""
    total = sum(values)
    if total <= 0 or cells <= 0:
        return [0] * len(values)
    exact = [value * cells / total for value in values]
    given = [max(int(part), 1 if value >= ONE_CELL else 0) for part, value in zip(exact, values, strict=True)]
    while sum(given) < cells:
        given[max(range(len(values)), key=lambda i: exact[i] - given[i])] += 1
    while sum(given) > cells:
        given[max(range(len(values)), key=lambda i: given[i] - exact[i] if given[i] > 1 else -1e9)] -= 1
    return given


def draw(
    line: Line, parts: Parts, cells: int, *, shown: int | None = None, drained: bool = False, merge_other: bool = False
) -> Line:
    """Write the bar; `drained` takes the hues away (stale), an unknown part is drawn as a rule.

    `shown` is how many of `cells` are written: the scale stays where a word covers the end.
    """
    glyphs = line.ink.glyphs
    known = [(name, getattr(parts, name)) for name in ORDER]
    values = [value or 0 for _, value in known]
    lacking = max(0, (parts.total or 0) - sum(values)) if any(value is None for _, value in known) else 0
    counts = share([*values, lacking], cells)
    end = line.column + (cells if shown is None else min(shown, cells))
    for (name, _), count in zip(known, counts, strict=False):
        part = "kern" if merge_other and name == "shm" else name
        text = glyph_of(glyphs, part) * min(count, end - line.column)
        line.put(text, "track" if drained else f"mem-{part}")
    return line.put(glyphs.rule * (end - line.column), "track")


def glyph_of(glyphs: Glyphs, part: str) -> str:
    """The skyline's glyph for a part of `ORDER`."""
    glyph: str = getattr(glyphs, part)
    return glyph
