"""Lines that leave the panel: for the clipboard of the operator's terminal and for a file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo

from dsv41_tui.ui.cells import safe
from dsv41_tui.ui.logs.model import LogModel
from dsv41_tui.ui.logs.timeline import Entry
from dsv41_tui.ui.view import View

COPY_MOST = 70_000
"""Bytes that common terminals take by OSC 52."""
LINE_MOST = 8_192
"""Characters of one line among many in the clipboard; a file has all of them."""


def texts(model: LogModel, view: View) -> Iterator[str]:
    """The range or all matches, oldest first: corrected time, source, level, text, each in one line."""
    entries, zone = list(model.picked()), view.wall.tzinfo
    return (_text(entry, zone) for entry in entries)


def _text(entry: Entry, zone: tzinfo | None, longest: int | None = None) -> str:
    at, _, line = entry
    stamp = datetime.fromtimestamp(at, tz=zone).isoformat(timespec="milliseconds")
    return " ".join((stamp, safe(line.source), line.level or "-", safe(line.text[:longest])))


def clipboard(model: LogModel, view: View) -> tuple[str, int]:
    """The newest of them that a terminal takes, and how many were left out."""
    entries = model.picked()
    kept: list[str] = []
    size = 0
    for entry in reversed(entries):
        text = _text(entry, view.wall.tzinfo, LINE_MOST)
        size += len(text.encode()) + 1
        if size > COPY_MOST:
            break
        kept.append(text)
    return "\n".join(reversed(kept)), len(entries) - len(kept)
