"""Which patterns of the book a line can match at all, at the price of a few look-ups a line.

Logs repeat. A line is reduced to its template (lower case, no digits), and what a template can match is worked out
once. A template that is new is reduced once more, without hexadecimal names; of one that is new even then its words
(runs of letters) are looked up: most patterns hold a whole word, and whether a word holds a part of one of the others
is worked out once a word, by its pieces of four characters.
Prices on one core: 10 ms a MiB for a log, 100 ms a MiB for text that never repeats.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter

from dsv41_tui.core.book_pattern import (
    PIECE,
    Pattern,
    folded,
    lowered,
    nameless,
    needle,
    pieces,
    template,
    without_digits,
)
from dsv41_tui.core.pattern import EDGE

GRAM = 4
WORDS_KEPT = 200_000
WORD_LIMIT = 64
TEMPLATES_KEPT = 50_000
TEMPLATE_LIMIT = 1024
"""Bytes of a template that is kept; longer ones are worked out each time."""
_BLOCK = 4096
"""Bytes of words that are cut into pieces at once."""
_LETTERS = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))


class Candidates:
    """What lines of one template can match, by what a match is good for."""

    __slots__ = ("any", "clears", "near", "seen")

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        found = tuple(patterns)
        self.any = tuple(pattern for pattern in found if pattern.any)
        self.near = tuple(pattern for pattern in found if pattern.near)
        self.clears = tuple(pattern for pattern in found if pattern.clears)
        self.seen = tuple(pattern for pattern in found if pattern.seen)
        """Shrinks: one that was seen need not be found again."""

    def every(self) -> set[Pattern]:
        return {*self.any, *self.near, *self.clears, *self.seen}


_Known = dict[bytes, Candidates | None]


class Index:
    """Patterns by their words, and templates by what they can match. One scanner's own: it learns."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._by_word: dict[bytes, list[Pattern]] = {}
        self._by_gram: dict[int, list[tuple[bytes, Pattern]]] = {}
        self._short: list[tuple[bytes, Pattern]] = []
        self._wordless: list[Pattern] = []
        """Patterns with marks, which no word finds and which are looked for in each batch."""
        for pattern in patterns:
            self._add(pattern)
        self._grams = frozenset(self._by_gram)
        self._dull_words: set[bytes] = set()
        self._hot_words: dict[bytes, tuple[Pattern, ...]] = {}
        self._templates: _Known = {}
        self._nameless: _Known = {}
        self._spent: set[Pattern] = set()

    def _add(self, pattern: Pattern) -> None:
        if pattern.marks:
            self._wordless.append(pattern)
        for part, exact in pattern.finders:
            if not exact and len(part) < GRAM:
                self._short.append((part, pattern))
            elif exact:
                self._by_word.setdefault(part, []).append(pattern)
            else:
                self._by_gram.setdefault(_code(part[-GRAM:]), []).append((part, pattern))

    def hot(self, lines: Sequence[str]) -> list[tuple[int, Candidates]]:
        """Places of lines that patterns can match, with these."""
        block = lowered("\n".join(lines))
        templates = without_digits(block).split(b"\n")
        if len(templates) != len(lines):
            templates = [template(line) for line in lines]
        distinct = set(templates)
        known = self._templates
        if len(known) + len(distinct) > TEMPLATES_KEPT:
            known.clear()
        fresh = distinct - known.keys()
        long: set[bytes] = set()
        if fresh:
            long = {text for text in fresh if len(text) > TEMPLATE_LIMIT}
            short = fresh - long
            self._learn({text: line for text, line in zip(templates, lines, strict=True) if text in short})
        found = [(place, item) for place, item in enumerate(map(known.get, templates)) if item is not None]
        if more := self._marked(lines, block):
            found = _joined(found, more)
        if long:
            passing = ((place, self._passing(lines[place])) for place, text in enumerate(templates) if text in long)
            found += [(place, item) for place, item in passing if item is not None]
            found.sort(key=itemgetter(0))
        return found

    def _marked(self, lines: Sequence[str], block: bytes) -> dict[int, set[Pattern]]:
        """By place, patterns of which a mark and all other literals stand in the line."""
        more: dict[int, set[Pattern]] = {}
        starts: list[int] = []
        for pattern in self._wordless:
            if self._done(pattern):
                continue
            for mark in pattern.marks:
                place = block.find(mark)
                while place >= 0:
                    starts = starts or _starts(lines)
                    at = bisect_right(starts, place) - 1
                    end = starts[at + 1] - 1
                    if pattern.holds(block[starts[at] : end]):
                        more.setdefault(at, set()).add(pattern)
                    place = block.find(mark, end)
        return more

    def _done(self, pattern: Pattern) -> bool:
        return pattern in self._spent and pattern.only_seen

    def spend(self, pattern: Pattern) -> None:
        """A pattern of `seen` that need not be found again."""
        self._spent.add(pattern)

    def shrink(self, known: Candidates) -> None:
        """Forget what was seen."""
        known.seen = tuple(pattern for pattern in known.seen if pattern not in self._spent)
        if not (known.seen or known.any or known.near or known.clears):
            for kept in (self._templates, self._nameless):
                kept.update(dict.fromkeys([text for text, item in kept.items() if item is known], None))

    def _learn(self, fresh: dict[bytes, str]) -> None:
        """Work out what new templates can match, each by one of its lines."""
        known = self._nameless
        if len(known) + len(fresh) > TEMPLATES_KEPT:
            known.clear()
        shapes = nameless("\n".join(fresh.values())).split(b"\n")
        if len(shapes) != len(fresh):
            shapes = [nameless(line).replace(b"\n", b" ") for line in fresh.values()]
        new = set(shapes) - known.keys()
        if new:
            hot = self._meet(set(b"\n".join(new).translate(_LETTERS).split()))
            for shape in new:
                known[shape] = self._judged(shape, hot)
        for text, shape in zip(fresh, shapes, strict=True):
            self._templates[text] = known[shape]

    def _passing(self, line: str) -> Candidates | None:
        """Of one line that is not kept; of a very long one what does match, piece by piece."""
        if len(line) <= PIECE:
            return self._alone(line)
        low = folded(line)
        found: set[Pattern] = set()
        for start, end, before in pieces(len(line)):
            known = self._alone(line[start:end])
            if known is not None:
                every = known.every() - found
                found.update(one for one in every if one.within(line, low, start, min(end, len(line)), before))
        return Candidates(found) if found else None

    def _alone(self, line: str) -> Candidates | None:
        shape = nameless(line)
        return self._judged(shape, self._meet(set(shape.translate(_LETTERS).split())))

    def _judged(self, shape: bytes, hot: dict[bytes, tuple[Pattern, ...]]) -> Candidates | None:
        found: set[Pattern] = set()
        for word in hot.keys() & set(shape.translate(_LETTERS).split()):
            found.update(hot[word])
        fitting = [one for one in found if one.fits(shape) and not self._done(one)]
        return Candidates(fitting) if fitting else None

    def _meet(self, words: set[bytes]) -> dict[bytes, tuple[Pattern, ...]]:
        """Those of `words` by which patterns go, with these."""
        dull, hot = self._dull_words, self._hot_words
        if len(dull) + len(hot) + len(words) > WORDS_KEPT:
            dull.clear()
            hot.clear()
        found: dict[bytes, dict[Pattern, None]] = {}
        new = (words - dull).difference(hot)
        for word in self._by_word.keys() & new:
            found[word] = dict.fromkeys(self._by_word[word])
        for text in _blocks(b" ".join(new)):
            near = [item for code in self._codes(text) for item in self._by_gram[code]]
            for part, pattern in (*near, *self._short):
                for word in _words_with(part, text):
                    found.setdefault(word, {})[pattern] = None
        made = {word: tuple(patterns) for word, patterns in found.items()}
        hot.update((word, patterns) for word, patterns in made.items() if len(word) <= WORD_LIMIT)
        if new and max(map(len, new)) > WORD_LIMIT:
            new = {word for word in new if len(word) <= WORD_LIMIT}
        dull |= new - made.keys()
        made.update((word, hot[word]) for word in hot.keys() & words)
        return made

    def _codes(self, text: bytes) -> set[int]:
        """Pieces of four characters that patterns go by, as numbers: these are cut from bytes four times as fast."""
        codes: set[int] = set()
        for shift in range(GRAM):
            piece = text[shift : len(text) - (len(text) - shift) % GRAM]
            codes.update(self._grams.intersection(memoryview(piece).cast("I").tolist()))
        return codes


