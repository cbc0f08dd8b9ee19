"""The lines that are shown, of all sources in the order of their corrected times; follows the ring step by step.

A step takes a bounded number of lines, so that no key waits for a large ring: new lines first, then older ones.
Entries are plain tuples: they sort without a key function, and a flood brings 20,000 a second.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from dsv41_tui.ui.logs.query import Query

if TYPE_CHECKING:
    from dsv41_tui.core.log import LogLine

Entry = tuple[float, int, "LogLine"]
"""Corrected time, number, line."""
Place = tuple[float, int]
STEP = 4_000
"""Lines a step: some 4 ms."""
LEVELS = ("", "WE", "E")
"""All, warnings and errors, errors."""
TOGETHER_S = 1.0
"""A line without a level belongs to the one before it of its source, if it comes so soon after."""


@dataclass(frozen=True)
class Wanted:
    """Which lines, and by how much each source's clock is ahead."""

    ids: frozenset[str] | None = None
    levels: str = ""
    query: Query | None = None
    offsets: Mapping[str, float] = field(default_factory=dict)

    def picks(self, lines: Iterable[LogLine]) -> list[Entry]:
        """Those that are wanted, in order of time."""
        found: list[Entry] = []
        ids, levels, offsets = self.ids, self.levels, self.offsets
        test = self.query.test if self.query else None
        last: dict[str, tuple[str, float]] = {}
        for line in lines:
            source = line.source
            if ids is not None and source not in ids:
                continue
            at = line.seen_at if line.at is None else line.at
            if line.at is not None and (offset := offsets.get(source)):
                at -= offset
            if levels and not _level(line, at, last, levels):
                continue
            if test is not None and not test(line.text):
                continue
            found.append((at, line.number, line))
        found.sort()
        return found


def _level(line: LogLine, at: float, last: dict[str, tuple[str, float]], levels: str) -> bool:
    """Whether a line counts as one of `levels`; a traceback's lines carry none of their own."""
    level: str = line.level
    if level:
        last[line.source] = level, at
    else:
        level, since = last.get(line.source, ("", 0.0))
        if at - since > TOGETHER_S:
            level = ""
    return bool(level) and level in levels


class Lines(Protocol):
    """What a timeline needs of a ring."""

    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int: ...

    def lines(self, first: int, end: int) -> Sequence[LogLine]: ...


class Held:
    """A ring that stands still: what there was when the operator paused."""

    def __init__(self, ring: Lines) -> None:
        self.first, self.end = ring.first, ring.end
        self._lines = ring.lines(ring.first, ring.end)

    def lines(self, first: int, end: int) -> Sequence[LogLine]:
        return self._lines[max(0, first - self.first) : max(0, end - self.first)]


class Timeline:
    """Entries of what is wanted, oldest first; `low` to `high` are the numbers that were looked at."""

    def __init__(self) -> None:
        self.wanted = Wanted()
        self.entries: list[Entry] = []
        self.low = self.high = 0

    def want(self, wanted: Wanted) -> None:
        """Begin anew with other lines."""
        self.wanted = wanted
        self.entries = []
        self.low = self.high = 0

    def step(self, ring: Lines) -> bool:
        """Look at more of the ring; whether there is still more."""
        if self.high < ring.first or self.high > ring.end:
            self.entries = []
            self.low = self.high = ring.end
        if self.high < ring.end:
            self._newer(ring)
        elif self.low > ring.first:
            self._older(ring)
        self._drop(ring)
        return self.high < ring.end or self.low > ring.first

    def _newer(self, ring: Lines) -> None:
        end = min(ring.end, self.high + STEP)
        found = self.wanted.picks(ring.lines(self.high, end))
        self.high = end
        if not found:
            return
        if self.entries and found[0] < self.entries[-1]:
            at = bisect_left(self.entries, found[0])
            found = sorted([*self.entries[at:], *found])
            del self.entries[at:]
        self.entries += found

    def _older(self, ring: Lines) -> None:
        first = max(ring.first, self.low - STEP)
        found = self.wanted.picks(ring.lines(first, self.low))
        self.low = first
        if not found:
            return
        at = bisect_left(self.entries, found[-1])
        self.entries[:at] = sorted([*found, *self.entries[:at]])

    def _drop(self, ring: Lines) -> None:
        """Forget what the ring has forgotten; the oldest by time is nearly always the oldest by number."""
        gone = 0
        for _, number, _ in self.entries:
            if number >= ring.first:
                break
            gone += 1
        if gone:
            del self.entries[:gone]
        self.low = max(self.low, ring.first)

    def index(self, place: Place) -> int:
        """Of the entry at `place`, or of the first behind it."""
        return bisect_left(self.entries, place)
