"""A widget that draws rows and repaints only what changed.

A changed number costs its row up to that number, since Textual paints a row from the widget's left edge; what did
not change costs nothing. `make(width, height)` gives the rows and must be pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


def changed_width(old: Strip, new: Strip) -> int:
    """Cells of `new` up to its last change against `old`; 0 if there is none."""
    if old == new:
        return 0
    before, after = list(old), list(new)
    end = new.cell_length
    while before and after:
        a, b = before[-1], after[-1]
        if a == b:
            end -= b.cell_length
            before.pop()
            after.pop()
            continue
        if a.style == b.style:
            end -= Segment(_common_end(a.text, b.text)).cell_length
        break
    return end


def _common_end(a: str, b: str) -> str:
    count = 0
    for left, right in zip(reversed(a), reversed(b), strict=False):
        if left != right:
            break
        count += 1
    return b[len(b) - count :] if count else ""


class RowsWidget(Widget):
    """Base of everything that is painted often."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Sequence[Strip] = ()
        self._drawn: Size | None = None

    def make(self, width: int, height: int) -> Sequence[Strip]:
        """The rows for this size."""
        raise NotImplementedError

    def renew(self) -> None:
        """Make the rows again and repaint those cells that differ.

        A widget of a new size is repainted by Textual anyway; one that was hidden has old rows in its cache.
        """
        size = self.size
        if not self.display:
            self._drawn = None
            return
        if self._drawn != size:
            if self._drawn is None:
                self.refresh()
            return
        old, new = self._rows, self.make(size.width, size.height)
        regions = []
        for y in range(size.height):
            width = changed_width(self._row(old, y), self._row(new, y))
            if width:
                regions.append(Region(0, y, width, 1))
        self._rows = new
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        if self._drawn != self.size:
            self._drawn = self.size
            self._rows = self.make(self.size.width, self.size.height)
        return self._row(self._rows, y)

    def _row(self, rows: Sequence[Strip], y: int) -> Strip:
        return rows[y] if y < len(rows) else self.blank_row()

    def blank_row(self) -> Strip:
        """What is shown below the last row."""
        return Strip.blank(self.size.width, self.rich_style)