def _starts(lines: Sequence[str]) -> list[int]:
    """Where each line begins in the bytes of them all, and where one more would."""
    return [0, *accumulate(1 + (len(line) if line.isascii() else len(lowered(line))) for line in lines)]


def _joined(found: list[tuple[int, Candidates]], more: dict[int, set[Pattern]]) -> list[tuple[int, Candidates]]:
    known: dict[int, Candidates] = dict(found)
    for place, patterns in more.items():
        known[place] = Candidates(patterns | known[place].every() if place in known else patterns)
    return sorted(known.items(), key=itemgetter(0))


def _blocks(words: bytes) -> Iterator[bytes]:
    """Words with blanks between them, in blocks of whole words."""
    start = 0
    while start < len(words):
        end = words.find(b" ", start + _BLOCK)
        end = end if end >= 0 else len(words)
        yield words[start:end]
        start = end + 1


def _words_with(part: bytes, text: bytes) -> Iterator[bytes]:
    place = text.find(part)
    while place >= 0:
        end = text.find(b" ", place)
        end = end if end >= 0 else len(text)
        yield text[text.rfind(b" ", 0, place) + 1 : end]
        place = text.find(part, end)


def _code(gram: bytes) -> int:
    return memoryview(gram).cast("I").tolist()[0]


