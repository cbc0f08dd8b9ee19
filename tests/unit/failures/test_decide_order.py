"""Which cause is promoted when the others are ruled out, and which finding stands before which."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.failure import FailureRule
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.readings import GIB
from dsv41_tui.runtime.language import load_language
from tests.unit.failures.failure_builders import book, cause, of, rule, scanned

CAUSES = (
    cause("full", likely_by=("disk_used_percent > 80",), ruled_out_by=("disk_free > 200GiB",)),
    cause("cut", likely_by=("seen /broken pipe/",)),
    cause("tool", ruled_out_by=("not seen /command not found/",)),
    cause("proved", confirmed_by=("seen /proof/",)),
    cause("secondary_see_above"),
    cause("peer"),
)
ROOMY: Facts = {"disk_free": 1200 * GIB}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    load_language("en")
    yield
    load_language("en")


def found(*rules: FailureRule, lines: tuple[str, ...], facts: Facts | None = None) -> list[Finding]:
    known = book(*rules, causes=CAUSES)
    return list(findings(known, scanned(known, *lines), facts or {}))


@pytest.mark.parametrize(
    ("lines", "facts", "likelihood"),
    [
        (("copy failed", "broken pipe"), ROOMY, "confirmed"),  # likely by a line, the other is ruled out
        (("copy failed",), ROOMY, "likely"),  # only possible before
        (("copy failed", "broken pipe"), {}, "likely"),  # nothing is ruled out
    ],
)
def test_what_is_left_is_promoted_by_one_step(lines: tuple[str, ...], facts: Facts, likelihood: str) -> None:
    (finding,) = found(rule("copy", "copy failed", cause=(of("cut"), of("full"))), lines=lines, facts=facts)
    assert (finding.causes[0].cause_id, finding.causes[0].likelihood) == ("cut", likelihood)


def test_lines_that_are_missing_confirm_nothing_alone() -> None:
    causes = (of("cut", prior="likely"), of("tool"))
    (finding,) = found(rule("copy", "copy failed", cause=causes), lines=("copy failed",))
    assert finding.causes[0].likelihood == "likely"
    every = (*causes, of("full"))
    (finding,) = found(rule("copy", "copy failed", cause=every), lines=("copy failed",), facts=ROOMY)
    assert finding.causes[0].likelihood == "confirmed"


def test_confirmed_comes_before_likely_before_undecided() -> None:
    rules = (
        rule("open", "first error", cause=(of("cut"), of("full"))),
        rule("usual", "second error", cause=(of("cut", prior="likely"), of("full"))),
        rule("shown", "third error", cause=(of("proved"), of("full"))),
    )
    made = found(*rules, lines=("first error", "second error", "third error with proof"))
    assert [item.id for item in made] == ["shown", "usual", "open"]


def test_an_error_comes_before_a_warning_that_is_confirmed() -> None:
    rules = (
        rule("sure", "a warning", severity="medium", cause=(of("proved", prior="certain"),)),
        rule("open", "an error", cause=(of("cut"), of("full"))),
    )
    assert [item.id for item in found(*rules, lines=("a warning", "an error"))] == ["open", "sure"]


def test_what_only_passes_on_stands_under_an_echo_that_says_more() -> None:
    rules = (
        rule("wrapper", "wrapped", echo=True, cause=(of("secondary_see_above", prior="likely"),)),
        rule("gone", "peer closed", echo=True, cause=(of("peer", prior="likely"),)),
    )
    (finding,) = found(*rules, lines=("wrapped", "peer closed"))
    assert finding.id == "gone"
    assert [item.line for item in finding.evidence] == ["peer closed", "wrapped"]


def test_two_echoes_that_say_something_stay_beside_each_other() -> None:
    rules = (
        rule("gone", "peer closed", echo=True, cause=(of("peer", prior="likely"),)),
        rule("slow", "link slow", echo=True, cause=(of("cut", prior="likely"),)),
    )
    assert [item.id for item in found(*rules, lines=("peer closed", "link slow"))] == ["gone", "slow"]
