"""The book made ready for scanning: its patterns, each once, and which of them a line can match at all.

Law: the needles of a pattern are literals that every match holds, so a line without them is not looked at again.
Logs repeat. A line is reduced to its template (lower case, every digit 0), and what a template can match is worked
out once. Of templates that are new only the words that are new are looked into, by their pieces of four characters.
Prices: 0.02 s a MiB for text that never repeats, a third of that for a log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from dsv41_tui.core.conditions import parse, patterns_used
from dsv41_tui.core.failure import Book, CauseFile, CauseRule, FailureRule
from dsv41_tui.core.pattern import blind, requirements, width

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
WORDS_AT_ONCE = 64


class Pattern:
    """One pattern, with every use that is made of it. Rules are named by their place in the book."""

    __slots__ = (
        "_blind", "_regex", "_width", "any", "clears", "fragments", "keys", "near", "needles", "seen", "text",
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        self.text = text
        self.needles = tuple(tuple(map(template, texts)) for texts in requirements(text))
        """Of each set a match holds at least one."""
        self.keys: tuple[bytes, ...] = ()
        """The set by which lines are found, and of each of its texts the word that is looked up."""
        self.fragments: tuple[bytes, ...] = ()
        self.any: list[int] = []
        self.near = False
        self.clears: list[int] = []
        self.seen = False
        self._regex: re.Pattern[str] | None = None
        self._width = 0
        self._blind: bool | None = None

    @property
    def blind(self) -> bool:
        """Whether all lines of one template are the same to it."""
        if self._blind is None:
            self._blind = blind(self.text)
        return self._blind

    @property
    def only_seen(self) -> bool:
        return self.seen and not (self.any or self.near or self.clears)

    @property
    def wanted(self) -> bool:
        """Whether it must be found wherever it matches; `unless` is asked only where a rule hits."""
        return bool(self.any or self.near or self.clears or self.seen)

    def fits(self, line: bytes) -> bool:
        """Whether a template holds what a match must hold."""
        for needles in self.needles:  # a loop, since it runs on every new line: generators cost twice as much
            for needle in needles:
                if needle in line:
                    break
            else:
                return False
        return True

    def search(self, line: str) -> bool:
        """Whether the pattern matches in `line`; it is compiled when that is first asked."""
        if self._regex is None:
            self._regex = re.compile(self.text, re.IGNORECASE)
            self._width = min(WINDOW, width(self.text, _REPEAT))
        if len(line) <= WINDOW:
            return self._regex.search(line) is not None
        return self._search_long(line, self._regex)

    def subject(self, line: str) -> str:
        """What the group `on` of the pattern takes in `line`: of whom it speaks; "" where the pattern has none."""
        found = re.search(self.text, line[:WINDOW], re.IGNORECASE) if "(?P<on>" in self.text else None
        return (found["on"] or "") if found is not None else ""

    def _search_long(self, line: str, regex: re.Pattern[str]) -> bool:
        folded = _folded(line)
        needles = (key.decode("utf-8", "replace") for key in self.keys or (b"",))
        return any(self._search_round(needle, folded, line, regex) for needle in needles)

    def _search_round(self, needle: str, folded: str, line: str, regex: re.Pattern[str]) -> bool:
        place = folded.find(needle)
        for _ in range(PLACES):
            if place < 0:
                return False
            if regex.search(line[max(0, place - self._width) : place + self._width]):
                return True
            place = folded.find(needle, place + 1)
        return False


@lru_cache(maxsize=1)
def _folded(line: str) -> str:
    """A long line as needles are written, character by character; once for all patterns."""
    return line.translate(_FOLD)


_FOLD = {code: _TABLE[code] for code in range(128) if _TABLE[code] != code}


def template(text: str) -> bytes:
    """`text` in lower case with every digit 0, as bytes: what repeats in a log is equal then."""
    return text.encode("utf-8", "replace").translate(_TABLE)


class Candidates(NamedTuple):
    """What can match in lines of one template."""

    sure: tuple[Pattern, ...]
    """These match in all of them."""
    open: tuple[Pattern, ...]
    """These must be searched in each, since digits decide."""


class Index:
    """Patterns by their words, and templates by what they can match. One scanner's own: it learns."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._by_gram: dict[int, list[tuple[bytes, Pattern]]] = {}
        self._whole: list[Pattern] = []
        for pattern in patterns:
            if min(map(len, pattern.fragments), default=0) < GRAM:
                self._whole.append(pattern)
                continue
            for fragment in pattern.fragments:
                self._by_gram.setdefault(_code(fragment[-GRAM:]), []).append((fragment, pattern))
        self._grams = frozenset(self._by_gram)
        self._dull_words: set[bytes] = set()
        self._hot_words: dict[bytes, tuple[Pattern, ...]] = {}
        self._dull: set[bytes] = set()
        self._hot: dict[bytes, Candidates] = {}
        self._spent: set[Pattern] = set()

    def matches(self, lines: Sequence[str]) -> list[tuple[int, list[Pattern]]]:
        """Places of lines in which patterns match, with these."""
        templates = template("\n".join(lines)).split(b"\n")
        if len(templates) != len(lines):
            templates = [template(line) for line in lines]
        distinct = set(templates)
        if len(self._dull) + len(self._hot) + len(distinct) > TEMPLATES_KEPT:
            self._dull.clear()
            self._hot.clear()
        fresh = (distinct - self._dull).difference(self._hot)
        passing: dict[bytes, Candidates] = {}
        if fresh:
            self._learn(fresh, dict(zip(templates, lines, strict=True)), passing)
        hot = {text: self._hot[text] for text in self._hot.keys() & distinct} | passing
        if not hot:
            return []
        found = [(place, _found(hot[text], lines[place])) for place, text in enumerate(templates) if text in hot]
        return [(place, patterns) for place, patterns in found if patterns]

    def spend(self, pattern: Pattern) -> None:
        """A pattern that need not be found again."""
        self._spent.add(pattern)
        spent = [text for text, known in self._hot.items() if pattern in known.sure or pattern in known.open]
        for text in spent:
            known = self._hot[text]
            self._keep(text, Candidates(*(tuple(item for item in part if item is not pattern) for part in known)))

    def _keep(self, text: bytes, known: Candidates) -> None:
        self._hot.pop(text, None)
        if known.sure or known.open:
            self._hot[text] = known
        else:
            self._dull.add(text)

    def _learn(self, fresh: set[bytes], lines: dict[bytes, str], passing: dict[bytes, Candidates]) -> None:
        """Work out what new templates can match; long ones are told in `passing` and not kept.

        `lines` has a line of each template.
        """
        block = b"\n".join(fresh)
        hot_words = self._interesting(set(block.split()))
        whole = tuple(pattern for pattern in self._whole if pattern not in self._spent and pattern.fits(block))
        if not hot_words and not whole:
            self._dull.update(text for text in fresh if len(text) <= TEMPLATE_LIMIT)
            return
        for text in fresh:
            found: set[Pattern] = set(whole)
            for word in hot_words.intersection(text.split()):
                found.update(self._hot_words[word])
            known = self._judge(found - self._spent, text, lines[text]) if found else Candidates((), ())
            if len(text) <= TEMPLATE_LIMIT:
                self._keep(text, known)
            elif known.sure or known.open:
                passing[text] = known

    def _judge(self, found: set[Pattern], text: bytes, line: str) -> Candidates:
        fitting = [pattern for pattern in found if pattern.fits(text)]
        if len(text) > TEMPLATE_LIMIT:
            return Candidates((), tuple(fitting))
        sure = tuple(pattern for pattern in fitting if pattern.blind and pattern.search(line))
        return Candidates(sure, tuple(pattern for pattern in fitting if not pattern.blind))

    def _interesting(self, words: set[bytes]) -> set[bytes]:
        """Those of `words` that hold a fragment of a pattern; all are known afterwards."""
        if len(self._dull_words) + len(self._hot_words) > WORDS_KEPT:
            self._dull_words.clear()
            self._hot_words.clear()
        new = list((words - self._dull_words).difference(self._hot_words))
        for start in range(0, len(new), WORDS_AT_ONCE):
            some = new[start : start + WORDS_AT_ONCE]
            if not self._gram_codes(b" ".join(some)):
                self._dull_words.update(word for word in some if len(word) <= TEMPLATE_LIMIT)
                continue
            for word in some:
                if found := self._of_word(word):
                    self._hot_words[word] = found
                elif len(word) <= TEMPLATE_LIMIT:
                    self._dull_words.add(word)
        return words & self._hot_words.keys()

    def _of_word(self, word: bytes) -> tuple[Pattern, ...]:
        near = (item for code in self._gram_codes(word) for item in self._by_gram[code])
        return tuple({pattern: None for fragment, pattern in near if fragment in word})

    def _gram_codes(self, text: bytes) -> set[int]:
        """Pieces of four characters that fragments have, as numbers: these are cut from bytes four times as fast."""
        codes: set[int] = set()
        for start in range(0, len(text), _CHUNK):
            for shift in range(start, start + GRAM):
                end = min(start + _CHUNK + GRAM - 1, len(text))
                piece = text[shift : end - (end - shift) % GRAM]
                codes.update(self._grams.intersection(memoryview(piece).cast("I").tolist()))
        return codes


