"""What the grammars of log lines share: tables of meanings, levels, stamps. No source of its own.

A rule has a literal that every match contains: it is looked for first, because `in` costs a twentieth of a pattern.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from dsv41_tui.core.log import Level

HEAD = 4096
"""Characters of a line that are looked at: engine configurations of 16 KiB say nothing more behind that."""
LEVELS: dict[str, Level] = {
    "DEBUG": "D", "TRACE": "D", "INFO": "I", "NOTICE": "I", "WARN": "W", "WARNING": "W", "ERROR": "E", "CRITICAL": "E",
    "FATAL": "E", "D": "D", "I": "I", "W": "W", "E": "E", "F": "E", "C": "E",
}  # fmt: skip


class Rule(NamedTuple):
    """One meaning of a line."""

    says: str
    needle: str
    pattern: re.Pattern[str]


_KINDS = {
    "int": r"\d{1,15}",
    "num": r"-?[\d.,]{1,20}|nan",
    "hex": r"0x[0-9a-fA-F]{1,16}",
    "pci": r"[0-9a-fA-F:.]{1,20}",
    "ip": r"\[?[0-9a-zA-Z.:%_-]{1,80}?\]?",
    "text": r".{1,300}",
}
_PART = re.compile(r"<(\w+):(int|num|hex|pci|ip|text)>")


def rule(says: str, needle: str, pattern: str | None = None) -> Rule:
    """A meaning with its literal; without a pattern the literal alone is it.

    `<name:kind>` in a pattern is a named group of a bounded length: int, num, hex, pci, ip or text.
    """
    whole = re.escape(needle) if pattern is None else pattern
    return Rule(says, needle, re.compile(_PART.sub(lambda part: f"(?P<{part[1]}>{_KINDS[part[2]]})", whole)))


def meaning(rules: tuple[Rule, ...], text: str) -> tuple[str, dict[str, str]]:
    """The first rule that matches, as its name and its named groups; "" where none does."""
    for says, needle, pattern in rules:
        if needle in text and (match := pattern.search(text)) is not None:
            return says, {key: value for key, value in match.groupdict().items() if value is not None}
    return "", {}


_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d{0,9})?(Z|[+-]\d\d:?\d\d)(?:[ \t]|$)", re.ASCII
)


@lru_cache(maxsize=64)
def _seconds(moment: str, zone: str) -> float | None:
    """Cached, since a flood has thousands of lines in one second."""
    try:
        return datetime.fromisoformat(moment + ("+00:00" if zone == "Z" else zone)).timestamp()
    except (ValueError, OverflowError):
        return None


def split_off_stamp(text: str) -> tuple[float | None, str]:
    """RFC 3339 with a zone at the begin of a line, as Unix seconds, and the rest; (None, text) without one.

    A stamp without a zone is the container's local time: it says nothing, and the line stays whole.
    """
    match = _STAMP.match(text)
    if match is None:
        return None, text
    seconds = _seconds(match[1], match[3])
    if seconds is None:
        return None, text
    fraction = match[2]
    return seconds + (int(fraction) / 10 ** len(fraction) if fraction else 0.0), text[match.end() :]
