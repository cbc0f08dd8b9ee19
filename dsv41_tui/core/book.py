"""Scanning: lines in, failures of the book out; whole logs and live streams alike.

A line counts for a rule when it matches one of `any` and none of `unless`, and when `near` and `unless_near` agree,
which look before and after, in lines of the same source, and where lines carry times in seconds too. A line that has
to wait for what comes after it is held; `Scanner.feed` gives each hit when it is decided. A harmless rule (gravity
`none`) takes its lines from all others. Memory is bounded: counts, first lines, and at most `HELD` lines that wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dsv41_tui.core.book_index import CompiledBook, Pattern
from dsv41_tui.core.book_tally import LINE_KEPT, Counter, Hit, Tally, times_in
from dsv41_tui.core.failure import Book
from dsv41_tui.core.quoted import LOOK_BACK, is_reply, unquoted
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


class _Held:
    """A line with rules that wait for lines after it."""

    __slots__ = ("at", "cleared", "number", "ordinal", "rules", "source", "text", "waiting")

    def __init__(self, source: str, ordinal: int, number: int, at: float | None, text: str) -> None:
        self.source, self.ordinal, self.number, self.at, self.text = source, ordinal, number, at, text
        self.rules: set[int] = set()
        """Rules that count, as far as is known; those that wait for `near` are not among them."""
        self.waiting: set[int] = set()
        self.cleared: set[int] = set()
        """Rules of which a later line says that it is over."""


class _Source:
    """Where a stream of lines stands."""

    __slots__ = ("held", "lines", "seen_at", "tail")

    def __init__(self) -> None:
        self.lines = 0
        self.held: list[_Held] = []
        self.seen_at: dict[Pattern, tuple[int, float | None]] = {}
        """Where each pattern of `near` and `unless_near` matched last."""
        self.tail: list[str] = []
        """The last lines before those that come next."""


class Scanner:
    """Reads lines batch by batch. Live, use one a node: what is `seen` in its logs decides for that node."""

    def __init__(self, book: Book | CompiledBook) -> None:
        self._book = book if isinstance(book, CompiledBook) else CompiledBook(book)
        self._index = self._book.index()
        self._sources: dict[str, _Source] = {}
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
        stream = self._sources.setdefault(source, _Source())
        for offset, found in self._index.matches(lines):
            said = self._said(stream, lines, offset, found)
            if not said:
                continue
            time = at[offset] if at is not None else None
            held = _Held(source, stream.lines + offset, first_number + offset, time, lines[offset])
            self._line(stream, held, said, place)
        stream.tail = [*stream.tail, *lines[-LOOK_BACK:]][-LOOK_BACK:]
        stream.lines += len(lines)
        self._lines += len(lines)
        if stream.held:
            self._settle(stream, stream.lines, None)
        return self._taken()

    def look(self, lines: Sequence[str]) -> None:
        """Lines that count as seen and raise nothing: readings pasted beside a log."""
        for offset, found in self._index.matches(lines):
            for pattern in found:
                if pattern.seen:
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
        if pattern.text in self.signals:
            return
        self.signals[pattern.text] = text[:LINE_KEPT]
        if pattern.only_seen:
            self._index.spend(pattern)

    def _said(self, stream: _Source, lines: Sequence[str], offset: int, found: list[Pattern]) -> list[Pattern]:
        """Those of the patterns that match what the line says itself, not what it quotes."""
        line = lines[offset]
        told = unquoted(line, lambda: (stream.tail + list(lines[max(0, offset - LOOK_BACK) : offset]))[-LOOK_BACK:])
        if told is line:
            return found
        reply = is_reply(line)
        return [one for one in found if (told and one.search(told)) or (reply and self._of_quality(one))]

    def _of_quality(self, pattern: Pattern) -> bool:
        return any(self._book.rules[rule].layer == "quality" for rule in pattern.any)

    def _line(self, stream: _Source, held: _Held, found: Sequence[Pattern], place: Place) -> None:
        hit: set[int] = set()
        for pattern in found:
            hit.update(pattern.any)
            if pattern.seen:
                self._signal(pattern, held.text)
            for rule in pattern.clears:
                self._clear(stream, rule, held, pattern.subject(held.text))
        near = frozenset(pattern for pattern in found if pattern.near)
        if near and stream.held:
            self._after(stream, held, near)
        for rule in hit:
            if self._stands_in(rule, place) and not any(one.search(held.text) for one in self._book.unless[rule]):
                self._before(stream, held, rule, near)
        for pattern in near:
            stream.seen_at[pattern] = held.ordinal, held.at
        if held.waiting:
            if len(stream.held) >= HELD:
                self._decide(stream.held.pop(0))
            stream.held.append(held)
        elif held.rules:
            self._decide(held)

    def _stands_in(self, rule: int, place: Place) -> bool:
        asked = self._book.rules[rule].match.log
        return "any" in (asked, place) or asked == place

    def _before(self, stream: _Source, held: _Held, rule: int, here: frozenset[Pattern]) -> None:
        """Judge a rule by the line itself and the lines before it."""
        near, unless = self._book.near[rule]
        if unless and (
            any(self._close(rule, held, stream.seen_at.get(pattern)) for pattern in unless)
            or (times_in(held.text) > 1 and not unless.isdisjoint(here))
        ):
            return
        found = not near or not near.isdisjoint(here)
        if found or any(self._close(rule, held, stream.seen_at.get(pattern)) for pattern in near):
            held.rules.add(rule)
        if unless or rule not in held.rules:
            held.waiting.add(rule)

    def _after(self, stream: _Source, line: _Held, patterns: frozenset[Pattern]) -> None:
        """Tell the lines that wait what came after them."""
        for held in stream.held:
            for rule in tuple(held.waiting):
                near, unless = self._book.near[rule]
                if not self._close(rule, held, (line.ordinal, line.at)):
                    continue
                if not unless.isdisjoint(patterns):
                    held.waiting.discard(rule)
                    held.rules.discard(rule)
                elif not near.isdisjoint(patterns):
                    held.rules.add(rule)
                    if not unless:
                        held.waiting.discard(rule)

    def _close(self, rule: int, line: _Held, other: tuple[int, float | None] | None) -> bool:
        if other is None:
            return False
        match = self._book.rules[rule].match
        ordinal, at = other
        if abs(ordinal - line.ordinal) > match.span_lines:
            return False
        return at is None or line.at is None or abs(at - line.at) <= match.span_s

    def _settle(self, stream: _Source, lines: int, now: float | None) -> None:
        """Decide the lines whose span is over."""
        kept: list[_Held] = []
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

    def _decide(self, held: _Held) -> None:
        """Count a line for its rules, or for the harmless ones alone."""
        rules = self._book.rules
        harmless = {rule for rule in held.rules if rules[rule].severity == "none"}
        certain = {rule for rule in harmless if not _conditional(self._book, rule)}
        told = certain or held.rules
        silencers = frozenset(rules[rule].id for rule in harmless - certain)
        for rule in sorted(told):
            self._count(rule, held, silencers if rule not in harmless else frozenset())

    def _count(self, rule: int, held: _Held, silencers: frozenset[str]) -> None:
        key = rule, held.source, silencers
        counter = self._counters.get(key)
        if counter is None:
            if len(self._counters) >= COMBINATIONS:
                return
            known = self._book.rules[rule]
            counter = Counter(known.id, held.source, silencers, known.match.count, known.match.within_s)
            self._counters[key] = counter
        new = counter.add(held.number, held.at, held.text)
        if new:
            text, claimed = held.text[:LINE_KEPT], tuple(sorted(silencers))
            self._hits.append(Hit(counter.rule, held.source, held.number, held.at, text, new, silencers=claimed))
        if rule in held.cleared:
            counter.over = True
            self._hits.append(Hit(counter.rule, held.source, held.number, held.at, "", 0, True))

    def _clear(self, stream: _Source, rule: int, held: _Held, subject: str) -> None:
        for waiting in stream.held:
            if subject in waiting.text:
                waiting.cleared.add(rule)
        known = False
        for (place, source, _), counter in self._counters.items():
            if place == rule and source == held.source and not counter.over and counter.names(subject):
                counter.over = known = True
        if known:
            name = self._book.rules[rule].id
            self._hits.append(Hit(name, held.source, held.number, held.at, held.text[:LINE_KEPT], 0, True))

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
