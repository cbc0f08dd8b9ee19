"""Trends on a fixed scale: a flat line at half the scale looks like half, whatever else was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dsv41_tui.ui.glyphs import Glyphs
from dsv41_tui.ui.line import Line

if TYPE_CHECKING:
    from dsv41_tui.core.model import Trend

BUCKETS = 120
StyleOf = Callable[[float], str]


def fitted(cells: int) -> int:
    """How many of `cells` a chart takes so that each holds the same number of buckets and all together ten minutes."""
    return BUCKETS // max(1, -(-BUCKETS // max(1, cells)))


def columns(trend: Trend, cells: int, *, highest: bool = False) -> list[int | None]:
    """One value a cell, newest at the right: the lowest (or highest) of the buckets that fall in it.

    Cells are aligned to whole multiples of buckets, so a chart stands still between two of them.
    """
    each = max(1, -(-BUCKETS // max(1, cells)))
    found: list[int | None] = [None] * cells
    if trend.last_bucket is None:
        return found
    newest = trend.last_bucket // each
    first = trend.last_bucket - len(trend.points) + 1
    choose = max if highest else min
    for offset, point in enumerate(trend.points):
        cell = cells - 1 - (newest - (first + offset) // each)
        if point is not None and 0 <= cell < cells:
            before = found[cell]
            found[cell] = point if before is None else choose(before, point)
    return found


def sparkline(line: Line, values: Sequence[int | None], scale: float, style_of: StyleOf) -> Line:
    """One row; it stops below the full cell, so that rows stay apart. Nothing read is a space, zero a thin line."""
    glyphs = line.ink.glyphs

    def cell(value: int | None) -> tuple[str, str]:
        if value is None:
            return " ", "track"
        if value <= 0:
            return glyphs.levels[0], "rule"
        return (glyphs.over, "rule") if value > scale else (_level(glyphs, value / scale), style_of(value))

    return line.runs(map(cell, values))


def _level(glyphs: Glyphs, share: float) -> str:
    steps = len(glyphs.levels)
    return glyphs.levels[min(steps - 1, max(0, round(share * steps) - 1))]


def chart_row(line: Line, values: Sequence[int | None], scale: float, row: int, height: int, style_of: StyleOf) -> Line:
    """Row `row` (0 is the top) of a chart that is `height` rows high; above the scale a thin line at its top."""
    glyphs = line.ink.glyphs

    def cell(value: int | None) -> tuple[str, str]:
        if value is None:
            return " ", "track"
        if value <= 0:
            return glyphs.levels[0] if row == height - 1 else " ", "rule"
        if value > scale:
            return glyphs.over if row == 0 else " ", "rule"
        return _slice(glyphs, value / scale * height - (height - 1 - row)), style_of(value)

    return line.runs(map(cell, values))


def axis(line: Line, label: int, top: str, middle: str, row: int, height: int) -> Line:
    """The label column of a chart: its scale's end at the top, 0 at the bottom, the span of time between."""
    if row == 0:
        return line.right(top, label - 1, "text-muted")
    if row == height - 1:
        return line.right("0", label - 1, "text-muted")
    return line.put(middle, "text-muted") if row == height // 2 else line


def _slice(glyphs: Glyphs, filled: float) -> str:
    """The glyph for a cell that is `filled` from 0 to 1; the lowest row never shows nothing for a value above 0."""
    if filled >= 1:
        return glyphs.full
    steps = len(glyphs.levels) + 1
    level = round(filled * steps)
    return " " if level <= 0 else glyphs.full if level >= steps else glyphs.levels[level - 1]


def meter(line: Line, share: float | None, cells: int, style: str = "primary") -> Line:
    """Progress in place: `share` of `cells` in `style`, the rest as track; unknown is dotted."""
    glyphs = line.ink.glyphs
    if share is None:
        return line.put(glyphs.dotted * cells, "track")
    filled = min(cells, max(0, round(share * cells)))
    if share > 0:
        filled = max(1, filled)
    return line.put(glyphs.progress * filled, style).put(glyphs.rule * (cells - filled), "track")
