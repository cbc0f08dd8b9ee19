"""What is the same on all nodes and what differs: kernel, driver, image, firmware, MTU, versions, memlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.nfs.options import clauses
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets.table import Cell

if TYPE_CHECKING:
    from dsv41_tui.core.compare import Row

MINOR = frozenset({"HCA", "docker", "product"})
"""Told in the large form only, while they are the same."""
FEW = 3
"""Names while they are few; more are counted."""


def rows_of(view: View) -> tuple[Row, ...]:
    from dsv41_tui.core.compare import compare  # pydantic's weight, after the first frame

    return compare(view.boxes, view.now)


def write(rows: Rows, *, wide: bool) -> None:
    """Up to four lines: same, differs, unknown, memlock."""
    found = rows_of(rows.view)
    memlock = [row for row in found if row.name == "memlock"]
    others = [row for row in found if row.name != "memlock"]
    same = [row for row in others if row.verdict == "same" and (rows.box.large or row.name not in MINOR)]
    if same:
        clauses(rows, t("ui.rdma.same"), [_same(row, wide=wide) for row in same])
    differs = [row for row in others if row.verdict == "differs"]
    if differs:
        clauses(rows, t("ui.rdma.differs"), [_differs(row, rows.view) for row in differs])
    unknown = [row for row in others if row.verdict == "unknown"]
    if unknown and rows.box.large:
        clauses(rows, t("ui.rdma.unknown"), [_unknown(row, rows.view) for row in unknown])
    for row in memlock:
        clauses(rows, "memlock", [_memlock(row, rows.view)])


def _same(row: Row, *, wide: bool) -> tuple[Cell, ...]:
    if not wide:
        return ((row.name, "text"),)
    return ((f"{row.name} ", "text-muted"), (row.values[0] or "", "text"))


def _differs(row: Row, view: View) -> tuple[Cell, ...]:
    """`firmware 28.45.4028 and 28.45.4006`; with more than two nodes, how many have each value."""
    groups: dict[str, list[str]] = {}
    for node, value in zip(view.boxes, row.values, strict=True):
        if value is not None:
            groups.setdefault(value, []).append(node.name)
    if len(view.boxes) == 2:
        told = [(value, "warning") for value in groups]
    else:
        told = [(f"{value} ({_names(names)})", "warning") for value, names in groups.items()]
    cells: list[Cell] = [(f"{row.name} ", "text-muted")]
    for index, cell in enumerate(told):
        cells += [(t("ui.rdma.and"), "text-muted")] if index else []
        cells.append(cell)
    return tuple(cells)


def _unknown(row: Row, view: View) -> tuple[Cell, ...]:
    names = [node.name for node, value in zip(view.boxes, row.values, strict=True) if value is None]
    return ((t("ui.rdma.unknown_on", name=row.name, nodes=_names(names)), "text-muted"),)


def _memlock(row: Row, view: View) -> tuple[Cell, ...]:
    if row.verdict == "same":
        limit = row.values[0] or ""
        style = "text" if limit == "unlimited" else "warning"
        return ((limit, style), (t("ui.rdma.in_all"), "text-muted"))
    cells: list[Cell] = []
    for index, (node, value) in enumerate(zip(view.boxes, row.values, strict=True)):
        cells += [(t("ui.list"), "text-muted")] if index else []
        word = view.ink.glyphs.none if value is None else value
        style = "text-muted" if value is None else "text" if value == "unlimited" else "warning"
        cells += [(f"{node.name} ", "text-muted"), (word, style)]
    return tuple(cells)


def _names(names: list[str]) -> str:
    return t("ui.list").join(names) if len(names) <= FEW else str(len(names))
