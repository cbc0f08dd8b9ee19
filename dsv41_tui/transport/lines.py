"""Blocks of bytes of a followed log to whole, cleaned lines of bounded length, a batch at a time.

A line of megabytes (a progress bar without a line feed, a dump) keeps its head and its tail, and says how much was cut
between. Of a line with carriage returns the last state is kept, which is what a terminal would show, with docker's
stamp before it. Docker joins the pieces of a line beyond 16 KiB and leaves the stamp of each piece inside: those go.
"""

from __future__ import annotations

import re

from dsv41_tui.core.text import clean

KEEP = 32 << 10
"""Bytes of the head of a line that are kept while its end has not come; its tail is at most one block more."""
PIECE = 16 << 10
_STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z "
_STAMP_AT = re.compile(_STAMP)
_STAMP_BYTES = 31
_STATES = re.compile(r"^(\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) )?[^\n]*\r(?=[^\r\n])", re.MULTILINE)


class LineCutter:
    """Takes blocks, gives whole lines; holds what came after the last line feed."""

    def __init__(self) -> None:
        self._held = b""
        self._lost = 0
        self._tail = b""

    def feed(self, block: bytes) -> list[str]:
        """Cleaned lines that are whole now."""
        cut = block.rfind(b"\n") + 1
        if not cut:
            self._hold(block)
            return []
        lines = _lines(self._take() + block[:cut])
        self._hold(block[cut:])
        return lines

    def rest(self) -> list[str]:
        """The unfinished line at the end of the stream, if there is one."""
        rest = self._take()
        return _lines(rest + b"\n") if rest else []

    def _hold(self, piece: bytes) -> None:
        if not self._lost:
            self._held += piece
            if len(self._held) <= KEEP:
                return
            self._held, piece = self._held[:KEEP], self._held[KEEP:]
        self._lost += len(piece)
        self._tail = (self._tail + piece)[-PIECE:]

    def _take(self) -> bytes:
        held, lost, tail = self._held, self._lost - len(self._tail), self._tail
        self._held, self._lost, self._tail = b"", 0, b""
        return held + (b" [... %d bytes ...] " % lost if lost > 0 else b"") + tail


def _lines(chunk: bytes) -> list[str]:
    """Whole lines of one chunk, which ends in a line feed."""
    if len(chunk) > PIECE:
        chunk = b"\n".join(_unjoined(line) if len(line) > PIECE else line for line in chunk.split(b"\n"))
    text = chunk.decode("utf-8", "replace")
    if "\r" in text:
        text = _STATES.sub(r"\1", text.replace("\r\n", "\n"))
    lines = clean(text).split("\n")
    lines.pop()
    return lines


def _unjoined(line: bytes) -> bytes:
    """Without the stamps that stand where docker's pieces were joined."""
    if _STAMP_AT.match(line) is None:
        return line
    parts = [line[: _STAMP_BYTES + PIECE]]
    at = _STAMP_BYTES + PIECE
    while at < len(line):
        if _STAMP_AT.match(line, at) is not None:
            at += _STAMP_BYTES
        parts.append(line[at : at + PIECE])
        at += PIECE
    return b"".join(parts)
