"""What the findings of the ranks say: which rank, how it ended, which cause comes first, and what explains it."""

from __future__ import annotations

import pytest
from engine_cases import NAMES, T0, box, ended, log, pair, process, seat
from health_builders import LIMITS, NOW, reading

from dsv41_tui.core.failure import Book, CauseRule, FailureRule, Match
from dsv41_tui.core.finding import Cause, Evidence, Finding, Fix
from dsv41_tui.core.health import engine, engine_nccl
from dsv41_tui.core.health.common import clock
from dsv41_tui.core.log import Occurrence
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import ClockOffset


def rule(name: str, echo: bool = False, severity: str = "critical") -> FailureRule:
    return FailureRule(
        id=name, layer="nccl", severity=severity, title={"en": "x"}, match=Match(any=("abcd",)), echo=echo
    )  # type: ignore[arg-type]


BOOK = Book(failures=(rule("first"), rule("echo", True), rule("mild", severity="medium")))


def seen(name: str, at: str = "spark2") -> tuple[Occurrence, ...]:
    source = f"{at}/{NAMES[at]}"
    return (Occurrence(rule=name, source=source, first_at=T0 + 5, last_at=T0 + 5, first_line="NCCL WARN abcd"),)


def one(state: ClusterState) -> Finding:
    (found,) = (*engine.check(state, LIMITS, NOW), *engine_nccl.check(state, LIMITS, NOW))
    return found


def causes(found: Finding) -> list[tuple[str, str]]:
    return [(item.cause_id, item.likelihood) for item in found.causes]


def killed(**changes: object) -> NodeState:
    return seat("spark2", ended("spark2", 137, **changes))  # type: ignore[arg-type]


def test_a_killed_rank_is_named_with_its_end() -> None:
    found = one(pair(worker=killed()))
    assert found.title.startswith("Half dead: rank 1 gone at ")
    assert clock(T0 + 600) in found.title and "exit 137" in found.title
    assert found.cause_id == "peer_died"
    assert causes(found) == [("peer_died", "confirmed"), ("sigkill_unattributed", "possible")]
    assert "OOMKilled false" in (found.evidence[0].reading or "")
    assert found.fix.restart and any(NAMES["spark2"] in command for command in found.fix.commands)


def test_a_hit_of_the_own_limit_is_no_riddle() -> None:
    found = one(pair(worker=killed(oom_killed=True)))
    assert causes(found) == [("peer_died", "confirmed"), ("host_memory_limit", "likely")]


def test_a_container_without_a_limit_was_not_ended_by_one() -> None:
    """docker sets OOMKilled for a kill of the whole node too."""
    found = one(pair(worker=killed(oom_killed=True, memory_limit_bytes=0)))
    assert causes(found) == [("peer_died", "confirmed"), ("uma_memory_exhausted", "likely")]


def test_an_exit_of_its_own_was_no_kill() -> None:
    assert causes(one(pair(worker=seat("spark2", ended("spark2", 1))))) == [("peer_died", "confirmed")]


def test_the_clock_of_the_node_is_corrected() -> None:
    skewed = killed().model_copy(update={"clock": reading(ClockOffset(offset_s=7200.0, uncertainty_s=0.1))})
    assert clock(T0 + 600 - 7200) in one(pair(worker=skewed)).title


@pytest.mark.parametrize("moment", [None, float("nan"), float("inf"), -5.0, 1e15])
def test_a_moment_that_is_none_has_no_time_of_day(moment: float | None) -> None:
    assert clock(moment) == "?"


@pytest.mark.parametrize(
    ("rule_name", "at", "severity"),
    [
        ("first", "spark2", "warn"),
        ("first", "spark1", "warn"),
        ("echo", "spark1", "error"),
        ("mild", "spark2", "error"),
    ],
)
def test_an_error_of_the_logs_explains_an_end_and_its_echo_does_not(rule_name: str, at: str, severity: str) -> None:
    nodes = {
        "spark1": seat("spark1", box("spark1")),
        "spark2": killed(),
    }
    nodes[at] = nodes[at].model_copy(update={"failures": seen(rule_name, at)})
    assert one(pair(nodes["spark1"], nodes["spark2"], book=BOOK)).severity == severity


def test_the_first_line_of_its_own_log_is_evidence() -> None:
    worker = killed().model_copy(update={"failures": seen("first")})
    assert one(pair(worker=worker, book=BOOK)).evidence[-1].line == "NCCL WARN abcd"


