"""What is read off a pattern, compared with what the engine of `re` itself reads."""

from __future__ import annotations

import random
import re
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsv41_tui.core.conditions import parse, patterns_used
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.pattern import EDGE, NEEDLE, edged, lead, requirements, shape, width
from dsv41_tui.core.pattern_safety import complaint
from dsv41_tui.runtime.failures import conditions, load_book, patterns

BOOK = load_book().book
PATTERNS = sorted(
    {text for rule in BOOK.failures for _, text in patterns(rule)}
    | {
        text
        for rule in BOOK.failures
        for _, condition in conditions(rule)
        for text in patterns_used((parse(condition),))
    }
)


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        (r"ibv_reg_(?:dmabuf_)?mr\b.{0,40}(?:No memory|\b12\b)", (("ibv_reg_",), ("mr",), ("No memory", "12"))),
        (r"(?:foo bar|bazzz) \d+", (("foo bar", "bazzz"),)),
        (r"link down", (("link down",),)),
        (r"lin[k] dow(n)+", (("link down",),)),
        (r"colou?r", (("colo",), ("r",))),
        (r"0000:01:00\.0", (("0000:01:00.0",),)),
        (r"one|two or three", (("one", "two or three"),)),
        (r"\d+ \w+", ()),
        (r"(?:abc|\d+)", ()),
        (r"(?!not )here", (("here",),)),
    ],
)
def test_what_a_match_must_hold(pattern: str, needles: tuple[tuple[str, ...], ...]) -> None:
    assert requirements(pattern) == needles


def test_it_is_read_as_the_engine_reads_it() -> None:
    """Texts that the engine's own reading of a pattern allows hold what we say that they must, and are no longer."""
    chance = random.Random(41)
    for pattern in PATTERNS:
        tree = _parser.parse(pattern, re.IGNORECASE)
        longest = width(pattern, 5)
        for _ in range(6):
            text = _text(tree, chance)
            assert all(any(needle in text for needle in needles) for needles in requirements(pattern)), (pattern, text)
            assert len(text) <= longest, pattern


def _text(tree: Any, chance: random.Random) -> str:
    """A text that a parsed pattern allows, but for what it asserts beside it; repetitions at most five times more."""
    made = ""
    for op, argument in tree:
        name = str(op)
        if name == "LITERAL":
            made += chr(argument)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            made += _member(argument) if name == "IN" else "~"
        elif name == "BRANCH":
            made += _text(chance.choice(argument[1]), chance)
        elif name == "SUBPATTERN":
            made += _text(argument[3], chance)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = argument
            for _ in range(chance.randint(least, min(int(most), max(least, 5)))):
                made += _text(inner, chance)
        else:
            assert name in ("AT", "ASSERT", "ASSERT_NOT"), name
    return made


def _member(items: Any) -> str:
    op, argument = items[0]
    return {"LITERAL": lambda: chr(argument), "RANGE": lambda: chr(argument[0])}.get(str(op), lambda: "~")()


def test_every_pattern_is_safe_and_has_a_needle() -> None:
    assert {pattern: why for pattern in PATTERNS if (why := complaint(pattern)) is not None} == {}
    assert min(max(min(map(len, texts)) for texts in requirements(pattern)) for pattern in PATTERNS) >= NEEDLE


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+bbbb", r"aaaa.*", r"aaaa[^,]+,", r"\w+\w+xxxx", r"\s*\s*xxxx", r"(?:a|aa)+bbbb", r"(\d+)\1 again",
        r"(?P<n>x)(?P=n)aaaa", r"aaaa.{0,900}b", r"aaaa.{0,200}bbbb.{0,200}cccc.{0,200}d", r"abc", r"a|bbbb", r"(aaaa",
        r"(?i)aaaa", r"(?:x{1,9}){1,9}aaaa", r"aaaa(?=.*b)", r"[a-z]*[a-m]*aaaa", r"(?:.{0,50}aaaa){0,50}",
        r"\w*(?:x?\w*)aaaa", r"aaaa*+b(?>c)",
    ],
)  # fmt: skip
def test_a_pattern_that_can_go_back_without_bound_is_refused(pattern: str) -> None:
    why = complaint(pattern)
    assert why and "\n" not in why


@pytest.mark.parametrize(
    "pattern",
    [r"aaaa\s+\d+", r"aaaa.{0,120}bbbb.{0,120}c", r"aaaa(?:b|c){0,3}", r"aaaa \w+ \d+", r"aaaa(?! not)", r"x{4} aaaa"],
)
def test_a_plain_pattern_is_accepted(pattern: str) -> None:
    assert complaint(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"disk\s+failed", ((f"disk{EDGE}",), (f"{EDGE}failed",))),
        (r"\bfoo\b.{0,9}bar", ((f"{EDGE}foo{EDGE}",), ("bar",))),
        (r"foo\d+ bar[,;]", (("foo",), (f" bar{EDGE}",))),
        (r"foo,?bar", (("foo",), ("bar",))),
    ],
)
def test_where_a_word_is_whole(pattern: str, literals: tuple[tuple[str, ...], ...]) -> None:
    assert edged(pattern) == literals


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        (r"\bdisk \d+", "disk "), (r"[Ll]ink+ down", "Link"), (r"(?:a|b) link", ""), (r"a1|b1", ""),
        (r"(?<!x)abcd", ""), (r"\d+ link", ""), (r"x(?:yz) link", "xyz link"),
    ],
)  # fmt: skip
def test_what_a_match_begins_with(pattern: str, first: str) -> None:
    assert lead(pattern) == first


def test_each_match_begins_with_the_lead_of_its_pattern() -> None:
    chance = random.Random(43)
    for pattern in PATTERNS:
        tree = _parser.parse(pattern, re.IGNORECASE)
        assert all(_text(tree, chance).startswith(lead(pattern)) for _ in range(3)), pattern


@given(st.text(alphabet="ab(|)[]{}?*+\\.^$1,-dw:=!<", max_size=14))
def test_what_is_said_of_any_pattern_holds(pattern: str) -> None:
    """Whatever is accepted compiles, and what its matches must hold, they do hold."""
    if complaint(pattern) is not None:
        return
    for text in ("aaaa", "abab", "bbbb1", "a" * 9, "aaaabbbb", "abcd1234"):
        found = re.search(pattern, text, re.IGNORECASE)
        if found is not None:
            assert all(any(needle in found[0] for needle in needles) for needles in requirements(pattern))


def test_what_the_book_does_not_use_is_refused() -> None:
    for pattern in (r"(a)\1", r"(?i)a", r"a)", r"(?(1)a|b)", "(" * 40 + ")" * 40):
        with pytest.raises(ParseError):
            shape(pattern)
