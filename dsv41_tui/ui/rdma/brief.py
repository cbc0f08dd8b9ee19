"""The fabric in one row, for the page of small screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.rdma.ports import entries, gid_cell, memory_cell
from dsv41_tui.ui.standing import RANK
from dsv41_tui.ui.view import Box, Rows

if TYPE_CHECKING:
    from dsv41_tui.ui.rdma.ports import Entry


def write(rows: Rows) -> None:
    """`fabric  ● 200G  GID 3 v2  ● registered  4 of 4`: the worst port, and how many stand as it does."""
    view = rows.view
    found = entries(view, Box(rows.box.width, 0))
    if not found:
        return
    worst = min(found, key=lambda entry: RANK[entry.standing.level])
    alike = [entry for entry in found if entry.standing.text == worst.standing.text]
    line = rows.line().fit(t("ui.rdma.fabric"), view.label - 1, "text-muted").to(view.label)
    line.put(worst.standing.text, worst.standing.style)
    for text, style in (
        _more(worst, rows) if len(alike) == len(found) else [(f"{worst.node.name} {worst.place}", "text")]
    ):
        line.put("  ", "text-muted").put(text, style)
    count = t("ui.rdma.ports_of", got=len(alike), of=len(found))
    if line.column + cell_len(count) + 2 <= rows.box.width:
        line.put("  ", "text-muted").put(count, "text-muted")
    rows.add(line)


def _more(entry: Entry, rows: Rows) -> list[tuple[str, str]]:
    """Index and registration, where they are known."""
    if entry.known is None:
        return []
    none = rows.view.ink.glyphs.none
    gid, style = gid_cell(entry, entry.known, rows.view, "text")
    memory = memory_cell(entry, rows.view)
    told = [(f"GID {gid}", style)] if gid != none else []
    return told + ([memory] if memory[0] != none else [])
