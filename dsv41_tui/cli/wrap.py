"""Text in lines of so many cells: Chinese characters take two, commands break only where a shell goes on."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

_PIECES = re.compile(r"[⺀-鿿가-힣豈-﫿＀-￯]|[^\s⺀-鿿가-힣豈-﫿＀-￯]+|\s+")
_CLOSING = "，。：；、）」』！？,.;:)"


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def wrapped(text: str, width: int | None, first: str = "", rest: str | None = None) -> list[str]:
    """`text` in lines of at most `width` cells, led by `first`, then by `rest`; one line where no width is set."""
    rest = " " * cells(first) if rest is None else rest
    if width is None or cells(first + text) <= width:
        return [first + text]
    lines: list[str] = []
    line, room = first, max(16, width - cells(first))
    for piece in _PIECES.findall(text):
        for part in _fitting(piece, max(16, width - cells(rest))):
            size = cells(part)
            if size > room and part[0] not in _CLOSING:
                lines.append(line.rstrip())
                line, room = rest, max(16, width - cells(rest))
                if part.isspace():
                    continue
            line, room = line + part, room - size
    return [*lines, line.rstrip()] if line.strip() else lines


def _fitting(piece: str, width: int) -> list[str]:
    """A piece, cut where it is longer than a line."""
    if cells(piece) <= width:
        return [piece]
    parts, part, size = [], "", 0
    for char in piece:
        wide = cells(char)
        if size + wide > width:
            parts.append(part)
            part, size = "", 0
        part, size = part + char, size + wide
    return [*parts, part]


def command(text: str, width: int | None, lead: str) -> list[str]:
    """A command to copy: never cut inside a word or quotes; a line that goes on ends in a backslash."""
    if width is None or cells(lead + text) <= width or "#" in text:
        return [lead + text]
    lines: list[str] = []
    line = lead
    for word in _words(text):
        if cells(line) + 1 + cells(word) + 2 > width and line.strip() and line != lead:
            lines.append(f"{line} \\")
            line = " " * (cells(lead) + 2) + word
        else:
            line += word if line == lead else f" {word}"
    return [*lines, line]


def _words(text: str) -> list[str]:
    """Split at blanks outside quotes; the quotes stay."""
    return re.findall(r"(?:[^\s'\"\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|['\"\\])+", text)
