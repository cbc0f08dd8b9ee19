"""Scanning: lines in, failures of the book out; whole logs and live streams alike.

A line counts for a rule when it matches one of `any` and none of `unless`, and when `near` and `unless_near` agree,
which look before and after, in lines of the same source, and where lines carry times in seconds too. A line that has
to wait for what comes after it is held; `Scanner.feed` gives each hit when it is decided. A harmless rule (gravity
`none`) takes its lines from all others. Memory is bounded: counts, first lines, and at most `HELD` lines that wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.book_lookup import Candidates
from dsv41_tui.core.book_pattern import Pattern, folded
from dsv41_tui.core.book_stream import Held, Line, Stream
from dsv41_tui.core.book_tally import LINE_KEPT, Counter, Hit, Tally, times_in
from dsv41_tui.core.failure import Book
from dsv41_tui.core.value import Value

HELD = 4000
"""Lines that wait for what comes after them; the oldest is decided by what is known when more come."""
PATIENCE_S = 0.5
"""How long a live stream waits for a line that would make a failure harmless."""
COMBINATIONS = 256
"""Counters of one scan; a log of so many sources is told by the first ones."""
Place = Literal["any", "engine", "kernel"]
"""Where lines come from: the engine's side (containers, launcher, proxy), the kernel, or not known (`any`)."""


class Report(Value):
    """What a scan found."""

    tallies: tuple[Tally, ...] = ()
    """By rule and source, in the order in which they were first seen."""
    signals: dict[str, str] = {}
    """Patterns of `seen` conditions that matched, each with its first line."""
    lines: int = 0


