"""The book made ready for scanning: its patterns, each once, and which of them a line can match at all.

Law: the needles of a pattern are literals that every match holds, so a line without them is not looked at again.
Logs repeat. A line is reduced to its template (lower case, every digit 0), and what a template can match is worked
out once. Of templates that are new only the words that are new are looked into, by their pieces of four characters.
Prices: 0.02 s a MiB for text that never repeats, a third of that for a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dsv41_tui.core.conditions import parse, patterns_used
from dsv41_tui.core.failure import Book, CauseFile, CauseRule, FailureRule
from dsv41_tui.core.pattern import literals, width

GRAM = 4
WORDS_KEPT = 200_000
TEMPLATES_KEPT = 50_000
TEMPLATE_LIMIT = 1024
"""Bytes of a template that is kept; longer ones are worked out each time."""
WINDOW = 8192
"""Characters of a line that is searched as a whole."""
PLACES = 64
"""In a longer line a pattern is looked for round so many places of its needle, the first ones."""
_REPEAT = 200
"""Characters that a repetition without a bound is taken to be long in such a line."""
_TABLE = bytes(
    ord("0") if ord("0") <= code <= ord("9") else code + 32 if ord("A") <= code <= ord("Z") else code
    for code in range(256)
)
_CHUNK = 1 << 16


class Pattern:
    """One pattern, with every use that is made of it. Rules are named by their place in the book."""

    __slots__ = ("_regex", "_width", "any", "clears", "fragments", "near", "needles", "seen", "text", "unless")

    def __init__(self, text: str) -> None:
        self.text = text
        self.needles = tuple(tuple(template(run) for run in runs if run.strip()) for runs in literals(text))
        self.fragments = tuple(
            max((piece for needle in needles for piece in needle.split()), key=len, default=b"")
            for needles in self.needles
        )
        """Of each set of needles the longest word: lines are found by it."""
        self.any: list[int] = []
        self.unless: list[int] = []
        self.near = False
        self.clears: list[int] = []
        self.seen = False
        self._regex: re.Pattern[str] | None = None
        self._width = 0

    def fits(self, line: bytes) -> bool:
        """Whether a template holds all needles of a set in their order."""
        return any(_holds(line, needles) for needles in self.needles)

    def search(self, line: str) -> bool:
        """Whether the pattern matches in `line`; it is compiled when that is first asked."""
        if self._regex is None:
            self._regex = re.compile(self.text, re.IGNORECASE)
            self._width = min(WINDOW, width(self.text, _REPEAT))
        if len(line) <= WINDOW:
            return self._regex.search(line) is not None
        return self._search_long(line, self._regex)

    def _search_long(self, line: str, regex: re.Pattern[str]) -> bool:
        folded = line.translate(_FOLD)
        needles = {max(runs, key=len, default=b"").decode("utf-8", "replace") for runs in self.needles}
        return any(self._search_round(needle, folded, line, regex) for needle in needles)

    def _search_round(self, needle: str, folded: str, line: str, regex: re.Pattern[str]) -> bool:
        place = folded.find(needle)
        for _ in range(PLACES):
            if place < 0:
                return False
            start = max(0, place - self._width)
            if regex.search(line[start : place + WINDOW]):
                return True
            place = folded.find(needle, max(place + 1, place + WINDOW - self._width))
        return False


def _holds(line: bytes, needles: tuple[bytes, ...]) -> bool:
    place = 0
    for needle in needles:
        place = line.find(needle, place)
        if place < 0:
            return False
        place += len(needle)
    return True


_FOLD = {code: _TABLE[code] for code in range(128) if _TABLE[code] != code}


def template(text: str) -> bytes:
    """`text` in lower case with every digit 0, as bytes: what repeats in a log is equal then."""
    return text.encode("utf-8", "replace").translate(_TABLE)


class Index:
    """Patterns by their words, and templates by what they can match."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = patterns
        self._by_gram: dict[bytes, list[tuple[bytes, Pattern]]] = {}
        self._whole: list[Pattern] = []
        for pattern in patterns:
            if min(map(len, pattern.fragments)) < GRAM:
                self._whole.append(pattern)
                continue
            for fragment in pattern.fragments:
                self._by_gram.setdefault(_rarest(fragment), []).append((fragment, pattern))
        self._grams = frozenset(self._by_gram)
        self._dull_words: set[bytes] = set()
        self._hot_words: dict[bytes, tuple[Pattern, ...]] = {}
        self._dull: set[bytes] = set()
        self._hot: dict[bytes, tuple[Pattern, ...]] = {}

    def candidates(self, lines: Sequence[str]) -> list[tuple[int, tuple[Pattern, ...]]]:
        """Places of lines that hold needles, with the patterns that can match there."""
        templates = template("\n".join(lines)).split(b"\n")
        if len(templates) != len(lines):
            templates = [template(line) for line in lines]
        distinct = set(templates)
        passing: dict[bytes, tuple[Pattern, ...]] = {}
        if len(self._dull) + len(self._hot) + len(distinct) > TEMPLATES_KEPT:
            self._dull.clear()
            self._hot.clear()
        fresh = (distinct - self._dull).difference(self._hot)
        if fresh:
            self._learn(fresh, passing)
        if self._hot.keys().isdisjoint(distinct) and not passing:
            return []
        hot = {**passing, **{text: self._hot[text] for text in self._hot.keys() & distinct}}
        return [(place, hot[text]) for place, text in enumerate(templates) if text in hot]

    def _learn(self, fresh: set[bytes], passing: dict[bytes, tuple[Pattern, ...]]) -> None:
        """Work out what new templates can match; long ones are told in `passing` and not kept."""
        block = b"\n".join(fresh)
        words = set(block.split())
        hot_words = self._interesting(words)
        whole = tuple(pattern for pattern in self._whole if pattern.fits(block))
        short = [text for text in fresh if len(text) <= TEMPLATE_LIMIT]
        if not hot_words and not whole:
            self._dull.update(short)
            return
        for text in fresh:
            found: dict[Pattern, None] = dict.fromkeys(whole)
            for word in hot_words.intersection(text.split()):
                found.update(dict.fromkeys(self._hot_words[word]))
            fitting = tuple(pattern for pattern in found if pattern.fits(text))
            if len(text) > TEMPLATE_LIMIT:
                if fitting:
                    passing[text] = fitting
            elif fitting:
                self._hot[text] = fitting
            else:
                self._dull.add(text)

    def _interesting(self, words: set[bytes]) -> set[bytes]:
        """Those of `words` that hold a fragment of a pattern; all are known afterwards."""
        if len(self._dull_words) + len(self._hot_words) > WORDS_KEPT:
            self._dull_words.clear()
            self._hot_words.clear()
        for word in (words - self._dull_words).difference(self._hot_words):
            if found := self._of_word(word):
                self._hot_words[word] = found
            elif len(word) <= TEMPLATE_LIMIT:
                self._dull_words.add(word)
        return words & self._hot_words.keys()

    def _of_word(self, word: bytes) -> tuple[Pattern, ...]:
        if len(word) < GRAM:
            return ()
        grams: set[bytes] = set()
        for start in range(0, len(word), _CHUNK):
            chunk = word[start : start + _CHUNK + GRAM - 1]
            grams |= self._grams.intersection([chunk[i : i + GRAM] for i in range(len(chunk) - GRAM + 1)])
        return tuple(pattern for gram in grams for fragment, pattern in self._by_gram[gram] if fragment in word)


