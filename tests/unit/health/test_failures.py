"""Failures of a live cluster: other readings, another cause; merging, ageing, clearing, folding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_cases import NAMES, box, ended, seat
from health_builders import LIMITS, NOW, cluster, down, host, memory, nas, node, reading

from dsv41_tui.core import health
from dsv41_tui.core.containers import UNLIMITED
from dsv41_tui.core.events import Elapsed, FailureSeen, ReadingTaken
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_live import at_the_time, facts_of
from dsv41_tui.core.failure import Book, CauseFile, CauseRule, FailureRule, Match
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import GIB, Memory
from dsv41_tui.core.reduce import reduce
from dsv41_tui.runtime.failures import load_book

WALL = 1_796_050_000.0
"""Unix seconds of the operator's clock at `NOW`."""
SHIPPED = load_book(own=Path("/nonexistent")).book
REG = (
    "spark2:412:588 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
)


def rank(name: str = "spark2", **changes: Any) -> NodeState:
    return seat(name, box(name, memlock_bytes=changes.pop("memlock_bytes", UNLIMITED)), **changes)


def seen(rule: str = "nccl-reg-mr-enomem", node: str = "spark2", *, ago_s: float = 0.0, late_s: float = 0.0,
         **changes: Any) -> FailureSeen:  # fmt: skip
    """`ago_s`: when it came here; `late_s`: how old the line was then."""
    values: dict[str, Any] = {
        "at": NOW - ago_s, "source": f"{node}/{NAMES[node]}", "line": REG, "number": 7,
        "line_at": WALL - ago_s - late_s, "seen_at": WALL - ago_s,
    }  # fmt: skip
    return FailureSeen(node=node, rule=rule, **{**values, **changes})


def judged(state: ClusterState, *events: Any, now: float = NOW) -> list[Finding]:
    for event in events:
        state = reduce(state, event)
    return [found for found in health.findings(state, LIMITS, now) if found.severity == "error"]


def with_facts(state: ClusterState, event: FailureSeen) -> FailureSeen:
    """As the watch of the logs sends it: with the readings of that moment."""
    return event.model_copy(update={"facts": facts_of(state.node(event.node), state, event.at)})


READINGS: dict[str, dict[str, Any]] = {
    "mem_page_cache_pressure": {"memory": memory(free=GIB, available=108 * GIB, cached=109 * GIB)},
    "kernel_kho_cma": {
        "memory": memory(free=71 * GIB, available=75 * GIB, cached=3 * GIB, cma_total=32 << 20, cma_free=9 * GIB),
        "host": host(kernel="7.0.0-1007-nvidia", command_line="quiet kho=on"),
    },
    "memlock_ulimit": {
        "memory": memory(free=71 * GIB, available=75 * GIB, cached=3 * GIB, cma_total=0, cma_free=0),
        "memlock_bytes": 64 * 1024,
    },
}  # fmt: skip