def test_a_start_loop_that_the_log_explains_is_a_warning() -> None:
    looping = seat("spark2", ended("spark2", 1, state="restarting", restart_count=7), failures=seen("first"))
    found = one(pair(worker=looping, book=BOOK))
    assert (found.id, found.severity) == ("engine-rank-restarting", "warn")
    assert "7 times" in found.title


def test_a_stopped_rank_is_continued_by_its_pid() -> None:
    found = one(pair(worker=seat("spark2", box("spark2"), processes=process("T"))))
    assert found.fix.commands == ("sudo kill -CONT 4711",)
    assert causes(found) == [("rank_stopped", "confirmed")]
    paused = one(pair(worker=seat("spark2", box("spark2", state="paused"))))
    assert paused.fix.commands == (f"docker unpause {NAMES['spark2']}",)


def test_a_rank_that_another_misses_is_named_by_its_number() -> None:
    lost = log("spark1", dead_rank=1, lost_peer="10.77.1.12")
    found = one(pair(seat("spark1", box("spark1"), logs=(lost,))))
    assert "rank 1" in found.title and found.cause_id == "peer_died"
    silent = one(pair(seat("spark1", box("spark1"), logs=(log("spark1", dead_rank=1, silent_since=T0),))))
    assert "rank 1 silent" in silent.title and silent.cause_id is None
    assert {name for name, _ in causes(silent)} == {"engine_collective_divergence", "peer_died"}


def test_versions_name_each_rank() -> None:
    found = one(
        pair(
            seat("spark1", box("spark1"), logs=(log("spark1", nccl_version="2.28.9+cuda13.0"),)),
            seat("spark2", box("spark2"), logs=(log("spark2", nccl_version="2.30.7"),)),
        )
    )
    assert "rank 0 2.28.9, rank 1 2.30.7" in found.title
    assert found.cause_id == "nccl_version_mismatch"


def test_a_rank_of_an_unconfigured_log_is_known_by_its_log() -> None:
    state = pair(worker=killed()).model_copy(update={"log_sources": ()})
    assert one(state).id == "engine-rank-gone"


def line(cause_id: str, node: str = "spark1") -> Finding:
    return Finding(
        id="a-line",
        severity="error",
        title="x",
        cause_id=cause_id,
        causes=(Cause(cause_id=cause_id, likelihood="confirmed", why="x"),),
        evidence=(Evidence(source=f"{node}/{NAMES[node]}", line="NCCL WARN abcd"),),
        fix=Fix(text="x"),
        node=node,
        first_line="NCCL WARN abcd",
    )


@pytest.mark.parametrize("cause_id", ["peer_died", "engine_collective_divergence", "secondary_see_above"])
def test_lines_that_a_rank_is_gone_go_under_the_rank_that_is(cause_id: str) -> None:
    gone = one(pair(worker=killed()))
    (found,) = engine.fold([line(cause_id), gone])
    assert (found.id, found.severity) == ("engine-rank-gone", "error")
    assert found.evidence[-1].line == "NCCL WARN abcd"


def test_lines_of_another_cause_stand() -> None:
    found = [line("memlock_ulimit"), one(pair(worker=killed()))]
    assert engine.fold(found) == found


def test_a_collective_that_waits_stands_beside_a_rank_that_is_only_missed() -> None:
    silent = one(pair(seat("spark1", box("spark1"), logs=(log("spark1", dead_rank=1, silent_since=T0),))))
    assert len(engine.fold([line("engine_collective_divergence"), silent])) == 2
    assert len(engine.fold([line("peer_died"), silent])) == 1


def test_without_a_rank_that_is_gone_nothing_is_folded() -> None:
    assert engine.fold([line("peer_died")]) == [line("peer_died")]


def test_lines_whose_every_cause_is_an_echo_explain_no_end() -> None:
    echo = rule("lost").model_copy(update={"cause": (CauseRule(id="peer_died"),)})
    mixed = rule("mixed").model_copy(update={"cause": (CauseRule(id="peer_died"), CauseRule(id="fabric_unreachable"))})
    for failure, severity in ((echo, "error"), (mixed, "warn")):
        state = pair(
            seat("spark1", box("spark1"), failures=seen(failure.id, "spark1")), killed(), book=Book(failures=(failure,))
        )
        assert one(state).severity == severity
