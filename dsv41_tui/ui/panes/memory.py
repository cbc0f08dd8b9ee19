"""Memory: the whole unified pool of every node, what is free of it, and how it got there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.memory import bars, detail, many, notes, numbers
from dsv41_tui.ui.pane import matches, title_row
from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.standing import RANK, STYLES, node_level
from dsv41_tui.ui.view import Box, Rows, Sheet, View
from dsv41_tui.ui.widgets import table

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

UNIT = "GiB"
WIDE = 70
"""From this width on: shm and kernel apart, charts three rows high."""
CHART = 3
CHART_LARGE = 8
SPARE = 2
"""Rows kept free for notes, so that a fault does not move the panes below."""


def draw(view: View, box: Box) -> Sheet:
    """Overview or large form."""
    rows = Rows(view, box)
    title_row(rows, "1", t("ui.pane.memory"), UNIT)
    nodes = [node for node in view.boxes if matches(box, node.name)]
    if not nodes:
        key = "ui.no_match" if box.search and view.boxes else "ui.memory.none" if view.state else "ui.waiting"
        rows.add(rows.line().to(view.label).put(t(key, text=box.search), "text-muted"))
    elif len(nodes) >= many.MANY:
        many.write(rows, nodes, box.height - len(rows.rows), large=box.large)
    elif box.large:
        _large(rows, nodes)
    else:
        _few(rows, nodes)
    return rows.sheet(fixed=box.titled + (len(nodes) >= many.MANY))


def _few(rows: Rows, nodes: list[NodeState]) -> None:
    """Up to four nodes: bars, numbers, notes, and charts where there is room."""
    wide = rows.box.width >= WIDE
    bars.write(rows, nodes, trends=not wide)
    if wide:
        rows.blank()
    placed = _numbers(rows, nodes, narrow=not wide)
    shown = {at.column.key for at in placed}
    if "low_avail" not in shown:
        notes.lowest(rows, nodes)
    notes.write(rows, nodes, pressure="psi" not in shown)
    if len(rows.rows) < rows.box.height:
        notes.chip(rows, nodes)
    _spare(rows, nodes)


def _spare(rows: Rows, nodes: list[NodeState]) -> None:
    """Charts where there is room, as high as it allows."""
    left = rows.box.height - len(rows.rows) - 2
    if left >= CHART:
        rows.blank()
        bars.charts(rows, nodes, min(CHART_LARGE, left))


def _numbers(rows: Rows, nodes: list[NodeState], *, narrow: bool) -> list[table.Placed]:
    view = rows.view
    placed = table.place(numbers.columns(view, narrow=narrow), view.label, rows.box.width)
    numbers.write(rows, nodes, placed)
    return placed


def _large(rows: Rows, nodes: list[NodeState]) -> None:
    """The same with high charts, then what else `/proc/meminfo` and the GPU tell of each node."""
    bars.write(rows, nodes, trends=False)
    rows.blank()
    _numbers(rows, nodes, narrow=False)
    notes.write(rows, nodes, pressure=False)
    notes.chip(rows, nodes)
    facts = detail.sheet(rows, nodes)
    rows.blank()
    room = rows.box.height - len(rows.rows) - 2 - len(facts)
    bars.charts(rows, nodes, min(2 * CHART_LARGE, max(CHART, room)))
    rows.blank()
    rows.rows += facts


def wants(view: View, width: int) -> int:
    """Rows of the overview form."""
    count = len(view.boxes)
    if count >= many.MANY:
        return 2 + count
    base = Rows(view, Box(width, 0))
    nodes = list(view.boxes)
    notes.write(base, nodes, pressure=width < WIDE)
    fixed = 1 + 2 * count + (3 + 2 + CHART if width >= WIDE else 4)
    return fixed + max(SPARE, len(base.rows))


def likes(view: View, width: int) -> int:
    """Rows with high charts."""
    if len(view.boxes) >= many.MANY:
        return wants(view, width)
    return wants(view, width) + CHART_LARGE + (2 if width < WIDE else -CHART)


def mark(view: View) -> tuple[str, str]:
    """The worst node."""
    glyphs = view.ink.glyphs
    levels = [node_level(node, view, "memory") for node in view.boxes]
    if not levels:
        return "", ""
    worst = min(levels, key=RANK.__getitem__)
    glyph = {"error": glyphs.error, "warn": glyphs.warn, "unknown": glyphs.unknown}.get(worst, glyphs.ok)
    return glyph, STYLES[worst]


PANE = PaneSpec(key=1, id="memory", unit=UNIT, draw=draw, wants=wants, likes=likes, mark=mark)