class TestCauses:
    @pytest.mark.parametrize("cause", READINGS)
    def test_the_same_line_with_other_readings_has_another_cause(self, cause: str) -> None:
        state = cluster(node("spark1"), rank(**READINGS[cause]), nas(), book=SHIPPED)
        (found,) = judged(state, with_facts(state, seen()))
        assert (found.cause_id, found.causes[0].likelihood) == (cause, "confirmed")
        assert {item.likelihood for item in found.causes[1:]} <= {"ruled-out", "possible"}
        assert (found.node, found.first_line, found.log_number) == ("spark2", REG, 7)
        assert found.evidence[0].line == REG and all(proof.reading for proof in found.evidence[1:])

    def test_the_readings_of_its_time_decide_also_when_they_are_over(self) -> None:
        full = cluster(node("spark1"), rank(**READINGS["mem_page_cache_pressure"]), nas(), book=SHIPPED)
        event = with_facts(full, seen(ago_s=20))
        dropped = cluster(
            node("spark1"), rank(memory=memory(free=110 * GIB, available=112 * GIB, cached=GIB)), nas(), book=SHIPPED
        )
        (found,) = judged(dropped, event)
        assert (found.cause_id, found.causes[0].likelihood) == ("mem_page_cache_pressure", "confirmed")

    def test_readings_of_now_prove_a_cause_of_a_line_from_before_the_panel(self) -> None:
        full = cluster(node("spark1"), rank(**READINGS["mem_page_cache_pressure"]), nas(), book=SHIPPED)
        (found,) = judged(full, with_facts(full, seen(late_s=600)))
        assert (found.cause_id, found.causes[0].likelihood) == ("mem_page_cache_pressure", "confirmed")

    def test_and_rule_none_out_by_themselves(self) -> None:
        """The process has ended and gave its memory back: that says nothing of ten minutes ago."""
        calm = cluster(
            node("spark1"), rank(memory=memory(free=110 * GIB, available=112 * GIB, cached=GIB)), nas(), book=SHIPPED
        )
        (found,) = judged(calm, with_facts(calm, seen(late_s=600)))
        likelihoods = {item.cause_id: item.likelihood for item in found.causes}
        assert likelihoods["mem_page_cache_pressure"] == "possible"
        assert likelihoods["memlock_ulimit"] == "ruled-out"  # of the same container

    def test_a_reading_that_came_a_moment_later_is_added(self) -> None:
        blind = cluster(node("spark1"), rank(memory=reading(None)), nas(), book=SHIPPED)
        full = Memory(total=128 * GIB, free=GIB, available=108 * GIB, cached=109 * GIB)
        taken = ReadingTaken(at=NOW + 1, node="spark2", name="memory", period_s=1.0, value=full)
        (found,) = judged(blind, with_facts(blind, seen()), now=NOW + 1)
        assert found.cause_id is None
        (found,) = judged(blind, with_facts(blind, seen()), taken, Elapsed(at=NOW + 1.5), now=NOW + 60)
        assert found.cause_id == "mem_page_cache_pressure"
        late = taken.model_copy(update={"at": NOW + 30})
        found, _ = judged(blind, with_facts(blind, seen()), late, Elapsed(at=NOW + 30.5), now=NOW + 31)
        assert (found.first_line, found.cause_id) == (REG, None)

    def test_a_fresh_line_brings_readings_of_its_time(self) -> None:
        calm = cluster(
            node("spark1"), rank(memory=memory(free=110 * GIB, available=112 * GIB, cached=GIB)), nas(), book=SHIPPED
        )
        full = cluster(node("spark1"), rank(**READINGS["mem_page_cache_pressure"]), nas(), book=SHIPPED)
        old = with_facts(calm, seen(late_s=600, ago_s=300))
        (found,) = judged(calm, old, with_facts(full, seen()))
        assert (found.cause_id, found.count) == ("mem_page_cache_pressure", 2)

    def test_a_line_that_came_later_can_decide(self) -> None:
        rule = FailureRule(
            id="stalls", layer="vllm", severity="high", title={"en": "It stalls"}, match=Match(any=("it stalls",)),
            cause=(CauseRule(id="heat", confirmed_by=("seen /too hot/",)), CauseRule(id="cold")),
        )  # fmt: skip
        files = {name: CauseFile(id=name, title={"en": name}, fix={"en": "Mend it."}) for name in ("heat", "cold")}
        state = cluster(book=Book(failures=(rule,), causes=files))
        more = seen("stalls", line="", line_at=0.0, count=0, signals={"too hot": "GPU too hot"})
        (found,) = judged(state, seen("stalls"))
        assert found.cause_id is None
        (found,) = judged(state, seen("stalls"), more)
        assert (found.cause_id, found.count, found.first_line) == ("heat", 1, REG)
        assert judged(state, more) == []


def test_of_the_outcome_the_newest_word_holds() -> None:
    then: Facts = {"oom_killed": False, "mem_free": 1.0, "peer_exited": True}
    now: Facts = {"oom_killed": True, "mem_free": 9.0, "peer_exited": False, "kernel": "6.17", "memlock": 5.0}
    filled = at_the_time(then, now, age_s=5.0)
    assert filled == {"oom_killed": True, "mem_free": 1.0, "peer_exited": True, "kernel": "6.17", "memlock": 5.0}
    rebooted = at_the_time(then, {**now, "uptime_s": 60.0}, age_s=300.0)
    assert "kernel" not in rebooted and "memlock" not in rebooted


