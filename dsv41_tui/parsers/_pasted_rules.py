"""What the rules for pasted readings share: sizes as people write them, the notebook, rules by word.

A rule names words, at least one of which stands in every line it reads; a line without any such word is never looked
at. Patterns repeat bounded classes only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dsv41_tui.core.facts import UNLIMITED_BYTES, Fact, Facts

CJK = "~"
"""The word of a line that holds Chinese."""
NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}(?![\d])|\d{1,16}(?:[.,]\d{1,6})?)"
UNIT = r"(?:[KMGT]i?B|[KMGT]i?|bytes?|B)(?![A-Za-z/])"
SIZE = rf"(?<![\w.])(?P<n>{NUMBER})(?:[ \u00a0]?(?P<u>{UNIT}))?(?![\d.]*\d)(?! ?%)"
SIZED = rf"(?<![\w.])(?P<n>{NUMBER})[ \u00a0]?(?P<u>{UNIT})"
GAP = (
    r"[\s:=]{0,30}+(?:[\s:=~≈<>|：＝]|->|→|\([^()\n]{0,24}\)|(?:is|was|are|were|at|of|only|just|about|around|now|still"
    r"|left"
    r"|under|below|near|down|to|reads?|shows?|on|the|has|had|fell|dropped|went|head|worker|node"
    r"|spark-?\w{1,4})(?![A-Za-z])"
    r"|大約|大约|約|约|只剩|剩下|剩|僅|仅|只有|為|为|是|有){0,12}"
)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def number(text: str) -> float:
    """`1.1`, `211,376`, and `1,1` as it is written where the comma is the decimal sign."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text):
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))


def to_bytes(text: str, unit: str | None, bare: Callable[[float], float] | None = None) -> float:
    """GB is 10^9; GiB, Gi and G are 2^30 as the tools print them; kB and K are 1024. `bare` reads a number alone."""
    value = number(text)
    if not unit:
        return (bare or of_a_node)(value)
    low = unit.lower()
    power = _POWERS.get(low[0], 0)
    decimal = low in ("mb", "gb", "tb")
    return round(value * float(1000 if decimal else 1024) ** power)


def of_a_node(value: float) -> float:
    """Memory of a node without a unit, told by its size: GiB, MiB, kB or bytes."""
    power = 3 if value < 4096 else 2 if value < 2_000_000 else 1 if value < 4e9 else 0
    return round(value * 1024.0**power)


