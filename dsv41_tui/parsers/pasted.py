"""Readings that somebody pasted, anywhere in free text: `/proc/meminfo`, `free`, `ulimit -l`, `uname -r`, `nvidia-smi`,
`ibstat`, `docker inspect`, `findmnt` and many more, and the same in prose.

Of several values of one reading the last one counts, except where one is plainly the failing node's: the moment with
the least MemFree (all of its readings together), the lowest memlock, an OOMKilled or an empty GID that is true
anywhere, the GPU with the least power under load, a leaked CMA. A reading of the container beats one of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dsv41_tui.core.facts import Facts
from dsv41_tui.parsers._pasted_fabric import RULES as FABRIC
from dsv41_tui.parsers._pasted_files import RULES as FILES
from dsv41_tui.parsers._pasted_limits import RULES as LIMITS
from dsv41_tui.parsers._pasted_machine import RULES as MACHINE
from dsv41_tui.parsers._pasted_memory import RULES as MEMORY
from dsv41_tui.parsers._pasted_memory import settled
from dsv41_tui.parsers._pasted_quality import RULES as QUALITY
from dsv41_tui.parsers._pasted_reach import RULES as REACH
from dsv41_tui.parsers._pasted_rules import CJK, Notes, Rule, compiled, is_logged
from dsv41_tui.parsers._pasted_run import RULES as RUN
from dsv41_tui.parsers._pasted_said import RULES as SAID

RULES: tuple[Rule, ...] = (*MEMORY, *LIMITS, *MACHINE, *FABRIC, *RUN, *FILES, *QUALITY, *SAID, *REACH)
_TOLD = frozenset(range(len(RULES) - len(SAID) - len(REACH), len(RULES)))
"""Rules for what a person tells: no line of a program is shown to them."""
_BY_WORD: dict[str, list[int]] = {}
for _at, _rule in enumerate(RULES):
    for _word in _rule.words:
        _BY_WORD.setdefault(_word, []).append(_at)

_SHAPE = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte == 10 or byte > 127 else 32
    for byte in range(256)
)
_DIGITS = b"0123456789"
_AHEAD = 64
"""Lines that a table or a block can reach below its first line."""
_PIECE = 4000
_KNOWN = 20_000
_TRIALS = 8
_GUARD = b"dsv mem"
"""Letters of the engine's own lines on memory: a series, of which the last one counts."""
_HAN = re.compile("[\u3400-\u9fff]")


def parse_pasted(text: str) -> Facts:
    """The readings of `text` by the names of `core.facts`: bytes, numbers, texts, truths. Empty where it has none."""
    reader = PastedReader()
    reader.feed([line.rstrip("\r") for line in text.split("\n")])
    return reader.facts()


class _Shape:
    """The rules that can read lines of one shape; those that read none of the first lines are dropped."""

    __slots__ = ("every", "last", "matched", "tried")

    def __init__(self, rules: Iterable[int], series: bool) -> None:
        self.every = tuple(number for number in rules if RULES[number].every and not series)
        self.last = tuple(rules)
        self.tried = 0
        self.matched: set[int] = set()

    @property
    def repeats(self) -> bool:
        return self.tried >= _TRIALS and not self.every

    def learned(self, matched: Iterable[int]) -> None:
        if self.tried >= _TRIALS:
            return
        self.matched.update(matched)
        self.tried += 1
        if self.tried == _TRIALS:
            self.every = tuple(number for number in self.every if number in self.matched)
            self.last = tuple(number for number in self.last if number in self.matched)


class PastedReader:
    """The same line by line, for a log of any length.

    Law: a line's shape is its letters; a shape without a rule's word is passed over for good, and of lines of one
    shape in one batch only the last is read unless a rule asks for each. A shape whose first lines a rule could not
    read is not shown to that rule again. So a log that repeats itself costs little more than being split.
    """

    def __init__(self) -> None:
        self._notes = Notes()
        self._kept: list[str] = []
        """Lines that were not read yet, since what follows them was not there."""
        self._known: dict[bytes, _Shape] = {}
        self._later: dict[bytes, tuple[int, str]] = {}
        """Of shapes that repeat, with rules of which the last line counts: that line, with its number."""
        self._done = 0

    def feed(self, lines: Sequence[str]) -> None:
        """Read cleaned lines without line ends."""
        lines = [*self._kept, *lines]
        ready = max(0, len(lines) - _AHEAD)
        self._read(lines, ready)
        self._kept = lines[ready:]

    def facts(self) -> Facts:
        """All that was read; may be asked again after more lines."""
        self._read(self._kept, len(self._kept))
        self._kept = []
        self._catch_up()
        return {**self._notes.facts, **settled(self._notes)}

    def _read(self, lines: Sequence[str], ready: int) -> None:
        shapes = "\n".join(lines[:ready]).encode("utf-8", "replace").translate(_SHAPE, _DIGITS).split(b"\n")
        if len(shapes) != ready:  # no lines, or a line that holds a line feed
            return
        last = dict(zip(shapes, range(ready), strict=True))
        found = {shape: self._shape(shape, lines[at]) for shape, at in last.items()}
        work = {}
        for shape, known in found.items():
            if known.last and known.repeats:
                self._later[shape] = self._done + last[shape], lines[last[shape]]
            elif known.last:
                work[last[shape]] = known
        every = {shape for shape, known in found.items() if known.every}
        if every:
            work |= {at: found[shape] for at, shape in enumerate(shapes) if shape in every}
        self._notes.lines = lines
        for at in sorted(work):
            self._notes.at, self._notes.number = at, self._done + at
            known = work[at]
            is_last = last[shapes[at]] == at
            matched = self._apply(known.last if is_last else known.every, lines[at])
            if is_last:
                known.learned(matched)
        self._done += ready
        if len(self._later) > _KNOWN:
            self._catch_up()

    def _catch_up(self) -> None:
        """Read the lines that were left for later, in their order."""
        for shape, (number, line) in sorted(self._later.items(), key=lambda item: item[1][0]):
            self._notes.lines, self._notes.at, self._notes.number = [line], 0, number
            self._apply(self._shape(shape, line).last, line)
        self._later.clear()

    def _shape(self, shape: bytes, line: str) -> _Shape:
        """Which rules can read lines of this shape."""
        known = self._known.get(shape)
        if known is not None:
            return known
        words = {word.decode("ascii", "replace") for word in shape.split()}
        rules = {number for word in words & _BY_WORD.keys() for number in _BY_WORD[word]}
        if not shape.isascii() and _HAN.search(line):
            rules.update(_BY_WORD[CJK])
        if not rules.isdisjoint(_TOLD) and is_logged(line):
            rules -= _TOLD
        known = _Shape(sorted(rules), _GUARD in shape)
        if len(shape) < _PIECE:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[shape] = known
        return known

    def _apply(self, rules: tuple[int, ...], line: str) -> list[int]:
        """Read one line; gives the rules that found something."""
        pieces = [line] if len(line) <= _PIECE else [line[at : at + _PIECE + 200] for at in range(0, len(line), _PIECE)]
        matched = []
        for number in rules:
            _, text, take, _ = RULES[number]
            pattern = compiled(text)
            for piece in pieces:
                for match in pattern.finditer(piece):
                    take(match, self._notes)
                    matched.append(number)
        return matched
