"""What the lines of one node's logs show of the failure book, as events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dsv41_tui.core.book import Place, Scanner
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.book_tally import Hit
from dsv41_tui.core.events import Event, FailuresCleared, FailureSeen
from dsv41_tui.core.facts import Fact
from dsv41_tui.core.log import LogLine, LogSource
from dsv41_tui.core.model import NodeState

EARLY_LINES = 40_000
"""Lines that wait for the book, which is read after the first frame."""
SLACK_S = 0.5
"""Docker stamps a container's first line and its StartedAt in either order."""
SHOWN = 2000


class _Source(NamedTuple):
    source: LogSource
    started_at: float | None


class FailureWatch:
    """One scanner a node, because what is seen in one of its logs decides for another."""

    def __init__(
        self,
        node: str,
        state: Callable[[], NodeState],
        dispatch: Callable[[Event], None],
        facts: Callable[[NodeState], Mapping[str, Fact]] = lambda _: {},
    ) -> None:
        self._node = node
        self._state = state
        self._dispatch = dispatch
        self._facts = facts
        self._scanner: Scanner | None = None
        self._early: list[tuple[LogSource, float | None, Sequence[LogLine]]] = []
        self._early_lines = 0
        self._sources: dict[str, _Source] = {}

    def use(self, book: CompiledBook) -> None:
        """Scan with this book from now on, and what waited for it."""
        self._scanner = Scanner(book)
        early, self._early = self._early, []
        for source, started_at, lines in early:
            self.scan(source, started_at, lines)

    def scan(self, source: LogSource, started_at: float | None, lines: Sequence[LogLine]) -> None:
        """Lines of a source; those from before `started_at` are of an earlier run and show nothing of this one."""
        if started_at is not None:
            lines = [line for line in lines if line.at is None or line.at >= started_at - SLACK_S]
        if not lines:
            return
        if self._scanner is None:
            if self._early_lines < EARLY_LINES:
                self._early.append((source, started_at, lines))
                self._early_lines += len(lines)
            return
        self._sources[source.id] = _Source(source, started_at)
        place: Place = "kernel" if source.kind == "kernel" else "engine"
        hits = self._scanner.feed(
            [line.text for line in lines],
            source.id,
            lines[0].number,
            [line.seen_at if line.at is None else line.at for line in lines],
            place,
        )
        self._tell(hits)

    def settle(self) -> None:
        """Decide lines that waited long enough for what comes after them."""
        if self._scanner is not None:
            self._tell(self._scanner.expire(time.time() + self._offset()))

    def _offset(self) -> float:
        clock = self._state().clock.value
        return clock.offset_s if clock is not None else 0.0

    def _tell(self, hits: Sequence[Hit]) -> None:
        """One event for each failure and source of a batch, in the order of their first lines."""
        groups: dict[tuple[str, str, bool], list[Hit]] = {}
        for hit in hits:
            groups.setdefault((hit.rule, hit.source, hit.clears), []).append(hit)
        offset = self._offset() if groups else 0.0
        for (rule, source, clears), found in groups.items():
            if clears:
                at = _corrected(found[-1], offset)
                self._dispatch(
                    FailuresCleared(at=time.monotonic(), node=self._node, rules=(rule,), source=source, line_at=at)
                )
            else:
                self._dispatch(self._seen(rule, source, found, offset))

    def _seen(self, rule: str, source: str, found: Sequence[Hit], offset: float) -> FailureSeen:
        first, known = found[0], self._sources.get(source)
        kernel = known is not None and known.source.kind == "kernel"
        return FailureSeen(
            at=time.monotonic(),
            node=self._node,
            source=source,
            rule=rule,
            line=first.text[:SHOWN],
            number=first.number,
            line_at=_corrected(first, offset),
            last_at=_corrected(found[-1], offset),
            seen_at=time.time(),
            count=sum(hit.times for hit in found),
            rank=known.source.rank if known else None,
            started_at=known.started_at if known and not kernel else None,
            facts=dict(self._facts(self._state())),
        )


def _corrected(hit: Hit, offset: float) -> float:
    return time.time() if hit.at is None else hit.at - offset