def _rarest(fragment: bytes) -> bytes:
    """The piece of a fragment that stands for it; the end of a word says more than its beginning."""
    return fragment[-GRAM:]


class CompiledBook:
    """A book with its patterns; made once, shared by scanners."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.rules = book.failures
        self._patterns: dict[str, Pattern] = {}
        self.near: list[tuple[frozenset[Pattern], frozenset[Pattern]]] = []
        """Of each rule: its `near` and its `unless_near`."""
        for place, rule in enumerate(self.rules):
            self._add(place, rule)
        for text in _seen(book):
            self._pattern(text).seen = True
        self.patterns = tuple(self._patterns.values())

    def index(self) -> Index:
        return Index(self.patterns)

    def _add(self, place: int, rule: FailureRule) -> None:
        for text in rule.match.any:
            self._pattern(text).any.append(place)
        for text in rule.match.unless:
            self._pattern(text).unless.append(place)
        for text in rule.clears_on:
            self._pattern(text).clears.append(place)
        near = frozenset(self._pattern(text) for text in rule.match.near)
        unless_near = frozenset(self._pattern(text) for text in rule.match.unless_near)
        for pattern in near | unless_near:
            pattern.near = True
        self.near.append((near, unless_near))

    def _pattern(self, text: str) -> Pattern:
        if text not in self._patterns:
            self._patterns[text] = Pattern(text)
        return self._patterns[text]


def _seen(book: Book) -> Iterable[str]:
    """Patterns of every condition of the book."""
    for rule in book.failures:
        match = rule.match
        texts = [*match.reading, *(text for text in (match.when, match.needs) if text)]
        texts += [text for cause in rule.cause for texts_ in conditions_of(cause, None) for text in texts_]
        yield from patterns_used(parse(text) for text in texts)
    for cause_file in book.causes.values():
        texts = [*cause_file.confirmed_by, *cause_file.likely_by, *cause_file.ruled_out_by]
        yield from patterns_used(parse(text) for text in texts)


def conditions_of(rule: CauseRule, file: CauseFile | None) -> tuple[tuple[str, ...], ...]:
    """Conditions that confirm, make likely and rule out; the rule's own, else those of the cause's file."""
    confirmed = rule.confirmed_by if rule.confirmed_by is not None else file.confirmed_by if file else ()
    likely = rule.likely_by if rule.likely_by is not None else file.likely_by if file else ()
    ruled_out = rule.ruled_out_by if rule.ruled_out_by is not None else file.ruled_out_by if file else ()
    return confirmed, likely, ruled_out
