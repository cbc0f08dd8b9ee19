"""One row of cells under construction: text is cleaned, measured, and joined to as few segments as can be.

Spaces take the style of what stands before them: a change of colour costs 40 bytes on the wire, a space one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from dsv41_tui.ui.cells import cut, safe, take
from dsv41_tui.ui.palette import Ground, Palette


class Line:
    """Written from left to right; never longer than `width` once it is a strip."""

    def __init__(self, ink: Palette, width: int, ground: Ground = "background") -> None:
        self.ink = ink
        self.width = width
        self.ground: Ground = ground
        self.column = 0
        self._parts: list[tuple[str, str]] = []

    def put(self, text: str, style: str = "text") -> Line:
        """Write `text` at the column reached."""
        if text:
            text = safe(text)
            self._parts.append((text, style))
            self.column += cell_len(text)
        return self

    def gap(self, cells: int = 1) -> Line:
        """Spaces, in the style before them."""
        return self.put(" " * cells, self._blank_style()) if cells > 0 else self

    def runs(self, cells: Iterable[tuple[str, str]]) -> Line:
        """Write single cells of `(glyph, style)`; equal styles in a row are one piece."""
        for style, run in groupby(cells, key=itemgetter(1)):
            self.put("".join(glyph for glyph, _ in run), style)
        return self

    def to(self, column: int) -> Line:
        """Move on to `column`; nothing if it is passed already."""
        return self.gap(column - self.column)

    def right(self, text: str, column: int, style: str = "text") -> Line:
        """Write `text` so that it ends before `column`."""
        return self.to(column - cell_len(text)).put(text, style)

    def fit(self, text: str, cells: int, style: str = "text") -> Line:
        """Write at most `cells` of `text`, cut with the mark, and fill up to `cells`."""
        end = self.column + cells
        return self.put(cut(safe(text), cells, self.ink.glyphs.ellipsis), style).to(end)

    def strip(self) -> Strip:
        """The finished row, exactly `width` cells."""
        segments: list[Segment] = []
        room = self.width
        for text, name in self._merged():
            if room <= 0:
                break
            piece = take(text, room)
            room -= cell_len(piece)
            segments.append(Segment(piece, self.ink.style(name, self.ground)))
        if room > 0:
            segments.append(Segment(" " * room, self.ink.style(self._blank_style(), self.ground)))
        return Strip(_joined(segments), self.width)

    def _blank_style(self) -> str:
        last = self._parts[-1][1] if self._parts else "text"
        return "text" if last.startswith("pill-") else last

    def _merged(self) -> list[tuple[str, str]]:
        """Parts joined where the style is the same or one of the two is only spaces; pills stay as they are."""
        merged: list[tuple[str, str]] = []
        for text, name in self._parts:
            if merged:
                before, old = merged[-1]
                pill = name.startswith("pill-") or old.startswith("pill-")
                if old == name or (not pill and not text.strip(" ")):
                    merged[-1] = (before + text, old)
                    continue
                if not pill and not before.strip(" "):
                    merged[-1] = (before + text, name)
                    continue
            merged.append((text, name))
        return merged


def _joined(segments: list[Segment]) -> list[Segment]:
    joined: list[Segment] = []
    for segment in segments:
        if joined and joined[-1].style == segment.style:
            joined[-1] = Segment(joined[-1].text + segment.text, segment.style)
        else:
            joined.append(segment)
    return joined


def blank(ink: Palette, width: int, ground: Ground = "background") -> Strip:
    """An empty row."""
    return Line(ink, width, ground).strip()