def rule(id: str, severity: Any = "high", **changes: Any) -> FailureRule:
    values: dict[str, Any] = {"layer": "vllm", "title": {"en": id}, "match": Match(any=("x",)), **changes}
    return FailureRule(id=id, severity=severity, **values)


SMALL = Book(
    failures=(rule("broken"), rule("kernel-says"), rule("echo", echo=True), rule("brief", clears_after_s=60.0),
              rule("harmless", "none")),
)  # fmt: skip


class TestOverTheCluster:
    def test_the_same_one_is_counted_and_its_first_line_kept(self) -> None:
        state = cluster(book=SMALL)
        (found,) = judged(
            state, seen("broken", line="first", late_s=60), seen("broken", line="again", number=9, count=16)
        )
        assert (found.count, found.first_line, found.log_number) == (17, "first", 7)
        assert (found.first_at, found.last_at) == (WALL - 60, WALL)

    def test_the_same_kernel_line_on_two_nodes_is_two_findings(self) -> None:
        state = cluster(book=SMALL)
        events = [seen("kernel-says", name, source=f"{name}/kernel") for name in ("spark1", "spark2")]
        assert [found.node for found in judged(state, *events)] == ["spark1", "spark2"]

    def test_echoes_of_both_ranks_go_under_the_first_error_by_corrected_time(self) -> None:
        state = cluster(book=SMALL)
        (found,) = judged(
            state,
            seen("echo", "spark1", line="peer closed", line_at=WALL - 8),
            seen("echo", "spark2", line="engine dead", line_at=WALL - 7),
            seen("broken", "spark2", line="the first error", line_at=WALL - 9),
        )
        assert (found.id, found.node, found.first_line) == ("broken", "spark2", "the first error")
        assert [proof.line for proof in found.evidence] == ["the first error", "peer closed", "engine dead"]

    def test_a_harmless_line_raises_nothing_and_what_it_claims_neither(self) -> None:
        state = cluster(book=SMALL)
        assert judged(state, seen("harmless"), seen("broken", silencers=("harmless",))) == []
        assert len(judged(state, seen("harmless"), seen("broken"))) == 1

    def test_it_ages(self) -> None:
        state = cluster(book=SMALL)
        first = seen("brief")
        assert len(judged(state, first, Elapsed(at=NOW + 59), now=NOW + 59)) == 1
        assert judged(state, first, Elapsed(at=NOW + 61), now=NOW + 61) == []
        again = seen("brief", at=NOW + 50, line_at=WALL + 50, seen_at=WALL + 50)
        assert len(judged(state, first, again, Elapsed(at=NOW + 90), now=NOW + 90)) == 1

    def test_a_node_that_is_down_keeps_what_its_log_showed(self) -> None:
        state = cluster(node("spark1"), node("spark2", link=down("timed-out")), nas(), book=SMALL)
        (found,) = judged(state, seen("broken"))
        assert (found.node, found.evidence[0].line) == ("spark2", REG)

    def test_late_readings_of_a_node_decide_nothing(self) -> None:
        stale = memory(free=GIB, available=108 * GIB, cached=109 * GIB, age_s=60)
        state = cluster(node("spark1"), rank(memory=stale), nas(), book=SHIPPED)
        (found,) = judged(state, with_facts(state, seen()))
        assert found.cause_id is None

    def test_a_nas_has_no_rank_and_gives_no_finding(self) -> None:
        assert judged(cluster(book=SHIPPED)) == []

    def test_the_end_of_a_rank_is_no_second_error_beside_its_line(self) -> None:
        gone = seat("spark2", ended("spark2", 1))
        state = cluster(seat("spark1", box("spark1")), gone, nas(), book=SHIPPED)
        found = judged(state, with_facts(state, seen()))
        assert [item.id for item in found] == ["nccl-reg-mr-enomem"]