@functools.cache
def compiled(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


class Notes:
    """What was read so far, and the lines around the one that is read."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        self.snapshots: list[Facts] = [{}]
        """Readings of memory that belong together: pasted ones, each of one moment of one node."""
        self.logged: Facts = {}
        """Those of the engine's own log: a series, of which the last one counts."""
        self.limits: dict[str, float] = {}
        self.tables: dict[str, list[str]] = {}
        """Column heads that rows below rely on."""
        self.seen: dict[str, set[str]] = {}
        """Distinct values of what is compared: NCCL versions, files that fail."""
        self._said: tuple[int, str] | None = None
        """Which line told which reading last: two forms of one reading can match the same words."""
        self.lines: Sequence[str] = ()
        self.at = 0
        self.number = 0
        """Of the line in the whole text: lines can be read out of their order."""
        self._told: dict[str, int] = {}

    @property
    def line(self) -> str:
        return self.lines[self.at]

    def after(self, count: int) -> Sequence[str]:
        return self.lines[self.at + 1 : self.at + 1 + count]

    def before(self, count: int) -> Sequence[str]:
        return self.lines[max(0, self.at - count) : self.at]

    def put(self, name: str, value: Fact) -> None:
        """The last one counts, by its place in the text."""
        if self.number >= self._told.get(name, 0):
            self._told[name] = self.number
            self.facts[name] = value

    def least(self, name: str, value: float) -> None:
        """Of several nodes the failing one's: the lowest."""
        known = self.facts.get(name, UNLIMITED_BYTES)
        self.facts[name] = min(value, known) if isinstance(known, float | int) else value

    def most(self, name: str, value: float) -> None:
        known = self.facts.get(name, 0)
        self.facts[name] = max(value, known) if isinstance(known, float | int) else value

    def memory(self, name: str, value: float) -> None:
        """A reading of memory; one that is known of this moment begins the next one."""
        if self.snapshots[-1].get(name) == value and self._said == (self.at, name):
            return
        self._said = self.at, name
        if name in self.snapshots[-1]:
            self.snapshots.append({})
            del self.snapshots[1:-64]
        self.snapshots[-1][name] = value

    def distinct(self, name: str, value: str) -> int:
        """How many values of `name` were seen, `value` among them."""
        values = self.seen.setdefault(name, set())
        if len(values) < 64:
            values.add(value)
        return len(values)


Take = Callable[["re.Match[str]", Notes], None]


class Rule(NamedTuple):
    """One form of one reading."""

    words: frozenset[str]
    """Lower case, letters only."""
    text: str
    """A regular expression, upper and lower case alike; compiled when a line asks, since all of them cost 0.2 s."""
    take: Take
    every: bool
    """Whether each line counts; else of lines that differ in numbers only the last one of a batch is read."""


def rule(words: str, pattern: str, take: Take, every: bool = False) -> Rule:
    return Rule(frozenset(words.split()), pattern, take, every)


def says(words: str, pattern: str, name: str, value: Fact) -> Rule:
    """A phrase that is a reading by itself."""
    return rule(words, pattern, lambda match, notes: notes.put(name, value))


def gives(words: str, pattern: str, name: str, scale: float = 1.0) -> Rule:
    """The first group is the number."""
    return rule(words, pattern, lambda match, notes: notes.put(name, number(match[1]) * scale))


def tells(words: str, pattern: str, name: str) -> Rule:
    """The first group is the text."""
    return rule(words, pattern, lambda match, notes: notes.put(name, match[1]))


_LOGGED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,4}(?:\w{3} )?[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|^.{0,40}\bpid=\d"
    r"|^.{0,60}(?-i:\b(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL|FATAL)\b)|^\W{0,2}\[ {0,6}\d{1,8}\.\d{3,6}\]|^\[rank"
    r" ?\d"
    r"|^[EWIF]\d{4} \d\d:|\d\d:\d\d:\d\d[.,]\d{3}|^\s{0,8}File \"|^\s{0,8}[{\[]\"|\"(?:role|content|prompt"
    r"|messages)\" ?:"
    r"|^# (?:HELP|TYPE) |(?-i:\b\w{0,60}[a-z](?:Error|Exception|Warning)\b)|^\s{0,16}[\w.]{2,40}\(\w?[\"']",
    re.IGNORECASE,
)
"""What a program wrote, or a request that it logged: its words are not those of the person who asks."""
_OPEN = re.compile(
    r"\b(?:if|whether|unless|in case|would|could have|might have|should|maybe|perhaps|no idea|not sure|unclear"
    r"|\w{0,6}n't|not|never|wasn't|isn't)\b[^,;.:]{0,32}$|(?:如果|是否|也許|也许|沒|没|不)\w{0,3}$",
    re.IGNORECASE,
)


def is_logged(line: str) -> bool:
    """Whether a program wrote this line."""
    return bool(_LOGGED.search(line[:400]))


def by_person(match: re.Match[str], notes: Notes) -> bool:
    """Whether a person states this: no line of a program, no condition, nothing denied just before it."""
    start = match.start()
    return not is_logged(notes.line) and not _OPEN.search(match.string[max(0, start - 60) : start])


def said(words: str, pattern: str, **facts: Fact) -> Rule:
    """A phrase in a person's words that is a reading by itself, of one fact or of several."""

    def take(match: re.Match[str], notes: Notes) -> None:
        if by_person(match, notes):
            for name, value in facts.items():
                notes.put(name, value)

    return rule(words, pattern, take)
