"""What all nodes read from each server over ten minutes, on the scale of its link: a flat top is a full link."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.nfs.servers import Server
from dsv41_tui.ui.numbers import mib_rate
from dsv41_tui.ui.view import Rows
from dsv41_tui.ui.widgets import trend

GUTTER = 4
SHOWN = 2


def write(rows: Rows, found: Sequence[Server], height: int) -> None:
    """Charts of the servers whose link is known, side by side."""
    drawn = [server for server in found if server.capacity is not None][:SHOWN]
    if not drawn:
        return
    view = rows.view
    each = (rows.box.width - view.label - GUTTER * (len(drawn) - 1)) // len(drawn)
    cells = trend.fitted(each)
    head = rows.line().fit(t("ui.nfs.read"), view.label - 1, "text-muted")
    columns = []
    for index, server in enumerate(drawn):
        start = view.label + index * (each + GUTTER)
        values = summed([trend.columns(item, cells, highest=True) for item in server.trends])
        _head(head.to(start), server, values, start + cells)
        columns.append((start, values, server.capacity or 1.0))
    rows.add(head)
    for row in range(height):
        top = mib_rate(drawn[0].capacity) if len({server.link_mbit for server in drawn}) == 1 else ""
        line = trend.axis(rows.line(), view.label, top, t("ui.ten_minutes"), row, height)
        for start, values, scale in columns:
            trend.chart_row(line.to(start), values, scale, row, height, _style)
        rows.add(line)


def _style(value: float) -> str:
    del value
    return "mem-free"


def _head(line: Line, server: Server, values: Sequence[int | None], end: int) -> None:
    known = [value for value in values if value is not None]
    text = t("ui.nfs.highest", rate=mib_rate(max(known))) if known else ""
    room = end - line.column
    name = t("ui.nfs.all_nodes", server=server.name)
    name = name if cell_len(name) + cell_len(text) < room else server.name
    text = text if cell_len(name) + cell_len(text) < room else ""
    line.fit(name, room - cell_len(text), "text-muted").put(text, "text-muted")


def summed(parts: Sequence[Sequence[int | None]]) -> list[int | None]:
    """Column by column; what one node did not read does not count, a column that nobody read stays empty."""
    sums: list[int | None] = []
    for column in zip(*parts, strict=True):
        known = [value for value in column if value is not None]
        sums.append(sum(known) if known else None)
    return sums