class Scanner:
    """Reads lines batch by batch. Live, use one a node: what is `seen` in its logs decides for that node."""

    def __init__(self, book: Book | CompiledBook) -> None:
        self._book = book if isinstance(book, CompiledBook) else CompiledBook(book)
        self._index = self._book.index()
        self._sources: dict[str, Stream] = {}
        self._quality, self._harmless = self._book.of_quality(), self._book.harmless()
        self._counters: dict[tuple[int, str, frozenset[str]], Counter] = {}
        self._hits: list[Hit] = []
        self._lines = 0
        self.signals: dict[str, str] = {}
        """Patterns of `seen` that matched so far, each with its first line."""

    def feed(
        self,
        lines: Sequence[str],
        source: str = "",
        first_number: int = 1,
        at: Sequence[float | None] | None = None,
        place: Place = "any",
    ) -> list[Hit]:
        """Scan cleaned lines without their line ends, numbered from `first_number`; gives the hits now decided.

        `at`: Unix seconds of each line, where known. `place`: where the source stands, for rules that ask for it.
        """
        stream = self._sources.get(source)
        if stream is None:
            stream = self._sources[source] = Stream(source)
        for offset, known in self._index.hot(lines):
            text = lines[offset]
            low = folded(text)
            hit = [pattern for pattern in known.any if pattern.search(text, low)] if known.any else []
            if known.seen or known.near or (known.clears and (stream.live or stream.held)):
                hit += self._others(stream, known, text, low)
            if not hit and not known.near:
                continue
            line = Line(stream.lines + offset, None if at is None else at[offset], lines, offset, stream.tail)
            if hit and not self._harmless.issuperset(hit):
                hit = line.says(hit, self._quality)
            if hit:
                self._line(stream, line, first_number + offset, hit, place)
            for pattern in known.near:
                stream.note(pattern, line, self._quality)
        stream.passed(lines)
        self._lines += len(lines)
        if stream.held:
            self._settle(stream, stream.lines, None)
        return self._taken()

    def _others(self, stream: Stream, known: Candidates, text: str, low: str) -> list[Pattern]:
        """Matching patterns that show no failure themselves, where they change anything just now."""
        asked: list[Pattern] = []
        if known.seen and any(pattern.text in self.signals for pattern in known.seen):
            self._index.shrink(known)
        asked += known.seen
        if known.clears and (stream.held or any(rule in stream.live for one in known.clears for rule in one.clears)):
            asked += known.clears
        if known.near and stream.held:
            asked += known.near
        return [one for one in dict.fromkeys(asked) if not one.any and one.search(text, low)] if asked else []

    def look(self, lines: Sequence[str]) -> None:
        """Lines that count as seen and raise nothing: readings pasted beside a log."""
        for offset, known in self._index.hot(lines):
            for pattern in known.seen:
                if pattern.search(lines[offset]):
                    self._signal(pattern, lines[offset])

    def expire(self, now: float) -> list[Hit]:
        """Decide what has waited long enough in a live stream; `now`: Unix seconds of the lines' clock."""
        for stream in self._sources.values():
            if stream.held:
                self._settle(stream, stream.lines, now)
        return self._taken()

    def signals_for(self, rule: str) -> dict[str, str]:
        """Those of `signals` that the conditions of a rule ask for."""
        return {text: self.signals[text] for text in self._book.asked_by(rule) if text in self.signals}

    def close(self) -> Report:
        """Decide all that waits, and tell what was found."""
        for stream in self._sources.values():
            for held in stream.held:
                self._decide(held)
            stream.held = []
        tallies = tuple(counter.tally() for counter in self._counters.values())
        return Report(tallies=tallies, signals=dict(self.signals), lines=self._lines)

    def _signal(self, pattern: Pattern, text: str) -> None:
        if pattern.text not in self.signals:
            self.signals[pattern.text] = text[:LINE_KEPT]
            self._index.spend(pattern)

    def _line(self, stream: Stream, line: Line, number: int, found: Sequence[Pattern], place: Place) -> None:
        held = Held(stream, line.ordinal, number, line.at, line.lines[line.offset])
        hit: set[int] = set()
        for pattern in found:
            hit.update(pattern.any)
            if pattern.seen:
                self._signal(pattern, held.text)
            for rule in pattern.clears:
                if stream.held or rule in stream.live:
                    self._clear(stream, rule, held, pattern.subject(held.text))
        if stream.held:
            near = frozenset(pattern for pattern in found if pattern.near)
            if near:
                self._after(stream, held, near)
        for rule in hit:
            if self._stands_in(rule, place) and not any(one.search(held.text) for one in self._book.unless[rule]):
                self._before(stream, held, rule, line)
        if held.waiting:
            if len(stream.held) >= HELD:
                self._decide(stream.held.pop(0))
            stream.held.append(held)
        elif held.rules:
            self._decide(held)

    def _stands_in(self, rule: int, place: Place) -> bool:
        asked = self._book.rules[rule].match.log
        return "any" in (asked, place) or asked == place

    def _before(self, stream: Stream, held: Held, rule: int, line: Line) -> None:
        """Judge a rule by the line itself and the lines before it."""
        near, unless = self._book.near[rule]
        if unless and (
            any(self._close(rule, held, stream.last(pattern, self._quality)) for pattern in unless)
            or (times_in(held.text) > 1 and self._here(unless, line))
        ):
            return
        if (
            not near
            or self._here(near, line)
            or any(self._close(rule, held, stream.last(pattern, self._quality)) for pattern in near)
        ):
            held.rules.add(rule)
        if unless or rule not in held.rules:
            held.waiting.add(rule)

    def _here(self, patterns: frozenset[Pattern], line: Line) -> bool:
        text = line.lines[line.offset]
        found = [pattern for pattern in patterns if pattern.search(text)]
        return bool(found and line.says(found, self._quality))

    def _after(self, stream: Stream, line: Held, patterns: frozenset[Pattern]) -> None:
        """Tell the lines that wait what came after them."""
        for held in stream.held:
            for rule in tuple(held.waiting):
                near, unless = self._book.near[rule]
                if not self._close(rule, held, line):
                    continue
                if not unless.isdisjoint(patterns):
                    held.waiting.discard(rule)
                    held.rules.discard(rule)
                elif not near.isdisjoint(patterns):
                    held.rules.add(rule)
                    if not unless:
                        held.waiting.discard(rule)

    def _close(self, rule: int, held: Held, other: Line | Held | None) -> bool:
        if other is None:
            return False
        match = self._book.rules[rule].match
        if abs(other.ordinal - held.ordinal) > match.span_lines:
            return False
        return other.at is None or held.at is None or abs(other.at - held.at) <= match.span_s

    def _settle(self, stream: Stream, lines: int, now: float | None) -> None:
        """Decide the lines whose span is over."""
        kept: list[Held] = []
        for held in stream.held:
            for rule in tuple(held.waiting):
                match = self._book.rules[rule].match
                patience = match.span_s if rule not in held.rules else min(PATIENCE_S, match.span_s)
                late = now is not None and held.at is not None and now - held.at > patience
                if late or lines - 1 - held.ordinal >= match.span_lines:
                    held.waiting.discard(rule)
            if held.waiting:
                kept.append(held)
            else:
                self._decide(held)
        stream.held = kept

    def _decide(self, held: Held) -> None:
        """Count a line for its rules, or for the harmless ones alone."""
        rules = self._book.rules
        harmless = {rule for rule in held.rules if rules[rule].severity == "none"}
        certain = {rule for rule in harmless if not _conditional(self._book, rule)}
        told = certain or held.rules
        silencers = frozenset(rules[rule].id for rule in harmless - certain)
        for rule in sorted(told):
            self._count(rule, held, silencers if rule not in harmless else frozenset())

    def _count(self, rule: int, held: Held, silencers: frozenset[str]) -> None:
        key = rule, held.stream.source, silencers
        counter = self._counters.get(key)
        if counter is None:
            if len(self._counters) >= COMBINATIONS:
                return
            known = self._book.rules[rule]
            counter = Counter(known.id, held.stream.source, silencers, known.match.count, known.match.within_s)
            self._counters[key] = counter
        new = counter.add(held.number, held.at, held.text)
        held.stream.live.add(rule)
        if new:
            text, claimed = held.text[:LINE_KEPT], tuple(sorted(silencers))
            self._hits.append(Hit(counter.rule, held.stream.source, held.number, held.at, text, new, silencers=claimed))
        if rule in held.cleared:
            counter.over = True
            self._hits.append(Hit(counter.rule, held.stream.source, held.number, held.at, "", 0, True))

    def _clear(self, stream: Stream, rule: int, held: Held, subject: str) -> None:
        for waiting in stream.held:
            if subject in waiting.text:
                waiting.cleared.add(rule)
        if rule not in stream.live:
            return
        counters = [
            one for (place, source, _), one in self._counters.items() if (place, source) == (rule, stream.source)
        ]
        known = [one for one in counters if not one.over and one.names(subject)]
        for counter in known:
            counter.over = True
        if all(one.over for one in counters):
            stream.live.discard(rule)
        if known:
            name = self._book.rules[rule].id
            self._hits.append(Hit(name, stream.source, held.number, held.at, held.text[:LINE_KEPT], 0, True))

    def _taken(self) -> list[Hit]:
        hits, self._hits = self._hits, []
        return hits


def _conditional(book: CompiledBook, rule: int) -> bool:
    """Whether a harmless rule can turn out not to hold: readings or further lines decide."""
    match = book.rules[rule].match
    return match.when is not None or match.needs is not None or match.count > 1


def scan(book: Book | CompiledBook, text: str, context: str = "") -> Report:
    """Scan one text as a whole; `context` counts as seen only."""
    scanner = Scanner(book)
    if context:
        scanner.look(context.splitlines())
    scanner.feed(text.splitlines())
    return scanner.close()
