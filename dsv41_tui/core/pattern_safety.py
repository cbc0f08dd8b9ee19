"""Whether a pattern is safe to run on hostile text: its time grows with the text and no faster, by a small factor.

The engine of `re` goes back and tries anew, so a pattern is refused where the number of ways to try can grow without
bound: a repetition inside a repetition, repetitions beside each other that take the same characters, long wild gaps
one after the other, references back, looks without a bound.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.pattern import NEEDLE, UNBOUNDED, Node, members, requirements, shape

LONGEST_GAP = 400
WAYS = 100_000
"""The product of the lengths of all wild gaps of one pattern."""
BESIDE_WAYS = 20_000
"""The same of repetitions beside each other that take the same characters."""
ENDLESS = 1_000_003
WIDE = 70
"""A class of more ASCII characters than this is wild: `.`, `[^,]`, `\\S`."""


def complaint(pattern: str) -> str | None:
    """Why `pattern` is refused, in a few words; None for a safe one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern, re.IGNORECASE)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    try:
        if max((min(map(len, texts)) for texts in requirements(pattern)), default=0) < NEEDLE:
            return f"it holds no literal of {NEEDLE} characters that every match contains"
        return next((why for branch in shape(pattern) if (why := _unsafe(branch))), None)
    except ParseError as error:
        return error.message


def _unsafe(nodes: tuple[Node, ...]) -> str | None:
    ways = 1
    for node in _flat(nodes):
        if node.kind == "repeat":
            if why := _repeat(node):
                return why
            if node.most > node.least and wild(_members(node)):
                ways *= node.most - node.least + 1
        elif node.kind == "look" and any(inner.most == UNBOUNDED for b in node.branches for inner in _flat(b)):
            return "a look ahead or behind without a bound"
    if ways > WAYS:
        return f"its wild gaps multiply to {ways} ways, more than {WAYS}: use shorter ones"
    return _adjacent(nodes)


def _repeat(node: Node) -> str | None:
    inner = node.branches[0]
    if node.most > 1 and any(part.kind == "repeat" and part.most > part.least for part in _flat(inner)):
        return "a repetition inside a repetition"
    if node.most == UNBOUNDED and wild(_members(node)):
        return "an unbounded repetition of nearly any character: write .{0,120} in place of .*"
    if node.most == UNBOUNDED and len(inner[0].branches) > 1:
        return "an unbounded repetition of alternatives"
    if LONGEST_GAP < node.most < UNBOUNDED:
        return f"a repetition of more than {LONGEST_GAP}"
    return None


BESIDE = "two repetitions beside each other that take the same characters"


def _adjacent(nodes: tuple[Node, ...]) -> str | None:
    """Repetitions with nothing firm between them must take different characters, or be short."""
    return BESIDE if _tail(nodes, _NOTHING) is None else None


class _Open(NamedTuple):
    """What repetitions at the end of a sequence still take."""

    bits: int = 0
    ways: int = 1
    """In how many ways they can share it; `ENDLESS` counts for one without a bound."""


_NOTHING = _Open()


def _tail(nodes: tuple[Node, ...], before: _Open) -> _Open | None:
    """What stands open after `nodes`, `before` being that at their start; None for a clash."""
    for node in nodes:
        after = _after(node, before)
        if after is None:
            return None
        before = after
    return before


def _after(node: Node, before: _Open) -> _Open | None:
    if node.kind == "at":
        return before
    if node.kind in ("char", "class"):
        return _NOTHING
    if node.kind == "repeat" and node.branches[0][0].kind != "group":
        return _repeated(node, before)
    if node.kind == "repeat":
        tails = [_after(node.branches[0][0], before)]
    else:
        tails = [_tail(branch, _NOTHING if node.kind == "look" else before) for branch in node.branches]
    known = [tail for tail in tails if tail is not None]
    if len(known) < len(tails):
        return None
    if node.kind == "look":
        return before
    return _either([*known, before] if node.least == 0 else known)


def _repeated(node: Node, before: _Open) -> _Open | None:
    bits = _members(node)
    if node.most == node.least:
        return _NOTHING if node.least else before
    ways = ENDLESS if node.most == UNBOUNDED else node.most - node.least + 1
    if before.bits & bits:
        if ways == before.ways == ENDLESS or BESIDE_WAYS < ways * before.ways < ENDLESS:
            return None
        ways *= before.ways
    now = _Open(bits, min(ways, ENDLESS))
    return now if node.least else _either([now, before])


def _either(parts: list[_Open]) -> _Open:
    bits = 0
    for part in parts:
        bits |= part.bits
    return _Open(bits, max((part.ways for part in parts), default=1))


def wild(bits: int) -> bool:
    """Whether a class takes nearly anything."""
    return bits.bit_count() > WIDE


def _members(node: Node) -> int:
    if node.kind in ("char", "class"):
        return members(node.text, node.kind == "class")
    bits = 0
    for branch in node.branches:
        for part in branch:
            bits |= _members(part)
    return bits


def _flat(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for branch in node.branches:
            yield from _flat(branch)
