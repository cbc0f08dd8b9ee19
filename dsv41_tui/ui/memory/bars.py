"""Bars of the whole unified pool, one row a node, and trends of MemFree on a fixed scale of 16 GiB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.numbers import GIB, gib
from dsv41_tui.ui.pane import name_style
from dsv41_tui.ui.standing import node_standing
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets import skyline, trend

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

SCALE = 16 * GIB
SCALE_TEXT = "16"
TREND = 10
GUTTER = 2
CHART_GUTTER = 4


def write(rows: Rows, nodes: list[NodeState], *, trends: bool) -> None:
    """One bar a node; with `trends` each has its ten minutes of MemFree beside it."""
    view, width = rows.view, rows.box.width
    cells = width - view.label - (TREND + GUTTER if trends else 0)
    if trends:
        rows.add(_trend_head(rows, nodes))
    for node in nodes:
        chosen = rows.box.focused and rows.box.selected == node.name
        stale = node_standing(node, view).stale
        line = rows.line(rows.ground(node.name))
        line.fit(node.name, view.label - 1, name_style(stale, chosen)).to(view.label)
        skyline.draw(line, skyline.parts_of(node.memory.value), cells, drained=stale, merge_other=trends)
        if trends:
            line.gap(GUTTER)
            values = trend.columns(node.free_trend, TREND)
            trend.sparkline(line, values, SCALE, trend_style(view, stale))
        rows.item(node.name, node.name, len(rows.rows))
        rows.add(line)


def _trend_head(rows: Rows, nodes: list[NodeState]) -> Line:
    line = rows.line().to(rows.view.label)
    totals = {gib(node.memory.value.total) for node in nodes if node.memory.value and node.memory.value.total}
    if len(totals) == 1:
        line.put(t("ui.memory.pool_of", total=totals.pop()), "text-muted")
    return line.right(t("ui.memory.free_10_min"), rows.box.width, "text-muted")


def trend_style(view: View, stale: bool) -> trend.StyleOf:
    """Each column by its own value: below the limits of headroom it is coloured."""
    limits = view.limits

    def style(value: float) -> str:
        if stale or limits is None:
            return "track"
        if value < limits.available_error:
            return "error"
        return "warning" if value < limits.free_warn else "mem-free"

    return style


def charts(rows: Rows, nodes: list[NodeState], height: int) -> None:
    """MemFree of each node side by side, `height` rows high under one row of names and lowest values."""
    view = rows.view
    room = rows.box.width - view.label
    each = (room - CHART_GUTTER * (len(nodes) - 1)) // len(nodes)
    cells = trend.fitted(each)
    starts = [view.label + index * (each + CHART_GUTTER) for index in range(len(nodes))]
    head = rows.line().fit(t("ui.memory.free"), view.label - 1, "text-muted")
    for start, node in zip(starts, nodes, strict=True):
        _chart_head(head.to(start), node, view, start + cells)
    rows.add(head)
    drawn = [
        (start, trend.columns(node.free_trend, cells), trend_style(view, node_standing(node, view).stale))
        for start, node in zip(starts, nodes, strict=True)
    ]
    for row in range(height):
        line = trend.axis(rows.line(), view.label, SCALE_TEXT, t("ui.ten_minutes"), row, height)
        for start, values, style in drawn:
            trend.chart_row(line.to(start), values, SCALE, row, height, style)
        rows.add(line)


def _chart_head(line: Line, node: NodeState, view: View, end: int) -> None:
    """The name, and the lowest value with its time where there is room for both."""
    low, room = node.low_free, end - line.column
    texts = []
    if low is not None:
        values = {"value": gib(low.value), "at": view.clock(low.at)}
        texts = [t("ui.memory.lowest_at", **values), t("ui.memory.low_of", **values)]
    name = cell_len(node.name) + 1
    text = next((text for text in texts if name + cell_len(text) <= room), "")
    line.fit(node.name, room - cell_len(text), "text-muted").put(text, "text-muted")
