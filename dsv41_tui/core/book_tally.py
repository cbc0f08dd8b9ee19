"""What a scan keeps of a failure: how often, when, and the first lines. Bounded, however long the log is."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from dsv41_tui.core.value import Value

FIRST_LINES = 3
LINE_KEPT = 2000
"""Characters of a line that is kept as evidence."""
_TIMES = re.compile(r"\([x×] ?(\d{1,6})\b|× ?(\d{1,6})\b|repeated (\d{1,6}) times")


class Hit(NamedTuple):
    """A line that counts for a rule, or that says that the failure is over (`clears`)."""

    rule: str
    source: str
    number: int
    at: float | None
    text: str
    times: int = 1
    """How many lines it stands for: those before it that were too few, and what it says of itself ("x16")."""
    clears: bool = False
    silencers: tuple[str, ...] = ()
    """Harmless rules that claim the line, if readings agree."""


class SeenLine(Value):
    """A line that is kept as evidence."""

    source: str
    number: int
    at: float | None = None
    text: str


class Tally(Value):
    """One failure in one source: the lines that count for it."""

    rule: str
    source: str
    silencers: frozenset[str] = frozenset()
    """Harmless rules that say that these lines are theirs, if readings agree."""
    count: int
    enough: bool
    """Whether so many lines came, close enough to each other, as the rule asks for."""
    first: tuple[SeenLine, ...]
    last_at: float | None = None
    last_number: int = 0
    over: bool = False
    """Whether a later line says that it is over."""


class Counter:
    """Makes one Tally."""

    def __init__(self, rule: str, source: str, silencers: frozenset[str], need: int, within_s: float | None) -> None:
        self.rule, self.source, self.silencers = rule, source, silencers
        self.need, self.within_s = need, within_s
        self.count = 0
        self.enough = False
        self.over = False
        self.last_at: float | None = None
        self.last_number = 0
        self._first: list[SeenLine] = []
        self._recent: deque[tuple[float, int]] = deque()
        self._recent_sum = 0
        self._told = 0

    def add(self, number: int, at: float | None, text: str) -> int:
        """Count a line; gives how many are new to whoever follows: 0 while there are too few."""
        times = times_in(text) if self.need > 1 else 1
        self.count += times
        self.last_at, self.last_number, self.over = at, number, False
        if len(self._first) < FIRST_LINES:
            self._first.append(SeenLine(source=self.source, number=number, at=at, text=text[:LINE_KEPT]))
        if not self.enough:
            self.enough = self._reached(at, times)
        if not self.enough:
            return 0
        new, self._told = self.count - self._told, self.count
        return new

    def names(self, subject: str) -> bool:
        """Whether one of the first lines holds `subject`."""
        return any(subject in line.text for line in self._first)

    def _reached(self, at: float | None, times: int) -> bool:
        if self.within_s is None or at is None:
            return self.count >= self.need
        self._recent.append((at, times))
        self._recent_sum += times
        while self._recent and self._recent[0][0] < at - self.within_s:
            self._recent_sum -= self._recent.popleft()[1]
        return self._recent_sum >= self.need

    def tally(self) -> Tally:
        return Tally(
            rule=self.rule,
            source=self.source,
            silencers=self.silencers,
            count=self.count,
            enough=self.enough,
            first=tuple(self._first),
            last_at=self.last_at,
            last_number=self.last_number,
            over=self.over,
        )


def times_in(text: str) -> int:
    """How many lines a line says it stands for: `(x16 within one second)`, `message repeated 16 times`; else 1."""
    found = _TIMES.search(text[:LINE_KEPT])
    number = next((part for part in found.groups() if part), "1") if found else "1"
    return max(1, int(number))
