from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsv41_tui.core.conditions import evaluate, facts_used, parse, patterns_used, version
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.facts import FACTS, Facts
from dsv41_tui.core.readings import GIB

FACTS_READ: Facts = {
    "mem_free": 1.1 * GIB,
    "cached": 109 * GIB,
    "memlock": math.inf,
    "kernel": "7.0.0-1019-nvidia",
    "kho": True,
    "idle": False,
    "kv_usage": 0.95,
    "gid_type": "RoCE v2",
    "nfs_state": "not-responding",
}


def truth(text: str, facts: Facts | None = None, seen: str = "") -> bool | None:
    return evaluate(parse(text), FACTS_READ if facts is None else facts, lambda pattern: pattern == seen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mem_free < 2 GiB and cached > 16GiB", True),
        ("mem_free < 1 GiB", False),
        ("mem_free < 2 GB", True),
        ("mem_free < 1048576 kB", False),
        ("cached > mem_free * 99", True),
        ("cached > mem_free * 99.5", False),
        ("memlock == unlimited", True),
        ("memlock > 8GiB", True),
        ("kernel >= 7.0", True),
        ("kernel == 7", True),
        ("kernel > 7.0", False),
        ("kernel >= 7.0.1", False),
        ("kernel < 6.18", False),
        ("kernel ~ /NVIDIA$/", True),
        ("kho", True),
        ("not kho", False),
        ("not idle", True),
        ("kv_usage > 90%", True),
        ('gid_type == "roce v2"', True),
        ('gid_type != "IB/RoCE v1"', True),
        ("nfs_state == idle", False),
        ("mem_total > 1 GiB", None),
        ("mem_total > 1 GiB and mem_free < 1 GiB", False),
        ("mem_total > 1 GiB and mem_free < 2 GiB", None),
        ("swap_free > mem_total", None),
        ("not seen /link down/", True),
        ("seen /link down/", False),
    ],
)
def test_a_condition_is_true_false_or_unknown(text: str, expected: bool | None) -> None:
    assert truth(text) is expected


def test_what_was_seen_is_never_unknown() -> None:
    assert truth("seen /a and b\\/c/", seen="a and b/c") is True
    assert truth("not seen /a/", seen="a") is False
    assert truth("seen /a/ and mem_total > 1 GiB", seen="") is False


@pytest.mark.parametrize(
    "text",
    [
        "", "and", "mem_free", "mem_free <", "mem_free < kho", "mem_free < 3 parsecs", "mem_free < 3 s", "no_fact > 3",
        "kho > 3", "kho and", "kho idle", "seen", "seen word", "seen /(/", "not mem_free < 3", "kernel ~ nvidia",
        "mem_free ~ /3/", "mem_free * 3", "gpu_util > 3 GiB", "cached > mem_free * x", "mem_free < /3/", "not",
    ],
)  # fmt: skip
def test_a_broken_condition_is_one_clear_line(text: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert error.value.message and "\n" not in error.value.message


def test_a_fact_of_another_kind_is_unknown() -> None:
    assert truth("mem_free < 2 GiB", {"mem_free": "little"}) is None
    assert truth("kho", {"kho": 1.0}) is None
    assert truth("kernel >= 7.0", {"kernel": "generic"}) is None
    assert truth("mem_free < 2 GiB", {"mem_free": math.nan}) is None


def test_facts_and_patterns_that_are_used() -> None:
    conditions = [parse("mem_free < cached and seen /one/"), parse("mem_free > 3 GiB and not seen /two/")]
    assert facts_used(conditions) == ("mem_free", "cached")
    assert patterns_used(conditions) == ("one", "two")


numbers = st.floats(min_value=0, max_value=1e15)


@given(left=numbers, right=numbers)
def test_comparisons_are_those_of_numbers(left: float, right: float) -> None:
    facts: Facts = {"mem_free": left, "cached": right}
    for op, expected in (("<", left < right), (">=", left >= right), ("==", left == right), ("!=", left != right)):
        assert truth(f"mem_free {op} cached", facts) is expected


@given(parts=st.lists(st.integers(0, 9999), min_size=2, max_size=4), least=st.integers(0, 9999))
def test_versions_are_compared_by_their_numbers(parts: list[int], least: int) -> None:
    text = ".".join(map(str, parts)) + "-nvidia"
    assert version(text) == tuple(parts)
    assert truth(f"kernel >= {least}", {"kernel": text}) is (parts[0] >= least)


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_one_line(text: str) -> None:
    try:
        condition = parse(text)
    except ParseError as error:
        assert "\n" not in error.message.replace(text, "")
    else:
        assert all(term.fact in FACTS or term.op == "seen" for term in condition)
