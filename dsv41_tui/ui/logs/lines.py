"""One log line as rows: `14:01:58 r1 W text`, its message cut at the edge or all of it wrapped.

Without colours too: `r1xW` is the line of a finding, `W>text` one that is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.strip import Strip

from dsv41_tui.ui.cells import safe, take
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.logs.message import Message, message
from dsv41_tui.ui.logs.query import Query
from dsv41_tui.ui.logs.scope import Named
from dsv41_tui.ui.palette import Ground
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from datetime import tzinfo

    from dsv41_tui.ui.logs.timeline import Entry

LONGEST = 4_096
"""Characters of a line that are drawn; the record has all of them."""
LABEL_MOST = 8
PAN = 8
NEAR = 16
"""Cells from the edge in which a wrapped line breaks behind a space."""
LEVEL_STYLES = {"E": "error+bold", "W": "warning+bold"}
_GROUNDS: dict[str, Ground] = {"error": "tint-error", "warn": "tint-warning"}
NOBODY = Named("?", "", "", 0.0)


@dataclass(frozen=True)
class Look:
    """How lines are drawn."""

    width: int
    wrap: bool = False
    times: bool = True
    pan: int = 0
    """Cells of the text that are scrolled out at the left."""
    label: int = 2
    """Cells of the column that names the source."""
    query: Query | None = None

    @property
    def start(self) -> int:
        """Where the text begins."""
        return (9 if self.times else 0) + self.label + 3

    @property
    def room(self) -> int:
        """Cells of a row's text."""
        return max(4, self.width - self.start)


def text_cells(entry: Entry, name: Named) -> int:
    """How wide a line is in one row, the name of its source included."""
    return sum(cell_len(text) for text, _ in _parts(entry, name, "", None, wrap=False))


def label_cells(names: Mapping[str, Named], ids: frozenset[str] | None) -> int:
    """Room for the longest label in sight."""
    wide = [cell_len(name.label) for key, name in names.items() if ids is None or key in ids]
    return min(LABEL_MOST, max(wide, default=2))


@lru_cache(maxsize=512)
def time_text(second: int, today: date, zone: tzinfo | None) -> str:
    """`14:01:58`; of another day `-1d14:01`, or `2026-11` long ago: always eight cells."""
    at = datetime.fromtimestamp(second, tz=zone)
    days = (today - at.date()).days
    if days == 0:
        return at.strftime("%H:%M:%S")
    if 0 < days <= 9:
        return f"-{days}d{at.strftime('%H:%M')}"
    return at.strftime("%y-%m-%d")


def rows(
    view: View, entry: Entry, name: Named, look: Look, *, tint: str = "", chosen: bool = False, most: int = 1
) -> list[Strip]:
    """The rows of one line, at most `most`; `tint` is the severity of the finding that it shows."""
    at, _, line = entry
    ground: Ground = _GROUNDS.get(tint, "panel" if chosen else "background")
    glyphs = view.ink.glyphs
    head = Line(view.ink, look.width, ground)
    if look.times:
        head.put(time_text(int(at), view.wall.date(), view.wall.tzinfo), "text-muted").gap()
    head.fit(name.label, look.label, "accent")
    head.put({"error": glyphs.error, "warn": glyphs.warn}.get(tint, " "), LEVEL_STYLES["E" if tint == "error" else "W"])
    head.put(line.level or " ", LEVEL_STYLES.get(line.level, "text-muted"))
    head.put(">" if chosen else " ", "primary+bold")
    style = "text" if tint or line.level in ("W", "E") else "text-muted"
    parts = _parts(entry, name, style, look.query, wrap=look.wrap)
    room = look.room
    if not look.wrap:
        return [_put(head, _window(parts, look.pan, room, glyphs.ellipsis)).strip()]
    made = []
    for piece in _chopped(parts, room, most):
        made.append(_put(head, piece).strip())
        head = Line(view.ink, look.width, ground).to(look.start)
    return made or [head.strip()]


Parts = list[tuple[str, str]]


def _parts(entry: Entry, name: Named, style: str, query: Query | None, *, wrap: bool) -> Parts:
    """What is written of a line: all of it where it wraps, else its message."""
    line = entry[2]
    text = safe(line.text[:LONGEST])
    shown = Message(text, ((0, len(text), ""),)) if wrap else message(text, name.kind, name.label)
    parts: Parts = [(f"{name.prefix}: ", "text-muted")] if name.prefix else []
    parts += marked(shown, style, query)
    if len(line.text) > LONGEST:
        parts.append((f" +{len(line.text) - LONGEST:,}", "text-muted"))
    return parts


def marked(shown: Message, style: str, query: Query | None) -> Parts:
    """The text in pieces of one style: what the query matches is in primary, as everything that was typed.

    The query is asked about the whole line, so that what is seen of a match is marked.
    """
    parts: Parts = []
    spans = query.spans(shown.text) if query else []
    for first, last, behind in shown.pieces:
        at = first
        for span in spans:
            start, end = max(at, span[0]), min(last, span[1])
            if start < end:
                parts += [(shown.text[at:start], style), (shown.text[start:end], "primary+bold")]
                at = end
        parts += [(shown.text[at:last], style), (behind, "text-muted")]
    return [part for part in parts if part[0]]


def _put(line: Line, parts: Parts) -> Line:
    for text, style in parts:
        line.put(text, style)
    return line


def _window(parts: Parts, pan: int, room: int, mark: str) -> Parts:
    """What is seen of one row: `pan` cells are skipped, the mark says that the row goes on."""
    long = sum(cell_len(text) for text, _ in parts) - pan > room
    shown: Parts = []
    skip, left = pan, room - cell_len(mark) if long else room
    for text, style in parts:
        rest, skip = _skip(text, skip)
        piece = take(rest, left)
        left -= cell_len(piece)
        shown.append((piece, style))
        if piece != rest:
            break
    return [*shown, (mark, "text-muted")] if long else shown


def _skip(text: str, cells: int) -> tuple[str, int]:
    """`text` without its first cells, a blank for the half of a wide character; and what is left to skip."""
    if cells <= 0:
        return text, 0
    head = take(text, cells)
    left = cells - cell_len(head)
    rest = text[len(head) :]
    if rest and left > 0:
        return " " * (cell_len(rest[0]) - left) + rest[1:], 0
    return rest, left


def _chopped(parts: Parts, room: int, most: int) -> list[Parts]:
    """Rows of at most `room` cells, at most `most` of them; broken behind a space that is near the edge."""
    made: list[Parts] = [[]]
    left = room
    for text, style in parts:
        rest = text
        while rest:
            piece = take(rest[: 2 * room], left)
            if len(piece) < len(rest):
                space = piece.rfind(" ", max(0, len(piece) - NEAR))
                piece = piece[: space + 1] if space >= 0 else piece
            if piece:
                made[-1].append((piece, style))
                left -= cell_len(piece)
                rest = rest[len(piece) :]
            if rest:
                if len(made) == most:
                    return made
                made.append([])
                left = room
    return made