def choose_keys(patterns: Sequence[Pattern]) -> None:
    """Give each pattern what lines are found by: the set of texts whose words are rarest, whole ones first."""
    words: Counter[bytes] = Counter()
    choices: list[list[list[list[_Part]]]] = []
    for pattern in patterns:
        texts = [tuple(map(needle, texts)) for texts in pattern.literals]
        pattern.needles = tuple(
            tuple(template(text.replace(EDGE, "")) for text in one) for one in texts if all(t.strip(EDGE) for t in one)
        )
        choices.append([[_parts(text) for text in one] for one in texts])
        words.update({part for one in choices[-1] for parts in one for part, _ in parts})

    def price(choice: _Part) -> _Price:
        part, exact = choice
        return not exact and len(part) < GRAM, part in COMMON, not exact, words[part], -len(part)

    for pattern, sets in zip(patterns, choices, strict=True):
        pattern.exact = tuple(tuple(lowered(text.replace(EDGE, "")) for text in one) for one in pattern.literals)
        ways = [
            [(text, min(filter(_tells, parts), key=price, default=None)) for text, parts in zip(*one, strict=True)]
            for one in zip(pattern.exact, sets, strict=True)
        ]
        if ways:
            way = min(ways, key=lambda way: _price(way, price))
            pattern.finders = tuple(part for _, part in way if part is not None)
            pattern.marks = tuple(text for text, part in way if part is None)
            key = max(pattern.exact, key=lambda texts: min(map(len, texts)))
            pattern.keys = tuple(text.decode("utf-8", "replace") for text in key)


_Part = tuple[bytes, bool]
_Price = tuple[bool, bool, bool, int, int]


def _price(way: list[tuple[bytes, _Part | None]], price: Callable[[_Part], _Price]) -> tuple[bool, int, list[_Price]]:
    """Of finding lines by these texts, each by a part of a word or, without one, as it is."""
    bare = [text for text, part in way if part is None]
    worst = max((price(part) for _, part in way if part is not None), default=None)
    return any(len(text) < 3 for text in bare), len(bare), [worst] if worst else []


def _tells(choice: _Part) -> bool:
    """Whether a part of a word tells lines apart at all."""
    return len(choice[0]) >= 2


def _parts(text: str) -> list[_Part]:
    """The runs of letters of a literal, and whether each is the whole word in every line."""
    reduced = template(text).translate(_LETTERS)
    runs = reduced.split(b" ")
    last = len(runs) - 1
    return [(run, 0 < place < last) for place, run in enumerate(runs) if run]


COMMON = frozenset(
    b"info warn warning error errors failed nccl worker enginecore engine process memory model path status only with "
    b"from could not for net ib nvrm exit loading used using available supported size rank vllm cuda is the to of in "
    b"no a on device pid py file line kernel server request get post".split()
)
"""Words of ordinary lines: a pattern is looked up by another word where it has one."""
