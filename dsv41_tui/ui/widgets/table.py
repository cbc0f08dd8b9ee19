"""A table in rows: columns have a fixed place for a width, so a value never moves its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from dsv41_tui.ui.cells import cut, cut_front, safe
from dsv41_tui.ui.line import Line

Cell = tuple[str, str]
"""Text and style name."""


@dataclass(frozen=True)
class Column:
    """One column; `width` is what its values need, the title can ask for more."""

    key: str
    title: str
    width: int
    left: bool = False
    front: bool = False
    """Cut at the front: the end tells the values apart."""
    glyph: Cell | None = None
    """Stands before the title: the table's head is the legend of the bar."""
    keep: int = 0
    """Columns with the lowest number are dropped first; 0 never."""
    grow: bool = False
    """Takes the room that is left over."""

    @property
    def cells(self) -> int:
        glyph = cell_len(self.glyph[0]) + 1 if self.glyph else 0
        return max(self.width, cell_len(self.title) + glyph)


@dataclass(frozen=True)
class Placed:
    """A column with its first cell and width."""

    column: Column
    start: int
    cells: int


def place(columns: Sequence[Column], start: int, end: int, gap: int = 1) -> list[Placed]:
    """Columns between two cells: what does not fit is dropped by `keep`, what is left over goes between them."""
    kept = list(columns)
    while _needed(kept, gap) > end - start and any(column.keep for column in kept):
        kept.remove(min((column for column in kept if column.keep), key=lambda column: column.keep))
    if not kept:
        return []
    spare = max(0, end - start - _needed(kept, gap))
    growing = [column for column in kept if column.grow]
    placed: list[Placed] = []
    cursor = start
    for index, column in enumerate(kept):
        cells = column.cells
        if column.grow:
            cells += spare // len(growing)
        elif not growing and not (index == 0 and column.left):
            share = spare // (len(kept) - index)
            spare -= share
            cursor += share
        placed.append(Placed(column, cursor, cells))
        cursor += cells + gap
    return placed


def _needed(columns: Sequence[Column], gap: int) -> int:
    return sum(column.cells for column in columns) + gap * max(0, len(columns) - 1)


def head(line: Line, placed: Sequence[Placed], style: str = "text-muted") -> Line:
    """Write the titles."""
    for at in placed:
        column = at.column
        glyph = f"{column.glyph[0]} " if column.glyph else ""
        text = cell_len(glyph) + cell_len(column.title)
        line.to(at.start if column.left else at.start + at.cells - text)
        if column.glyph:
            line.put(glyph, column.glyph[1])
        line.put(column.title, style)
    return line


def row(line: Line, placed: Sequence[Placed], cells: Mapping[str, Cell]) -> Line:
    """Write one row; a column without a value stays empty."""
    mark = line.ink.glyphs.ellipsis
    for at in placed:
        text, style = cells.get(at.column.key, ("", "text"))
        if not text:
            continue
        shorten = cut_front if at.column.front else cut
        text = shorten(safe(text), at.cells, mark)
        if at.column.left:
            line.to(at.start).put(text, style)
        else:
            line.right(text, at.start + at.cells, style)
    return line
