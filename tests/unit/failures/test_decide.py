"""Causes weighed by readings and lines; one finding a failure; echoes folded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.failure import Book, FailureRule
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.readings import GIB
from dsv41_tui.runtime.language import load_language
from tests.unit.failures.failure_builders import book, cause, of, rule, scanned

LINE = "disk failed"
CAUSES = (
    cause("cache", confirmed_by=("mem_free < 8GiB and cached > 16GiB",), ruled_out_by=("mem_free > 24GiB",),
          measure=("cat /proc/meminfo",), commands=("drop",), plan="drop-cache"),
    cause("limit", confirmed_by=("memlock < 1GiB",), ruled_out_by=("memlock > 8GiB",), measure=("ulimit -l",),
          restart=True),
    cause("kho", likely_by=("seen /handover/",), ruled_out_by=("kernel < 7.0",)),
)  # fmt: skip
THREE = (of("cache"), of("limit"), of("kho"))
STARVED: Facts = {"mem_free": 1.1 * GIB, "cached": 109 * GIB}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    load_language("en")
    yield
    load_language("en")


def found(known: Book, *lines: str, facts: Facts | None = None, at: list[float | None] | None = None) -> list[Finding]:
    return list(findings(known, scanned(known, *lines, at=at), facts or {}))


def one(facts: Facts | None = None, *lines: str, causes: tuple[object, ...] = THREE) -> Finding:
    known = book(rule("disk", LINE, cause=causes, measure=("df",)), causes=CAUSES)
    (finding,) = found(known, LINE, *lines, facts=facts)
    return finding


def weighed(finding: Finding) -> dict[str, str]:
    return {item.cause_id: item.likelihood for item in finding.causes}


def test_without_readings_all_causes_stay_and_the_fix_says_what_to_measure() -> None:
    finding = one()
    assert weighed(finding) == {"cache": "possible", "limit": "possible", "kho": "possible"}
    assert finding.cause_id is None and finding.title == "Title of disk"
    assert finding.fix.commands == ("df", "cat /proc/meminfo", "ulimit -l")
    assert "cause cache; cause limit; cause kho" in finding.fix.text


def test_a_reading_decides_and_is_evidence() -> None:
    finding = one(STARVED)
    assert weighed(finding) == {"cache": "confirmed", "limit": "possible", "kho": "possible"}
    assert (finding.cause_id, finding.title) == ("cache", "Title of disk: cause cache")
    assert finding.causes[0].why == "MemFree 1.1 GiB, Cached 109.0 GiB"
    assert (finding.fix.text, finding.fix.commands, finding.fix.plan) == ("mend cache", ("drop",), "drop-cache")
    assert [item.reading for item in finding.evidence if item.reading] == ["MemFree 1.1 GiB", "Cached 109.0 GiB"]
    assert (finding.first_line, finding.log_number, finding.pane, finding.severity) == (LINE, 1, "log", "error")


def test_other_readings_give_another_cause() -> None:
    finding = one({"mem_free": 90 * GIB, "memlock": 8192 * 1024})
    assert weighed(finding) == {"limit": "confirmed", "kho": "possible", "cache": "ruled-out"}
    assert finding.fix.restart and finding.causes[0].why == "ulimit -l 8 MiB"


def test_the_last_that_is_not_ruled_out_is_left() -> None:
    ruled_out: Facts = {"mem_free": 90 * GIB, "memlock": math.inf}
    assert weighed(one(ruled_out)) == {"kho": "likely", "cache": "ruled-out", "limit": "ruled-out"}
    likely = (of("cache"), of("limit"), of("kho", prior="likely"))
    assert weighed(one(ruled_out, causes=likely))["kho"] == "confirmed"
    assert weighed(one(causes=(of("kho"),)))["kho"] == "possible"


def test_all_ruled_out_is_nobody() -> None:
    finding = one({"mem_free": 90 * GIB, "memlock": math.inf, "kernel": "6.17"})
    assert set(weighed(finding).values()) == {"ruled-out"} and finding.cause_id is None
    assert finding.fix.commands == ("df",)


def test_what_a_prior_is_worth() -> None:
    certain = (of("cache", prior="certain"), of("limit", prior="likely"), of("kho"))
    assert weighed(one(causes=certain)) == {"cache": "confirmed", "limit": "likely", "kho": "possible"}
    beaten = one({"memlock": 64 * 1024}, causes=certain)
    assert weighed(beaten) == {"limit": "confirmed", "cache": "possible", "kho": "possible"}


def test_a_line_that_was_seen_comes_before_a_usual_cause() -> None:
    finding = one(None, "Handover begins", causes=(of("cache", prior="likely"), of("kho")))
    assert [item.cause_id for item in finding.causes] == ["kho", "cache"]
    assert finding.causes[0].why == "seen: Handover begins"


def test_a_rule_has_its_own_conditions_words_and_commands() -> None:
    own = of("cache", confirmed_by=("kho",), why={"en": "because"}, fix={"en": "own"}, commands=())
    finding = one({**STARVED, "kho": True}, causes=(own,))
    assert finding.causes[0].why == "because (Kexec HandOver: yes)"
    assert (finding.fix.text, finding.fix.commands) == ("own", ())
    assert weighed(one(STARVED, causes=(own,))) == {"cache": "possible"}


def test_a_cause_that_is_harmless_raises_nothing() -> None:
    harmless = book(rule("disk", LINE, cause=(of("benign", confirmed_by=("ready",)), of("cache"))), causes=CAUSES)
    assert found(harmless, LINE, facts={"ready": True}) == []
    assert len(found(harmless, LINE)) == 1


def test_readings_allow_a_failure_or_not() -> None:
    when, needs = book(rule("disk", LINE, when="not ready")), book(rule("disk", LINE, needs="not ready"))
    for known, facts, expected in (
        (when, {}, 1), (when, {"ready": True}, 0), (when, {"ready": False}, 1),
        (needs, {}, 0), (needs, {"ready": True}, 0), (needs, {"ready": False}, 1),
    ):  # fmt: skip
        assert len(found(known, LINE, facts=facts)) == expected


def test_readings_alone_can_show_a_failure() -> None:
    known = book(rule("cma", "never", reading=("cma_free > cma_total",), cause=(of("kho"),)), causes=CAUSES)
    (finding,) = found(known, "x", facts={"cma_free": 2.0 * GIB, "cma_total": 0.0})
    assert (finding.first_line, finding.pane) == (None, None)
    assert [item.reading for item in finding.evidence] == ["CmaFree 2.0 GiB", "CmaTotal 0.0 GiB"]
    assert found(known, "x") == []


def test_a_harmless_rule_that_readings_decide() -> None:
    known = book(rule("disk", LINE), rule("fine", LINE, severity="none", needs="ready"))
    assert found(known, LINE, facts={"ready": True}) == []
    assert [item.id for item in found(known, LINE)] == ["disk"]


def test_several_lines_are_one_finding() -> None:
    (finding,) = found(book(rule("disk", LINE)), *[LINE] * 20)
    assert finding.count == 20 and len(finding.evidence) == 3


def test_what_is_over_is_no_alarm() -> None:
    (finding,) = found(book(rule("disk", LINE, clears_on=("disk fine",))), LINE, "disk fine")
    assert finding.severity == "info" and "over" in finding.title


ECHO: FailureRule = rule("echo", "peer closed", echo=True, severity="critical")


def test_echoes_are_folded_under_the_first_error() -> None:
    known = book(ECHO, rule("late", "fan failed"), rule("disk", LINE), rule("hint", "slow", severity="low"))
    result = found(known, "slow", "peer closed", LINE, "fan failed")
    assert [item.id for item in result] == ["disk", "late", "hint"]
    assert [item.line for item in result[0].evidence] == [LINE, "peer closed"]
    by_time = found(known, "fan failed", LINE, "peer closed", at=[9.0, 3.0, 1.0])
    assert [item.id for item in by_time] == ["disk", "late"]


def test_an_echo_without_an_error_stays() -> None:
    known = book(ECHO, rule("hint", "slow", severity="low"))
    assert [item.id for item in found(known, "slow", "peer closed")] == ["echo", "hint"]


def test_a_failure_folds_what_it_explains() -> None:
    known = book(rule("port", "port error"), rule("disk", LINE, folds=("port", "disk")))
    assert [item.id for item in found(known, "port error", LINE)] == ["disk"]
    both = book(rule("port", "port error", folds=("disk",)), rule("disk", LINE, folds=("port",)))
    assert [item.id for item in found(both, "port error", LINE)] == ["port"]


def test_worse_comes_first_then_earlier() -> None:
    known = book(rule("minor", "one", severity="low"), rule("late", "two"), rule("soon", "three"))
    assert [item.id for item in found(known, "one", "three", "two")] == ["soon", "late", "minor"]


@pytest.mark.parametrize("language", ["en", "zh-Hant", "zh-Hans"])
def test_texts_are_in_the_language_of_the_interface(language: str) -> None:
    load_language(language)
    words = {"en": "Disk", "zh-Hant": "磁碟", "zh-Hans": "磁盘"}
    (finding,) = found(book(rule("disk", LINE, title=words)), LINE)
    assert finding.title == words[language]
    (finding,) = found(book(rule("disk", LINE, title={"en": "Disk"})), LINE)
    assert finding.title == "Disk"
