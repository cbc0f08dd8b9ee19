"""The language of conditions of the failure book: `TERM and TERM and ...`, parsed once, true, false or unknown.

A term is `FACT OP VALUE`, `FACT` or `not FACT` for a truth, `seen /regex/` or `not seen /regex/`. OP is one of
`< <= > >= == !=`, or `~ /regex/` for texts. VALUE: a number with a unit, a word, "a text", or another
FACT, optionally `FACT * 0.5`.

A condition on an absent fact is unknown; whether a line was seen is never unknown. Texts that begin with a digit are
compared as versions, by as many numbers as the condition names: `kernel >= 7.0`.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.facts import FACTS, FRACTIONS, Fact, Facts

Truth = bool | None
Seen = Callable[[str], bool]
"""Whether a line matched this pattern."""


class Term(NamedTuple):
    """One comparison."""

    fact: str
    """Empty for `seen`."""
    op: str
    """A comparison, `is` for a truth, `~` for a text, `seen`."""
    value: float | str | bool = True
    """The pattern of `~` and `seen`, else what the fact is compared with."""
    other: str | None = None
    """Another fact in place of the value, times `value`."""
    negated: bool = False


Condition = tuple[Term, ...]
"""Terms that must all be true."""

_UNITS: dict[str, float] = {
    "": 1, "B": 1, "kB": 1 << 10, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "%": 1, "s": 1,
}  # fmt: skip
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_TOKEN = re.compile(
    r"""\s*(?: /(?P<regex>(?:\\.|[^/\\])+)/ | "(?P<text>[^"]*)" | (?P<op><=|>=|==|!=|<|>|~|\*)
    | (?P<word>[^\s<>=!~*"/]+|%) )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)([A-Za-z%]*)")


@lru_cache(maxsize=4096)
def parse(text: str) -> Condition:
    """Read a condition. Raises ParseError with one line that says what is wrong with it."""
    text = " ".join(text.splitlines())
    tokens = _tokens(text)
    terms: list[Term] = []
    while tokens:
        if terms and tokens.pop(0) != ("word", "and"):
            raise ParseError(f'"and" is missing in the condition: {text}')
        terms.append(_term(tokens, text))
    if not terms:
        raise ParseError("the condition is empty")
    return tuple(terms)


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    place = 0
    end = len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            raise ParseError(f"not understood from here on: {text[place:].strip()}")
        kind = found.lastgroup or ""
        tokens.append((kind, found[kind]))
        place = found.end()
    return tokens


def _term(tokens: list[tuple[str, str]], text: str) -> Term:
    negated = tokens[:1] == [("word", "not")]
    if negated:
        tokens.pop(0)
    kind, name = tokens.pop(0) if tokens else ("", "")
    if kind != "word" or name == "and":
        raise ParseError(f"a fact is missing in the condition: {text}")
    if name == "seen":
        return Term("", "seen", _regex(tokens, text), negated=negated)
    if name not in FACTS:
        raise ParseError(f"no such fact: {name}")
    if tokens and tokens[0][0] == "op":
        if negated:
            raise ParseError(f'"not" stands only before a truth or "seen": {text}')
        return _comparison(name, tokens.pop(0)[1], tokens, text)
    if FACTS[name] != "truth":
        raise ParseError(f"{name} is no truth: compare it with something")
    return Term(name, "is", not negated)


def _regex(tokens: list[tuple[str, str]], text: str) -> str:
    kind, value = tokens.pop(0) if tokens else ("", "")
    if kind != "regex":
        raise ParseError(f"a /regular expression/ is missing in the condition: {text}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(value, re.IGNORECASE)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        raise ParseError(f"not a regular expression: {error}: /{value}/") from error
    return value.replace("\\/", "/")


def _comparison(name: str, op: str, tokens: list[tuple[str, str]], text: str) -> Term:
    sort = FACTS[name]
    if op == "~":
        if sort != "text":
            raise ParseError(f"~ is for texts, and {name} is none")
        return Term(name, op, _regex(tokens, text))
    kind, value = tokens.pop(0) if tokens else ("", "")
    if kind not in ("word", "text") or op not in _COMPARE:
        raise ParseError(f"a value is missing after {name} {op}")
    if sort == "truth":
        if op not in ("==", "!=") or value not in ("true", "false"):
            raise ParseError(f"{name} is a truth: write {name} or not {name}")
        return Term(name, "is", (value == "true") == (op == "=="))
    if kind == "word" and value in FACTS and (FACTS[value] == "text") == (sort == "text") and FACTS[value] != "truth":
        return Term(name, op, _factor(tokens, text), other=value)
    if sort == "text":
        return Term(name, op, value)
    return Term(name, op, _number(name, value, tokens, text))


def _factor(tokens: list[tuple[str, str]], text: str) -> float:
    if tokens[:1] != [("op", "*")]:
        return 1.0
    tokens.pop(0)
    kind, value = tokens.pop(0) if tokens else ("", "")
    if kind != "word" or not re.fullmatch(r"\d+(?:\.\d+)?", value):
        raise ParseError(f"a number is missing after * in the condition: {text}")
    return float(value)


def _number(name: str, value: str, tokens: list[tuple[str, str]], text: str) -> float:
    if value == "unlimited":
        return math.inf
    found = _NUMBER.fullmatch(value)
    if found is None:
        raise ParseError(f"{name} is compared with a number, not with {value}")
    unit = found[2]
    if not unit and tokens and tokens[0][0] == "word" and tokens[0][1] != "and":
        unit = tokens.pop(0)[1]
    if unit not in _UNITS or (unit not in ("", "%", "s")) != (FACTS[name] == "bytes" and unit != ""):
        raise ParseError(f"{unit} is no unit for {name}: {text}")
    number = float(found[1]) * _UNITS[unit]
    return number / 100 if unit == "%" and name in FRACTIONS else number


def evaluate(condition: Condition, facts: Facts, seen: Seen) -> Truth:
    """True when all terms are; False when one is false; else None."""
    unknown = False
    for term in condition:
        truth = _truth(term, facts, seen)
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def _truth(term: Term, facts: Facts, seen: Seen) -> Truth:
    if term.op == "seen":
        return seen(str(term.value)) != term.negated
    left = facts.get(term.fact)
    right: Fact | None = term.value
    if term.other is not None:
        right = facts.get(term.other)
        if isinstance(right, float | int) and not isinstance(right, bool):
            right = right * float(term.value)
    if left is None or right is None:
        return None
    if term.op == "is":
        return left is right if isinstance(left, bool) else None
    if isinstance(left, str) and isinstance(right, str):
        return _texts(left, term.op, right)
    if isinstance(left, str | bool) or isinstance(right, str | bool) or math.isnan(left) or math.isnan(right):
        return None
    return _COMPARE[term.op](left, right)


def _texts(left: str, op: str, right: str) -> Truth:
    if op == "~":
        return _compiled(right).search(left) is not None
    if re.match(r"[vV]?\d", right):
        mine, other = version(left), version(right)
        if not mine:
            return None
        mine = (*mine, *[0] * len(other))[: len(other)]
        return _COMPARE[op](_order(mine, other), 0)
    if op in ("==", "!="):
        return (left.casefold() == right.casefold()) == (op == "==")
    return None


def _order(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return (left > right) - (left < right)


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version from its first digit on: `v6.17.0-1029-nvidia` gives 6, 17, 0, 1029."""
    found = re.search(r"\d+(?:[.\-+_]\d+)*", text[:200])
    return tuple(int(part[:18]) for part in re.findall(r"\d+", found[0])) if found else ()


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def facts_used(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Names of the facts that these speak of, each once, in order."""
    return tuple(dict.fromkeys(name for condition in conditions for name in _names(condition)))


def _names(condition: Condition) -> Iterator[str]:
    for term in condition:
        if term.fact:
            yield term.fact
        if term.other is not None:
            yield term.other


def patterns_used(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Patterns of `seen` and `not seen`, each once, in order."""
    found = (str(term.value) for condition in conditions for term in condition if term.op == "seen")
    return tuple(dict.fromkeys(found))
