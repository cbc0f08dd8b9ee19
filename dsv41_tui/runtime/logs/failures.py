"""What the lines of one node's logs show of the failure book, as events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dsv41_tui.core.book import Place, Scanner
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.book_tally import Hit
from dsv41_tui.core.events import Event, FailuresCleared, FailureSeen
from dsv41_tui.core.facts import Fact, Facts
from dsv41_tui.core.facts_live import LOGGED
from dsv41_tui.core.log import LogLine, LogSource
from dsv41_tui.core.model import NodeState

EARLY_LINES = 40_000
"""Lines that wait for the book, which is read after the first frame."""
SLACK_S = 0.5
"""Docker stamps a container's first line and its StartedAt in either order."""
SHOWN = 2000
TOLD = 200
"""Failures whose causes later lines still speak for."""


class _Source(NamedTuple):
    source: LogSource
    started_at: float | None


class _Early(NamedTuple):
    """Lines that wait, with what the log had said of its engine up to them."""

    source: LogSource
    started_at: float | None
    lines: Sequence[LogLine]
    logged: Facts


class FailureWatch:
    """One scanner a node and run of its rank, because what is seen in one of its logs decides for another."""

    def __init__(
        self,
        node: str,
        state: Callable[[], NodeState],
        dispatch: Callable[[Event], None],
        facts: Callable[[], Mapping[str, Fact]] = dict,
    ) -> None:
        self._node = node
        self._state = state
        self._dispatch = dispatch
        self._facts = facts
        """The readings of the node now."""
        self._book: CompiledBook | None = None
        self._scanner: Scanner | None = None
        self._early: list[_Early] = []
        self._early_lines = 0
        self._sources: dict[str, _Source] = {}
        self._rank_started = 0.0
        self._told: dict[tuple[str, str], int] = {}
        """Rules and sources that were told, with how many signals went along."""
        self._signals = 0

    def use(self, book: CompiledBook) -> None:
        """Scan with this book from now on, and what waited for it."""
        self._book, self._scanner = book, Scanner(book)
        early, self._early = self._early, []
        for item in early:
            self._scan(item.source, item.started_at, item.lines, item.logged)

    def scan(self, source: LogSource, started_at: float | None, lines: Sequence[LogLine]) -> None:
        """Lines of a source; those from before `started_at` are of an earlier run and show nothing of this one."""
        if started_at is not None:
            lines = [line for line in lines if line.at is None or line.at >= started_at - SLACK_S]
        if not lines:
            return
        if self._scanner is not None:
            self._scan(source, started_at, lines, {})
        elif self._early_lines < EARLY_LINES:
            logged = {name: value for name, value in self._facts().items() if name in LOGGED}
            self._early.append(_Early(source, started_at, lines, logged))
            self._early_lines += len(lines)

    def settle(self) -> None:
        """Decide lines that waited long enough for what comes after them."""
        if self._scanner is not None:
            self._tell(self._scanner.expire(time.time() + self._offset()), {})

    def _scan(self, source: LogSource, started_at: float | None, lines: Sequence[LogLine], logged: Facts) -> None:
        self._sources[source.id] = _Source(source, started_at)
        if source.kind == "rank" and started_at is not None and started_at > self._rank_started + SLACK_S:
            self._begin(started_at)
        assert self._scanner is not None
        place: Place = "kernel" if source.kind == "kernel" else "engine"
        offset = self._offset()
        hits = self._scanner.feed(
            [line.text for line in lines],
            source.id,
            lines[0].number,
            [line.seen_at + offset if line.at is None else line.at for line in lines],
            place,
        )
        self._tell(hits, logged)

    def _begin(self, started_at: float) -> None:
        """A rank that starts anew: what was seen of its last run speaks for nothing of this one."""
        if self._rank_started and self._book is not None:
            self._scanner = Scanner(self._book)
            self._told, self._signals = {}, 0
        self._rank_started = started_at

    def _offset(self) -> float:
        clock = self._state().clock.value
        return clock.offset_s if clock is not None else 0.0

    def _tell(self, hits: Sequence[Hit], logged: Facts) -> None:
        """One event for each failure and source of a batch, in the order of their first lines."""
        groups: dict[tuple[str, str, bool, tuple[str, ...]], list[Hit]] = {}
        for hit in hits:
            groups.setdefault((hit.rule, hit.source, hit.clears, hit.silencers), []).append(hit)
        if groups:
            offset, facts = self._offset(), {**self._facts(), **logged}
            for (_, _, clears, _), found in groups.items():
                self._dispatch(self._cleared(found, offset) if clears else self._seen(found, offset, facts))
        self._tell_signals()

    def _cleared(self, found: Sequence[Hit], offset: float) -> FailuresCleared:
        last = found[-1]
        at = _corrected(last, offset)
        return FailuresCleared(at=time.monotonic(), node=self._node, rules=(last.rule,), source=last.source, line_at=at)

    def _seen(self, found: Sequence[Hit], offset: float, facts: Facts) -> FailureSeen:
        first, known = found[0], self._sources.get(found[0].source)
        stamped = known is not None and known.source.kind != "kernel"
        return FailureSeen(
            at=time.monotonic(),
            node=self._node,
            source=first.source,
            rule=first.rule,
            line=first.text[:SHOWN],
            number=first.number,
            line_at=_corrected(first, offset),
            last_at=_corrected(found[-1], offset),
            seen_at=time.time(),
            count=sum(hit.times for hit in found),
            rank=known.source.rank if known else None,
            started_at=known.started_at if known and stamped else None,
            facts=facts,
            signals=self._signals_of(first.rule, first.source),
            silencers=first.silencers,
        )

    def _signals_of(self, rule: str, source: str) -> dict[str, str]:
        assert self._scanner is not None
        signals = self._scanner.signals_for(rule)
        if (rule, source) in self._told or len(self._told) < TOLD:
            self._told[rule, source] = len(signals)
        return signals

    def _tell_signals(self) -> None:
        """Lines that came after a failure can decide for its cause."""
        assert self._scanner is not None
        if len(self._scanner.signals) == self._signals:
            return
        self._signals = len(self._scanner.signals)
        for (rule, source), known in tuple(self._told.items()):
            signals = self._scanner.signals_for(rule)
            if len(signals) > known:
                self._told[rule, source] = len(signals)
                self._dispatch(
                    FailureSeen(
                        at=time.monotonic(), node=self._node, source=source, rule=rule, line="", line_at=0.0, count=0,
                        signals=signals,
                    )
                )  # fmt: skip


def _corrected(hit: Hit, offset: float) -> float:
    return time.time() if hit.at is None else hit.at - offset
