"""What is typed after `/` in the log: text, `!text` for lines without it, `/regex/`; capitals make case matter.

A pattern that could backtrack without bound is refused, since one line of a node could then hold up the panel: no
repeat or choice inside a repeat, a bounded product of all repeats, and only the beginning of a line is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

TEXT_MOST = 16_384
"""Characters of a line that plain text is looked for in."""
REGEX_MOST = 1_000
TRIES_MOST = 4_000_000
"""Ways in which the repeats of a pattern can share a line: two endless ones and two choices."""
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


class QueryError(Exception):
    """What is wrong with a pattern, as a key of the catalogue."""


@dataclass(frozen=True)
class Query:
    """Which lines to show, and what to mark in them."""

    text: str
    """As it was typed."""
    inverse: bool
    test: Callable[[str], bool]
    """Whether a line is one of them."""
    pattern: re.Pattern[str]
    """For the marks."""
    most: int

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where `text` matches; nothing for an inverse query."""
        if self.inverse:
            return []
        found = (match.span() for match in self.pattern.finditer(text[: self.most]))
        return [span for span in found if span[1] > span[0]]


@lru_cache(maxsize=64)
def parse(typed: str) -> Query | None:
    """The query of what was typed, None for nothing. Raises QueryError."""
    inverse = typed.startswith("!")
    body = typed[1:] if inverse else typed
    if not body.strip():
        return None
    if len(body) > 2 and body.startswith("/") and body.endswith("/"):
        pattern = _regex(body[1:-1])
        return Query(typed, inverse, _tester(pattern, inverse), pattern, REGEX_MOST)
    pattern = re.compile(re.escape(body), _flags(body))
    return Query(typed, inverse, _plain(body, inverse), pattern, TEXT_MOST)


def _flags(text: str) -> re.RegexFlag:
    return re.NOFLAG if text != text.lower() else re.IGNORECASE


def _plain(text: str, inverse: bool) -> Callable[[str], bool]:
    """Without a regex: `in` on the lower-cased line takes a fifth of the time of a search that ignores case."""
    if text != text.lower():
        return lambda line: (text in line[:TEXT_MOST]) != inverse
    return lambda line: (text in line[:TEXT_MOST].lower()) != inverse


def _tester(pattern: re.Pattern[str], inverse: bool) -> Callable[[str], bool]:
    search = pattern.search
    return lambda line: (search(line[:REGEX_MOST]) is not None) != inverse


def _regex(text: str) -> re.Pattern[str]:
    try:
        parsed = parser.parse(text)
        pattern = re.compile(text, _flags(re.sub(r"\\.", "", text)))
    except (re.error, RecursionError, OverflowError) as error:
        raise QueryError("ui.log.regex_wrong") from error
    if _tries(parsed, inside=False) > TRIES_MOST:
        raise QueryError("ui.log.regex_slow")
    return pattern


def _tries(parsed: Any, *, inside: bool) -> int:
    """In how many ways the repeats can be shared out; QueryError for a repeat that holds what can vary."""
    tries = 1
    for operator, argument in parsed:
        if operator in (constants.GROUPREF, constants.GROUPREF_EXISTS) or (operator is constants.BRANCH and inside):
            raise QueryError("ui.log.regex_slow")
        if operator in _REPEATS:
            low, high, body = argument
            if inside and low != high:
                raise QueryError("ui.log.regex_slow")
            tries *= min(REGEX_MOST, high - low + 1) * _tries(body, inside=inside or high > 1)
            continue
        for part in _parts(argument):
            tries *= _tries(part, inside=inside)
    return tries


def _parts(argument: Any) -> Iterator[Any]:
    """Patterns inside a group, an assertion or a choice."""
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for item in argument:
            yield from _parts(item)