def _code(gram: bytes) -> int:
    return memoryview(gram).cast("I").tolist()[0]


def _found(known: Candidates, line: str) -> list[Pattern]:
    return [*known.sure, *(pattern for pattern in known.open if pattern.search(line))]


def choose_keys(patterns: Sequence[Pattern]) -> None:
    """Give each pattern the set of texts whose words are rarest: lines that hold them are looked at."""
    words = Counter(word for pattern in patterns for word in {w for texts in pattern.needles for w in _words(texts)})

    def price(word: bytes) -> tuple[bool, bool, int, int]:
        return len(word) < GRAM, word in COMMON, words[word], -len(word)

    for pattern in patterns:
        choices = [tuple(min(text.split(), key=price) for text in texts) for texts in pattern.needles]
        if choices:
            best = min(range(len(choices)), key=lambda place: max(map(price, choices[place])))
            pattern.keys, pattern.fragments = pattern.needles[best], choices[best]


def _words(texts: Iterable[bytes]) -> Iterator[bytes]:
    return (word for text in texts for word in text.split())


COMMON = frozenset(
    b"info warn warning error errors failed nccl nccl_ worker enginecore engine process memory model path status only "
    b"with from could not for net/ib nvrm: exit loading used using available supported size rank vllm cuda".split()
)
"""Words of ordinary lines: a pattern is looked up by another word where it has one."""


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
