"""The shape of a regular expression of the failure book: what it repeats, what it must hold, how long a match can be.

A small reader of the subset that the book uses. It knows characters, classes, groups, alternatives, repetitions,
looks and anchors, and refuses the rest (backreferences, inline flags, conditionals), so that what it says of a pattern
holds. The engine of `re` stays the judge of what matches.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from dsv41_tui.core.errors import ParseError

UNBOUNDED = 1 << 30
NEEDLE = 4
"""Characters of a literal by which lines are found."""
EDGE = "\x1f"
"""In a literal: no letter and no digit stands here. A blank to `str.split`."""
ALTERNATIVES = 64
"""A group of more is not looked into."""
ASCII = 128
"""Bits of a class: one an ASCII character, and bit `ASCII` for all others."""


class Node(NamedTuple):
    """One element of a pattern."""

    kind: str
    """char, class, at (zero width), look, group, repeat"""
    text: str = ""
    """The character, or the source of the class."""
    branches: tuple[tuple[Node, ...], ...] = ()
    """Alternatives of a group or look; the one element of a repeat."""
    least: int = 1
    most: int = 1


_TOKEN = re.compile(
    r"""\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.) | \[\^?\]?(?:\\.|[^\]\\])*\] | \(\?(?:[:=!]|<[=!]|P<\w+>) | \(\?.?
    | \{\d*(?:,\d*)?\} | . """,
    re.VERBOSE | re.DOTALL,
)
_COUNTS = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}


def shape(pattern: str) -> tuple[tuple[Node, ...], ...]:
    """The alternatives of `pattern`, each a sequence of elements. Raises ParseError for what the book does not use."""
    pieces = _TOKEN.findall(pattern)
    branches, end = _branches(pieces, 0, 0)
    if end != len(pieces):
        raise ParseError("unbalanced )")
    return branches


def _branches(pieces: list[str], start: int, depth: int) -> tuple[tuple[tuple[Node, ...], ...], int]:
    if depth > 20:
        raise ParseError("groups stand too deep in each other")
    branches: list[tuple[Node, ...]] = []
    nodes: list[Node] = []
    index = start
    while index < len(pieces) and pieces[index] != ")":
        piece = pieces[index]
        index += 1
        if piece == "|":
            branches.append(tuple(nodes))
            nodes = []
        elif piece[0] == "(":
            inner, index = _branches(pieces, index, depth + 1)
            if index >= len(pieces):
                raise ParseError("a group is not closed")
            index += 1
            nodes.append(_group(piece, inner))
        elif (counts := _counts(piece)) is not None:
            index += index < len(pieces) and pieces[index] in ("?", "+")
            if not nodes or nodes[-1].kind in ("repeat", "at", "look"):
                raise ParseError(f"nothing to repeat before {piece}")
            nodes.append(Node("repeat", "", ((nodes.pop(),),), *counts))
        else:
            nodes.append(_single(piece))
    branches.append(tuple(nodes))
    return tuple(branches), index


def _group(piece: str, inner: tuple[tuple[Node, ...], ...]) -> Node:
    if piece in ("(", "(?:") or piece.startswith("(?P<"):
        return Node("group", "", inner)
    if piece in ("(?=", "(?!", "(?<=", "(?<!"):
        return Node("look", piece, inner)
    raise ParseError(f"{piece} is not used in the failure book")


def _counts(piece: str) -> tuple[int, int] | None:
    if piece in _COUNTS:
        return _COUNTS[piece]
    if piece[0] != "{" or len(piece) < 3:
        return None
    least, comma, most = piece[1:-1].partition(",")
    if not comma:
        return int(least), int(least)
    return int(least or 0), int(most) if most else UNBOUNDED


def _single(piece: str) -> Node:
    if piece in ("^", "$"):
        return Node("at", piece)
    if piece == "." or (piece[0] == "[" and len(piece) > 1):
        only = re.fullmatch(r"\[(?:\\([^\w\s])|([^\\^\]])|(?i:([a-z])\3))\]", piece)
        return Node("char", only[1] or only[2] or only[3]) if only else Node("class", piece)
    if piece[0] != "\\" or piece == "\\":
        return Node("char", piece)
    letter = piece[1]
    if letter in "bBAZ":
        return Node("at", piece)
    if letter in "dDsSwW":
        return Node("class", piece)
    if letter in _CONTROL:
        return Node("char", _CONTROL[letter])
    if letter in "xu" and len(piece) > 2:
        return Node("char", chr(int(piece[2:], 16)))
    if letter.isalnum():
        raise ParseError(f"{piece} is not used in the failure book")
    return Node("char", letter)


def requirements(pattern: str) -> tuple[tuple[str, ...], ...]:
    """What every match holds: of each of these sets at least one text. A set of one is a plain literal."""
    return tuple(tuple(text.replace(EDGE, "") for text in texts) for texts in edged(pattern))


def edged(pattern: str) -> tuple[tuple[str, ...], ...]:
    """The same with `EDGE` where a literal borders on something that is neither letter nor digit."""
    branches = shape(pattern)
    if len(branches) == 1:
        return tuple(_requirements(branches[0]))
    joined = _either(branches)
    return (joined,) if joined else ()


def lead(pattern: str) -> str:
    """The literal that every match begins with; empty where there is none."""
    branches = shape(pattern)
    if len(branches) > 1:
        return ""
    runs = [""]
    nodes = _opened(branches[0])
    plain = (place for place, node in enumerate(nodes) if node.kind != "char" and node.text != r"\b")
    _runs(nodes[: next(plain, len(nodes)) + 1], runs)
    return runs[0].replace(EDGE, "")


def _requirements(nodes: tuple[Node, ...]) -> list[tuple[str, ...]]:
    nodes = _opened(nodes)
    runs = [""]
    _runs(nodes, runs)
    found: list[tuple[str, ...]] = [(run,) for run in runs if run.strip()]
    for node in nodes:
        inner = _opened(node.branches[0])[0] if node.kind == "repeat" and node.least >= 1 else node
        if inner.kind == "group" and (joined := _either(inner.branches)):
            found.append(joined)
    return found


def _either(branches: tuple[tuple[Node, ...], ...]) -> tuple[str, ...]:
    """One text of each alternative; nothing where one has none, or there are too many."""
    joined: list[str] = []
    for branch in branches:
        sets = _requirements(branch)
        if not sets:
            return ()
        joined.extend(max(sets, key=lambda texts: min(map(strength, texts))))
    return tuple(joined) if len(joined) <= ALTERNATIVES else ()


def strength(text: str) -> int:
    """How much of a literal tells lines apart: the letters of its longest word; numbers are everywhere."""
    return max((sum(not letter.isdigit() for letter in word) for word in text.split()), default=0)


def _opened(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Groups without alternatives are what they hold."""
    opened: list[Node] = []
    for node in nodes:
        opened.extend(_opened(node.branches[0]) if node.kind == "group" and len(node.branches) == 1 else (node,))
    return tuple(opened)


def _runs(nodes: tuple[Node, ...], runs: list[str]) -> None:
    """Cut a sequence into literals; what is not one ends the literal before it."""
    for node in nodes:
        if node.kind == "char" and (node.text.isascii() or node.text.lower() == node.text.upper()):
            runs[-1] += node.text
        elif node.kind == "repeat" and node.least >= 1:
            _runs(_opened(node.branches[0]), runs)
            runs.append(EDGE if runs[-1] == EDGE else "")
        elif node.kind == "class" and not members(node.text, True) & _LETTERS_AND_DIGITS:
            runs[-1] += EDGE
            runs.append(EDGE)
        elif node.text == r"\b":
            runs[-1] += EDGE
        elif node.kind not in ("at", "look"):
            runs.append("")


def width(pattern: str, unbounded: int) -> int:
    """Characters of the longest match, a repetition without a bound counted as `unbounded`."""
    return max(_width(branch, unbounded) for branch in shape(pattern))


def _width(nodes: tuple[Node, ...], unbounded: int) -> int:
    total = 0
    for node in nodes:
        if node.kind in ("char", "class"):
            total += 1
        elif node.kind != "at":
            most = unbounded if node.most == UNBOUNDED else node.most
            total += most * max(_width(branch, unbounded) for branch in node.branches)
    return total


@cache
def members(text: str, is_class: bool) -> int:
    """The characters that an element matches as bits, upper and lower case alike."""
    expression = re.compile(text if is_class else re.escape(text), re.IGNORECASE)
    bits = sum(1 << code for code in range(ASCII) if expression.fullmatch(chr(code)))
    return bits | (1 << ASCII if expression.fullmatch("中") else 0)


_LETTERS_AND_DIGITS = sum(1 << code for code in range(ASCII) if chr(code).isalnum())
