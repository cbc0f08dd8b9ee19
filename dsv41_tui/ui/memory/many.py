"""Memory of five nodes or more: one row each; from sixteen on the worst come first and the rest is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.memory.notes import gpu_cell
from dsv41_tui.ui.memory.numbers import NUMBER, cells
from dsv41_tui.ui.pane import name_style
from dsv41_tui.ui.standing import RANK, node_level, node_standing
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets import skyline, table

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

MANY = 5
"""From so many nodes on each has one row."""
WORST_FIRST = 16
BAR = 20


def columns(view: View, *, large: bool) -> list[table.Column]:
    """The bar takes what is left."""
    made = [table.Column("bar", "", BAR, left=True, grow=True)]
    made += [table.Column("cache", t("ui.memory.cache"), NUMBER, keep=4)]
    made += [table.Column("free", t("ui.memory.free"), NUMBER)]
    made += [table.Column("low_free", t("ui.memory.low"), NUMBER, keep=3)]
    made += [table.Column("avail", t("ui.memory.avail"), NUMBER)]
    made += [table.Column("low_avail", t("ui.memory.low"), NUMBER, keep=2)]
    if large:
        made += [table.Column("psi", t("ui.memory.psi"), 4, keep=1)]
        made += [table.Column("gpu", "GPU", 18, left=True, keep=1)]
    return made


def ordered(nodes: list[NodeState], view: View, room: int, pane: str | None = None) -> list[NodeState]:
    """As configured while all fit and are few, else the worst first; equals keep their order, so nothing flickers."""
    if len(nodes) < WORST_FIRST and len(nodes) <= room:
        return nodes
    return sorted(nodes, key=lambda node: RANK[node_level(node, view, pane)])


def write(rows: Rows, nodes: list[NodeState], room: int, *, large: bool) -> None:
    """The head, at most `room` rows, the last of them a count of those that are not shown."""
    view, box = rows.view, rows.box
    placed = table.place(columns(view, large=large), view.label, box.width)
    rows.add(table.head(rows.line(), placed))
    shown = ordered(nodes, view, room - 1, "memory")
    hidden = [] if large or len(shown) <= room - 1 else shown[max(1, room - 2) :]
    for node in shown[: len(shown) - len(hidden)]:
        _row(rows, node, placed)
    if hidden:
        _count(rows, hidden)


def _row(rows: Rows, node: NodeState, placed: list[table.Placed]) -> None:
    view = rows.view
    standing = node_standing(node, view)
    chosen = rows.box.focused and rows.box.selected == node.name
    line = rows.line(rows.ground(node.name))
    line.fit(node.name, view.label - 1, name_style(standing.stale, chosen)).to(view.label)
    bar = placed[0]
    word = "" if standing.level == "ok" else standing.text
    room = bar.cells - cell_len(word) - (1 if word else 0)
    skyline.draw(line, skyline.parts_of(node.memory.value), bar.cells, shown=room, drained=standing.stale)
    if word:
        line.gap().put(word, standing.style)
    values = cells(node, view)
    values["gpu"] = gpu_cell(node, view)
    rows.item(node.name, node.name, len(rows.rows))
    rows.add(table.row(line, placed[1:], values))


def _count(rows: Rows, hidden: list[NodeState]) -> None:
    view = rows.view
    bad = sum(1 for node in hidden if RANK[node_level(node, view, "memory")] < RANK["ok"])
    line = rows.line().to(view.label)
    if bad:
        rows.add(line.put(t("ui.memory.more_bad", count=len(hidden), bad=bad), "warning"))
    else:
        rows.add(line.put(t("ui.memory.more_fine", count=len(hidden)), "text-muted"))
