"""Where the lines of one source stand: those that wait, and where what rules ask to be near stood last."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from dsv41_tui.core.book_pattern import PIECE, Pattern
from dsv41_tui.core.quoted import LOOK_BACK, is_reply, unquoted


class Line(NamedTuple):
    """A line in its batch, which tells what it stands in."""

    ordinal: int
    """Among all lines of the source."""
    at: float | None
    lines: Sequence[str]
    offset: int
    tail: Sequence[str]
    """The last lines before the batch."""

    def told(self) -> str:
        """What the line says itself, not what it quotes; the line where that is all of it."""
        return unquoted(self.lines[self.offset], self._before)

    def _before(self) -> Sequence[str]:
        near = self.lines[max(0, self.offset - LOOK_BACK) : self.offset]
        return [*self.tail, *near][-LOOK_BACK:]

    def says(self, patterns: Sequence[Pattern], quality: frozenset[Pattern]) -> list[Pattern]:
        """Those of matching `patterns` that match what the line says itself; in a model's reply also `quality`."""
        line = self.lines[self.offset]
        told = self.told()
        if told is line:
            return list(patterns)
        reply = is_reply(line)
        return [one for one in patterns if (told and one.search(told)) or (reply and one in quality)]


class Held:
    """A line with rules that count it, or that wait for lines after it."""

    __slots__ = ("at", "cleared", "number", "ordinal", "rules", "stream", "text", "waiting")

    def __init__(self, stream: Stream, ordinal: int, number: int, at: float | None, text: str) -> None:
        self.stream, self.ordinal, self.number, self.at, self.text = stream, ordinal, number, at, text
        self.rules: set[int] = set()
        """Rules that count, as far as is known; those that wait for `near` are not among them."""
        self.waiting: set[int] = set()
        self.cleared: set[int] = set()
        """Rules of which a later line says that it is over."""


class Stream:
    """Where a source stands."""

    __slots__ = ("_last", "_maybe", "held", "lines", "live", "source", "tail")

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = 0
        self.held: list[Held] = []
        self.live: set[int] = set()
        """Rules that were counted and are not over."""
        self.tail: list[str] = []
        """The last lines before those that come next."""
        self._last: dict[Pattern, Line] = {}
        self._maybe: dict[Pattern, deque[Line]] = {}

    def note(self, pattern: Pattern, line: Line, quality: frozenset[Pattern]) -> None:
        """A line that `pattern` can match. It is tried when a rule asks, since few ever do."""
        if len(line.lines[line.offset]) > PIECE:  # kept lines are short ones
            if line.says([pattern], quality):
                self._last[pattern] = line._replace(lines=("",), offset=0, tail=())
                self._maybe.pop(pattern, None)
            return
        waiting = self._maybe.get(pattern)
        if waiting is None:
            waiting = self._maybe[pattern] = deque(maxlen=pattern.span)
        waiting.append(line)

    def last(self, pattern: Pattern, quality: frozenset[Pattern]) -> Line | None:
        """The last of the lines so far that `pattern` matches, as far as rules look back."""
        waiting = self._maybe.get(pattern)
        while waiting:
            line = waiting.pop()
            if pattern.search(line.lines[line.offset]) and line.says([pattern], quality):
                self._last[pattern] = line._replace(lines=("",), offset=0, tail=())
                waiting.clear()
        return self._last.get(pattern)

    def passed(self, lines: Sequence[str]) -> None:
        """So many lines were read."""
        self.lines += len(lines)
        self.tail = [*self.tail, *lines[-LOOK_BACK:]][-LOOK_BACK:]
