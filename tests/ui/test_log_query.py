"""What is typed after `/` in the log."""

from __future__ import annotations

import re

import pytest

from dsv41_tui.ui.logs import query
from dsv41_tui.ui.logs.query import QueryError, parse

LINE = "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("nccl warn", True),
        ("NCCL", True),
        ("Nccl", False),
        ("!nccl", False),
        ("!Nccl", True),
        ("a.*b", False),
        (r"/ibv_reg_\w+ failed/", True),
        (r"/IBV_reg/", False),
        (r"/\Wibv_REG/", False),
        (r"/\Wcall/", True),
        ("!/iova\\d/", False),
        ("/x", False),
        ("[x]", False),
    ],
)
def test_which_lines(typed: str, wanted: bool) -> None:
    found = parse(typed)
    assert found is not None
    assert found.test(LINE) is wanted


@pytest.mark.parametrize("typed", ["", " ", "!", "! "])
def test_nothing_typed_is_no_query(typed: str) -> None:
    assert parse(typed) is None


def test_all_matches_are_marked_and_none_of_an_inverse_query() -> None:
    found = parse("ca")
    assert found is not None
    assert [LINE[start:end] for start, end in found.spans(LINE)] == ["Ca", "Ca", "ca"]
    inverse = parse("!ca")
    assert inverse is not None
    assert inverse.spans(LINE) == []


def test_a_match_of_nothing_marks_nothing() -> None:
    found = parse("/x*/")
    assert found is not None
    assert found.spans(LINE) == []


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|b|cd)*x", "(a?){9}b", "a.*b.*c.*d", r"(\w+\s?)*$", "(x+x+)+y", r"(a)\1", "(?=(a+)+)b", "((ab?)c)*d"],
)
def test_a_pattern_that_can_go_back_without_bound_is_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="regex_slow"):
        parse(f"/{pattern}/")


@pytest.mark.parametrize("pattern", ["(a", "*", "[", "a{2", "(?P<x"])
def test_a_pattern_that_is_none_is_said(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        with pytest.raises(QueryError, match="regex_wrong"):
            parse(f"/{pattern}/")
    else:
        assert parse(f"/{pattern}/") is not None


def test_only_the_beginning_of_a_very_long_line_is_looked_at() -> None:
    long = "x" * (10 << 20) + "needle"
    for typed, most in (("needle", query.TEXT_MOST), ("/needle/", query.REGEX_MOST)):
        found = parse(typed)
        assert found is not None
        assert not found.test(long)
        assert found.test("x" * (most - 6) + "needle")
