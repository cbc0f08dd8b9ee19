"""Logs to state: whole captured logs name the dead rank, runs begin and end, failures merge, age and clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsv41_tui.core.containers import Container, ContainerEngine, ProcessLimits
from dsv41_tui.core.events import (
    Elapsed,
    Event,
    FailuresCleared,
    FailureSeen,
    LogsUnreadable,
    RankLogChanged,
    ReadingTaken,
)
from dsv41_tui.core.failure import Book, FailureRule, Match
from dsv41_tui.core.log import LogFact, LogSource, RankLog
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import Host, Memory
from dsv41_tui.core.reduce import reduce
from dsv41_tui.core.text import clean
from dsv41_tui.parsers.log_facts import parse_log_facts

DATA = Path(__file__).parents[2] / "data" / "log"
T0 = 1_796_050_000.0
HEAD, WORKER = "dsv41-exl3-head", "dsv41-exl3-worker"
SOURCES = (
    LogSource(id=f"spark1/{HEAD}", node="spark1", kind="rank", name=HEAD, rank=0),
    LogSource(id=f"spark2/{WORKER}", node="spark2", kind="rank", name=WORKER, rank=1),
)


def cluster(**changes: Any) -> ClusterState:
    nodes = (NodeState(name="spark1", role="head", rank=0), NodeState(name="spark2", rank=1))
    return ClusterState(**{"nodes": nodes, "log_sources": SOURCES, **changes})


def after(*events: Event, state: ClusterState | None = None) -> ClusterState:
    state = state or cluster()
    for event in events:
        state = reduce(state, event)
    return state


def told(*facts: LogFact, container: str = HEAD, started_at: float | None = T0, **changes: Any) -> RankLogChanged:
    node = "spark1" if container == HEAD else "spark2"
    values = {"at": 10.0, "rank": int(container == WORKER), **changes}
    return RankLogChanged(node=node, container=container, started_at=started_at, facts=facts, **values)


def log_of(state: ClusterState, container: str = HEAD) -> RankLog:
    node = state.node("spark1" if container == HEAD else "spark2")
    (log,) = [log for log in node.logs if log.container == container]
    return log


def lines_of(name: str) -> list[str]:
    return clean((DATA / name).read_bytes().decode()).split("\n")


def replay(name: str, lines: slice = slice(None), rank: int | None = 0) -> RankLog:
    """The state of a log after its lines, one event a line as a slow stream brings them."""
    state = cluster()
    for number, line in enumerate(lines_of(name)[lines]):
        if (fact := parse_log_facts(line, T0 + number)) is not None:
            state = reduce(state, told(fact, rank=rank, at=100.0 + number))
    return log_of(state)


def first_line(name: str, piece: str) -> int:
    return next(number for number, line in enumerate(lines_of(name)) if piece in line)


KILLED = "vllm/vllm-0.32.0-tp2-2nodes-rank0-then-rank1-killed.log"
STOPPED = "vllm/vllm-0.32.0-tp2-rank1-stopped-rank0.log"


class TestCapturedRanks:
    """Real vLLM, two ranks; the other rank was killed or stopped while `/health` went on saying 200."""

    def test_the_line_that_a_peer_is_gone_names_it(self) -> None:
        evidence = first_line(KILLED, "Connection closed by peer")
        assert replay(KILLED, slice(evidence)).dead_rank is None
        log = replay(KILLED, slice(evidence + 1))
        assert (log.dead_rank, log.lost_peer) == (1, "127.0.0.1")
        assert log.served and log.world_size == 2

    def test_the_rank_of_the_log_need_not_be_configured(self) -> None:
        assert replay(KILLED, rank=None).dead_rank == 1

    def test_what_follows_keeps_the_name(self) -> None:
        assert replay(KILLED).dead_rank == 1

    def test_a_stopped_rank_is_named_by_the_first_line_of_the_wait(self) -> None:
        evidence = first_line(STOPPED, "shared memory broadcast block")
        assert replay(STOPPED, slice(evidence)).dead_rank is None
        log = replay(STOPPED, slice(evidence + 1))
        assert log.dead_rank == 1 and log.lost_peer is None
        assert log.silent_since == T0 + evidence

    def test_a_request_that_is_answered_does_not_bring_a_silent_rank_back(self) -> None:
        evidence = first_line(STOPPED, "shared memory broadcast block")
        assert replay(STOPPED, slice(evidence + 20)).dead_rank == 1

    def test_an_orderly_end_is_known(self) -> None:
        assert replay(STOPPED).stopping
        assert not replay(KILLED, slice(first_line(KILLED, "EngineCore encountered a fatal error"))).stopping

    @pytest.mark.parametrize(
        "name",
        ["vllm/vllm-0.32.0-tp2-2nodes-rank1-headless.log", "vllm/vllm-0.32.0-tp2-rank1-stopped-rank1.log"],
    )
    def test_the_log_of_the_rank_itself_accuses_nobody(self, name: str) -> None:
        log = replay(name, rank=1)
        assert log.dead_rank is None and log.lost_peer is None
        assert (log.rank, log.phase, log.served) == (1, "weights", False)

    @pytest.mark.parametrize("name", sorted(path.name for path in (DATA / "vllm").glob("*boot*.log")))
    def test_a_healthy_boot_accuses_nobody(self, name: str) -> None:
        log = replay(f"vllm/{name}")
        assert log.dead_rank is None and log.served and log.phase == "serving"
        assert (log.running, log.waiting, log.engine_version) == (2, 0, "0.33.0")
        assert log.phase_at is not None and T0 < log.phase_at < T0 + 100


class TestNccl:
    def test_two_nodes_over_rdma(self) -> None:
        log = replay("nccl/gb10-nccl-2.28-two-nodes.log")
        assert log.nccl_version == "2.28.9+cuda13.0"
        assert log.devices == ("rocep1s0f0:1", "roceP2p1s0f0:1")
        assert (log.transport, log.channels, log.registration) == ("ib", 4, "ok")
        assert (log.init_complete, log.init_started_at, log.open_inits) == (1, None, {})
        assert (log.socket_interface, log.address) == ("enp1s0f0np0", "10.77.1.11")

    def test_sockets_prove_no_registration(self) -> None:
        log = replay("nccl/nccl-socket-info.log")
        assert (log.transport, log.devices, log.registration) == ("socket", (), None)
        assert log.init_complete == 2 and log.init_started_at is None

    def test_errors(self) -> None:
        log = replay("nccl/gb10-nccl-errors.log", slice(16))
        assert (log.registration, log.gid_index) == ("failed", 5)

    def test_a_failed_registration_stays_failed(self) -> None:
        facts = (LogFact(transport="ib"), LogFact(registration="failed"), LogFact(connected=True))
        assert log_of(after(told(*facts))).registration == "failed"

    def test_an_open_init_is_the_oldest_one(self) -> None:
        facts = [LogFact(at=T0 + n, init="start", communicator=f"h:1:0x{n}") for n in (5, 3, 9)]
        log = log_of(after(told(*facts)))
        assert (log.init_started_at, log.init_complete, len(log.open_inits)) == (T0 + 3, 0, 3)
        log = log_of(after(told(*facts, LogFact(init="complete", communicator="h:1:0x3"))))
        assert (log.init_started_at, log.init_complete) == (T0 + 5, 1)
        closed = [LogFact(init="gone", communicator=f"h:1:0x{n}") for n in (5, 3, 9)]
        log = log_of(after(told(*facts, *closed)))
        assert (log.init_started_at, log.init_open_since, log.init_complete) == (None, None, 0)

    def test_open_inits_are_bounded(self) -> None:
        facts = [LogFact(at=T0 + n, init="start", communicator=f"h:1:0x{n}") for n in range(500)]
        assert len(log_of(after(told(*facts))).open_inits) == 64

    def test_an_open_init_of_an_old_log_is_old(self) -> None:
        start = LogFact(at=T0, init="start", communicator="h:1:0x1")
        assert log_of(after(told(start, at=500.0, seen_at=T0 + 300))).init_open_since == 200.0
        assert log_of(after(told(start, at=500.0))).init_open_since == 500.0


class TestDeadRank:
    WORLD = LogFact(rank=0, world_size=2)

    def test_the_dead_worker_is_named_by_the_line(self) -> None:
        assert log_of(after(told(self.WORLD, LogFact(dead_rank=0)))).dead_rank == 0

    def test_the_first_line_decides(self) -> None:
        assert log_of(after(told(self.WORLD, LogFact(dead_rank=0), LogFact(lost_peer="x")))).dead_rank == 0

    def test_silence_while_it_boots_accuses_nobody(self) -> None:
        assert log_of(after(told(self.WORLD, LogFact(silent=True)))).dead_rank is None

    def test_tokens_bring_a_silent_rank_back(self) -> None:
        facts = (self.WORLD, LogFact(served=True), LogFact(at=T0, silent=True))
        assert log_of(after(told(*facts))).dead_rank == 1
        log = log_of(after(told(*facts, LogFact(alive=True))))
        assert (log.dead_rank, log.silent_since) == (None, None)

    def test_tokens_do_not_bring_a_dead_rank_back(self) -> None:
        facts = (self.WORLD, LogFact(served=True), LogFact(silent=True), LogFact(lost_peer="x"), LogFact(alive=True))
        assert log_of(after(told(*facts))).dead_rank == 1

    def test_after_an_orderly_end_has_begun_nobody_is_accused(self) -> None:
        log = log_of(after(told(self.WORLD, LogFact(served=True, stopping=True), LogFact(lost_peer="x"))))
        assert (log.dead_rank, log.lost_peer) == (None, None)

    @pytest.mark.parametrize(("peer", "rank"), [("10.77.1.12", 1), ("spark2", 1), ("stranger", None), ("", None)])
    def test_of_many_ranks_the_address_or_the_name_tells(self, peer: str, rank: int | None) -> None:
        address = told(LogFact(address="10.77.1.12"), container=WORKER)
        log = log_of(after(address, told(LogFact(rank=0, world_size=4), LogFact(lost_peer=peer))))
        assert (log.dead_rank, log.lost_peer) == (rank, peer)


class TestRuns:
    def test_a_new_start_begins_a_new_log(self) -> None:
        state = after(told(LogFact(served=True, phase="serving")), told(started_at=T0 + 100))
        assert log_of(state) == RankLog(container=HEAD, rank=0, started_at=T0 + 100)

    def test_late_lines_of_a_past_run_change_nothing(self) -> None:
        state = after(told(started_at=T0 + 100))
        assert after(told(LogFact(served=True)), state=state) is state

    @pytest.mark.parametrize("started_at", [None, T0, T0 + 0.01])
    def test_the_same_start_goes_on(self, started_at: float | None) -> None:
        state = after(told(LogFact(served=True)), told(LogFact(running=1), started_at=started_at))
        assert log_of(state).served and log_of(state).started_at == T0

    def test_a_start_that_becomes_known_is_no_new_one(self) -> None:
        log = log_of(after(told(LogFact(served=True), started_at=None), told()))
        assert log.served and log.started_at == T0

    def test_the_last_line_only_moves_on(self) -> None:
        log = log_of(after(told(line_at=T0 + 9), told(line_at=T0 + 5)))
        assert log.last_line_at == T0 + 9

    def test_lines_that_say_nothing_new_change_nothing(self) -> None:
        state = after(told(LogFact(transport="ib"), line_at=T0))
        assert after(told(LogFact(transport="ib"), line_at=T0), state=state) is state

    def test_a_phase_after_serving_is_none(self) -> None:
        log = log_of(after(told(LogFact(phase="serving", served=True), LogFact(phase="compile"))))
        assert log.phase == "serving"

    def test_logs_of_a_node_are_bounded(self) -> None:
        events = [RankLogChanged(at=1.0, node="spark1", container=f"c{n}", started_at=T0) for n in range(60)]
        assert len(after(*events).node("spark1").logs) == 16


def containers(*boxes: tuple[str, float, str], at: float = 10.0) -> ReadingTaken:
    engine = ContainerEngine(
        containers=tuple(Container(id=name, name=name, started_at=start, state=state) for name, start, state in boxes)
    )
    return ReadingTaken(at=at, node="spark1", name="containers", period_s=5.0, value=engine)


def memory(free: int, at: float = 11.0) -> ReadingTaken:
    return ReadingTaken(at=at, node="spark1", name="memory", period_s=1.0, value=Memory(free=free, available=free + 1))


def marks(state: ClusterState) -> tuple[int | None, int | None]:
    node = state.node("spark1")
    low, available = node.low_free_service, node.low_available_service
    return (None if low is None else low.value, None if available is None else available.value)


class TestContainers:
    def test_a_new_start_seen_by_docker_begins_a_new_log(self) -> None:
        state = after(told(LogFact(served=True)), seen(), containers((HEAD, T0 + 100, "running")))
        assert not log_of(state).served and log_of(state).started_at == T0 + 100
        assert state.node("spark1").failures == ()

    def test_the_same_start_changes_no_log(self) -> None:
        assert log_of(after(told(LogFact(served=True)), containers((HEAD, T0, "running")))).served

    def test_low_water_since_the_service_started(self) -> None:
        state = after(containers((HEAD, T0, "running")), memory(50), memory(20), memory(40))
        assert marks(state) == (20, 21)
        state = after(containers((HEAD, T0 + 100, "running"), at=12.0), state=state)
        assert marks(state) == (None, None)
        assert marks(after(memory(60), state=state)) == (60, 61)
        low = state.node("spark1").low_free
        assert low is not None and low.value == 20

    def test_without_a_running_rank_no_mark_is_taken(self) -> None:
        assert marks(after(memory(5))) == (None, None)
        assert marks(after(containers((HEAD, T0, "exited")), memory(5))) == (None, None)
        assert marks(after(containers(("proxy", T0, "running")), memory(5))) == (None, None)

    def test_another_container_that_starts_is_no_service(self) -> None:
        state = after(containers((HEAD, T0, "running")), memory(20), containers(
            (HEAD, T0, "running"), ("proxy", T0 + 500, "running")))  # fmt: skip
        assert marks(state) == (20, 21)

    def test_a_reboot_ends_the_marks_and_what_the_kernel_said(self) -> None:
        def host(boot: str) -> ReadingTaken:
            return ReadingTaken(at=1.0, node="spark1", name="host", period_s=60.0, value=Host(boot_id=boot))

        kernel = seen(source="spark1/kernel", started_at=None)
        state = after(host("a"), containers((HEAD, T0, "running")), memory(20), kernel, seen(), host("b"))
        assert marks(state) == (None, None)
        assert [item.source for item in state.node("spark1").failures] == [f"spark1/{HEAD}"]

    def test_a_state_of_a_process_keeps_its_begin(self) -> None:
        def process(state: str, at: float) -> ReadingTaken:
            value = (ProcessLimits(pid=7, container=HEAD, state=state),)
            return ReadingTaken(at=at, node="spark1", name="processes", period_s=10.0, value=value)

        def since(*events: ReadingTaken) -> float | None:
            (item,) = after(*events).node("spark1").processes.value or ()
            return item.state_since

        assert since(process("D", 5.0), process("D", 9.0)) == 5.0
        assert since(process("D", 5.0), process("S", 9.0)) == 9.0
        assert since(process("D", 5.0), process("S", 9.0), process("D", 12.0)) == 12.0


def seen(rule: str = "reg", source: str = f"spark1/{HEAD}", **changes: Any) -> FailureSeen:
    values = {"at": 20.0, "line": "NCCL WARN x", "number": 7, "line_at": T0 + 50, "started_at": T0, **changes}
    return FailureSeen(node="spark1", source=source, rule=rule, **values)


def rules(state: ClusterState) -> list[str]:
    return [item.rule for item in state.node("spark1").failures]


class TestFailures:
    def test_the_same_one_is_counted_and_the_first_line_kept(self) -> None:
        state = after(seen(facts={"mem_free": 1.0}), seen(line="later", number=9, line_at=T0 + 60, last_at=T0 + 70,
                                                          count=3, facts={"mem_free": 2.0}))  # fmt: skip
        (item,) = state.node("spark1").failures
        assert (item.count, item.first_line, item.first_number) == (4, "NCCL WARN x", 7)
        assert (item.first_at, item.last_at, item.facts) == (T0 + 50, T0 + 70, {"mem_free": 1.0})

    def test_other_sources_and_rules_stand_apart(self) -> None:
        assert rules(after(seen(), seen("other"), seen(source="spark1/kernel"))) == ["reg", "other", "reg"]

    def test_at_most_a_hundred_and_the_quietest_goes(self) -> None:
        events = [seen(f"r{n}", line_at=T0 + (n if n != 3 else 1000)) for n in range(150)]
        state = after(*events)
        assert len(rules(state)) == 100
        assert "r3" in rules(state) and "r149" in rules(state) and "r0" not in rules(state)

    def test_a_line_without_end_is_cut(self) -> None:
        (item,) = after(seen(line="x" * 100_000)).node("spark1").failures
        assert len(item.first_line) == 2000

    def test_a_new_start_clears_those_of_its_log_and_of_the_kernel_before_it(self) -> None:
        state = after(
            told(), seen(), seen("xid", source="spark1/kernel", started_at=None),
            seen("new", source="spark1/kernel", line_at=T0 + 200), seen("proxy", source="spark1/litellm"),
            told(started_at=T0 + 100),
        )  # fmt: skip
        assert rules(state) == ["new", "proxy"]

    def test_what_the_new_run_showed_stays(self) -> None:
        state = after(told(), seen(started_at=T0 + 100, line_at=T0 + 110), told(started_at=T0 + 100))
        assert rules(state) == ["reg"]

    def test_a_line_that_says_it_is_over(self) -> None:
        state = after(seen(), seen(source="spark1/kernel"), seen("other"))
        here = FailuresCleared(at=30.0, node="spark1", rules=("reg",), source="spark1/kernel", line_at=T0 + 60)
        assert rules(after(here, state=state)) == ["reg", "other"]
        everywhere = FailuresCleared(at=30.0, node="spark1", rules=("reg",))
        assert rules(after(everywhere, state=state)) == ["other"]
        early = FailuresCleared(at=30.0, node="spark1", rules=("reg",), line_at=T0 + 40)
        assert after(early, state=state) is state

    BOOK = Book(
        failures=(
            FailureRule(id="reg", layer="nccl", severity="high", title={"en": "x"}, match=Match(), clears_after_s=60.0),
            FailureRule(id="stays", layer="nccl", severity="high", title={"en": "x"}, match=Match()),
        )
    )

    def test_silence_ends_it_where_its_rule_says_so(self) -> None:
        state = after(seen(), seen("stays"), seen("unknown"), state=cluster(book=self.BOOK))
        assert after(Elapsed(at=79.0), state=state) is state
        assert rules(after(Elapsed(at=81.0), state=state)) == ["stays", "unknown"]

    def test_each_line_starts_the_silence_anew(self) -> None:
        state = after(seen(), seen(at=70.0), state=cluster(book=self.BOOK))
        assert rules(after(Elapsed(at=100.0), state=state)) == ["reg"]
        assert rules(after(Elapsed(at=131.0), state=state)) == []

    def test_old_lines_that_are_read_now_are_old(self) -> None:
        state = after(seen(seen_at=T0 + 500), state=cluster(book=self.BOOK))
        assert rules(after(Elapsed(at=21.0), state=state)) == []

    def test_harmless_claims_keep_lines_apart(self) -> None:
        state = after(seen(silencers=("fine",)), seen(), seen(signals={"a": "1"}), seen(signals={"a": "2", "b": "3"}))
        first, second = state.node("spark1").failures
        assert (first.count, first.silencers) == (1, ("fine",))
        assert (second.count, second.silencers, second.signals) == (3, (), {"a": "1", "b": "3"})


def test_logs_that_cannot_be_read_and_can_again() -> None:
    no = LogsUnreadable(at=1.0, node="spark1", source="spark1/kernel", why="permission denied")
    state = after(no)
    assert state.node("spark1").unread_logs == {"spark1/kernel": "permission denied"}
    assert after(no, state=state) is state
    yes = LogsUnreadable(at=2.0, node="spark1", source="spark1/kernel")
    assert after(yes, state=state).node("spark1").unread_logs == {}


def test_events_of_a_strange_node_change_nothing() -> None:
    state = cluster()
    assert after(RankLogChanged(at=1.0, node="x", container="c"), state=state) is state
