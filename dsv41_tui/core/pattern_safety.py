"""Whether a pattern is safe to run on hostile text: its time grows with the text and no faster, by a small factor.

The engine of `re` goes back and tries anew, so a pattern is refused where the number of ways to try can grow without
bound: a repetition inside a repetition, repetitions beside each other that take the same characters, long wild gaps
one after the other, references back, looks without a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.pattern import NEEDLE, UNBOUNDED, Node, members, requirements, shape

LONGEST_GAP = 400
WAYS = 100_000
"""The product of the lengths of all wild gaps of one pattern."""
WIDE = 70
"""A class of more ASCII characters than this is wild: `.`, `[^,]`, `\\S`."""


def complaint(pattern: str) -> str | None:
    """Why `pattern` is refused, in a few words; None for a safe one."""
    try:
        re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
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


def _adjacent(nodes: tuple[Node, ...]) -> str | None:
    """Repetitions with nothing firm between them must take different characters."""
    open_bits = 0
    for node in nodes:
        bits = _members(node)
        if node.kind == "repeat" and node.most > max(node.least, 1):
            if open_bits & bits:
                return "two repetitions beside each other that take the same characters"
            open_bits = bits if node.least else open_bits | bits
        elif node.kind in ("char", "class") or (node.kind == "group" and not _nullable(node)):
            open_bits = 0
    inner = (branch for node in nodes for branch in node.branches)
    return next((why for branch in inner if (why := _adjacent(branch))), None)


def _nullable(node: Node) -> bool:
    if node.kind in ("at", "look") or (node.kind == "repeat" and node.least == 0):
        return True
    return bool(node.branches) and any(all(_nullable(part) for part in branch) for branch in node.branches)


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
