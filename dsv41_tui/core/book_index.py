"""The book made ready for scanning: its patterns, each once, with every use that rules make of them."""

from __future__ import annotations

from collections.abc import Mapping

from dsv41_tui.core.book_lookup import Index, choose_keys
from dsv41_tui.core.book_pattern import Pattern
from dsv41_tui.core.conditions import parse, patterns_used
from dsv41_tui.core.failure import Book, CauseFile, CauseRule, FailureRule


class CompiledBook:
    """A book with its patterns; made once, shared by scanners."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.rules = book.failures
        self._patterns: dict[str, Pattern] = {}
        self.unless: list[tuple[Pattern, ...]] = []
        """Of each rule."""
        self.near: list[tuple[frozenset[Pattern], frozenset[Pattern]]] = []
        """Of each rule: its `near` and its `unless_near`."""
        for place, rule in enumerate(self.rules):
            self._add(place, rule)
        self._asked = {rule.id: _asked(rule, book.causes) for rule in self.rules}
        for text in {text for texts in self._asked.values() for text in texts}:
            self._pattern(text).seen = True
        self.patterns = tuple(self._patterns.values())
        choose_keys(self.patterns)

    def index(self) -> Index:
        """A new index of the patterns that must be found."""
        return Index([pattern for pattern in self.patterns if pattern.wanted])

    def of_quality(self) -> frozenset[Pattern]:
        """Patterns of rules that look at what a model answered."""
        return frozenset(one for one in self.patterns if any(self.rules[place].layer == "quality" for place in one.any))

    def harmless(self) -> frozenset[Pattern]:
        """Patterns that only show harmless lines: whether such a line is quoted makes no difference."""
        return frozenset(
            one
            for one in self.patterns
            if one.any
            and not (one.seen or one.near or one.clears)
            and all(self.rules[place].severity == "none" for place in one.any)
        )

    def asked_by(self, rule: str) -> tuple[str, ...]:
        """Patterns of `seen` that decide in this rule."""
        return self._asked.get(rule, ())

    def _add(self, place: int, rule: FailureRule) -> None:
        for text in rule.match.any:
            self._pattern(text).any.append(place)
        self.unless.append(tuple(self._pattern(text) for text in rule.match.unless))
        for text in rule.clears_on:
            self._pattern(text).clears.append(place)
        near = frozenset(self._pattern(text) for text in rule.match.near)
        unless_near = frozenset(self._pattern(text) for text in rule.match.unless_near)
        for pattern in near | unless_near:
            pattern.near = True
            pattern.span = max(pattern.span, rule.match.span_lines)
        self.near.append((near, unless_near))

    def _pattern(self, text: str) -> Pattern:
        if text not in self._patterns:
            self._patterns[text] = Pattern(text)
        return self._patterns[text]


def _asked(rule: FailureRule, causes: Mapping[str, CauseFile]) -> tuple[str, ...]:
    """Patterns of `seen` in every condition that a rule depends on."""
    match = rule.match
    texts = [*match.reading, *(text for text in (match.when, match.needs) if text)]
    for cause in rule.cause:
        texts += [text for group in conditions_of(cause, causes.get(cause.id)) for text in group]
    return patterns_used(map(parse, texts))


def conditions_of(rule: CauseRule, file: CauseFile | None) -> tuple[tuple[str, ...], ...]:
    """Conditions that confirm, make likely and rule out; the rule's own, else those of the cause's file."""
    confirmed = rule.confirmed_by if rule.confirmed_by is not None else file.confirmed_by if file else ()
    likely = rule.likely_by if rule.likely_by is not None else file.likely_by if file else ()
    ruled_out = rule.ruled_out_by if rule.ruled_out_by is not None else file.ruled_out_by if file else ()
    return confirmed, likely, ruled_out
