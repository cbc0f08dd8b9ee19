"""What lines show, as events: the run they are of, what came around them; and a launcher's log of the past."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.containers import Container, ContainerEngine
from dsv41_tui.core.events import Event, FailuresCleared, FailureSeen, LogsUnreadable
from dsv41_tui.core.failure import Book, CauseRule, FailureRule, Match
from dsv41_tui.core.log import LogLine, LogSource, RankLog
from dsv41_tui.core.model import NodeState, Reading
from dsv41_tui.core.readings import ClockOffset
from dsv41_tui.runtime.containers import ContainerWatch
from dsv41_tui.runtime.logs.choose import choose
from dsv41_tui.runtime.logs.failures import FailureWatch
from dsv41_tui.runtime.logs.feed_logs import FeedLogs
from dsv41_tui.runtime.logs.feeds import Feeds
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.reader import LogReader
from dsv41_tui.runtime.logs.shelf import Shelf
from dsv41_tui.runtime.recipes import load_recipes
from dsv41_tui.transport.local import LocalNode

HEAD = LogSource(id="spark1/head", node="spark1", kind="rank", name="head", rank=0)
LAUNCHER = LogSource(id="spark1/start.log", node="spark1", kind="launcher", name="start.log")
OFFSET_S = 100.0


def rule(
    id: str, pattern: str, severity: Any = "high", causes: tuple[CauseRule, ...] = (), **match: Any
) -> FailureRule:
    return FailureRule(
        id=id, layer="vllm", severity=severity, title={"en": id}, match=Match(any=(pattern,), **match), cause=causes
    )


class Watch:
    """A watch with what it told."""

    def __init__(self, *rules: FailureRule, ready: bool = True) -> None:
        self.events: list[Event] = []
        clock = Reading[Any](value=ClockOffset(offset_s=OFFSET_S, uncertainty_s=0.01), at=1.0)
        self.node = NodeState(name="spark1", clock=clock)
        self.facts: dict[str, str | float | bool] = {"mem_free": 1.0}
        self.watch = FailureWatch("spark1", lambda: self.node, self.events.append, lambda: self.facts)
        self.book = CompiledBook(Book(failures=rules))
        self._number = 0
        if ready:
            self.watch.use(self.book)

    def line(self, *texts: str, at: float | None = 2000.0, source: LogSource = HEAD, started: float = 1000.0) -> None:
        self.watch.scan(source, started if source.kind == "rank" else None, [self._line(text, at) for text in texts])

    def _line(self, text: str, at: float | None) -> LogLine:
        self._number += 1
        return LogLine(self._number, HEAD.id, at, 5000.0, "", text)

    def seen(self) -> list[FailureSeen]:
        return [event for event in self.events if isinstance(event, FailureSeen)]


HEAT = (CauseRule(id="heat", confirmed_by=("seen /much too hot/",)), CauseRule(id="cold"))


def test_lines_before_and_after_it_speak_for_its_cause() -> None:
    before = Watch(rule("stall", "it stalls", causes=HEAT))
    before.line("GPU much too hot", "it stalls")
    assert [event.signals for event in before.seen()] == [{"much too hot": "GPU much too hot"}]
    after = Watch(rule("stall", "it stalls", causes=HEAT))
    after.line("it stalls")
    after.line("GPU much too hot")
    after.line("GPU much too hot")
    first, more = after.seen()
    assert first.signals == {} and (more.count, more.signals) == (0, {"much too hot": "GPU much too hot"})


def test_a_new_run_of_the_rank_knows_nothing_of_the_last_one() -> None:
    watch = Watch(rule("stall", "it stalls", causes=HEAT))
    watch.line("GPU much too hot")
    watch.line("it stalls", at=3001.0, started=3000.0)
    assert [event.signals for event in watch.seen()] == [{}]


def test_lines_that_a_harmless_rule_claims_are_told_apart() -> None:
    calm = rule("calm", "fan failed while loading", "none", needs="loading")
    watch = Watch(rule("fan", "fan failed"), calm)
    watch.line("fan failed while loading", "fan failed")
    told = {(event.rule, event.silencers): event.count for event in watch.seen()}
    assert told == {("fan", ("calm",)): 1, ("calm", ()): 1, ("fan", ()): 1}


def test_a_line_without_a_stamp_has_the_time_of_its_coming() -> None:
    watch = Watch(rule("stall", "it stalls"))
    watch.line("it stalls", at=None, source=LAUNCHER)
    watch.line("it stalls", at=4000.0 + OFFSET_S, source=LAUNCHER)
    assert [event.line_at for event in watch.seen()] == [5000.0, 4000.0]


def test_readings_are_those_of_the_moment_and_the_log_those_of_its_place() -> None:
    watch = Watch(rule("stall", "it stalls"), ready=False)
    watch.facts = {"mem_free": 1.0, "ready": False}
    watch.line("it stalls")
    watch.facts = {"mem_free": 2.0, "ready": True}
    watch.watch.use(watch.book)
    watch.line("it stalls")
    assert [event.facts for event in watch.seen()] == [
        {"mem_free": 2.0, "ready": False},
        {"mem_free": 2.0, "ready": True},
    ]


def test_what_would_make_it_harmless_is_waited_for_half_a_second() -> None:
    watch = Watch(rule("fan", "fan failed", unless_near=("power off",)))
    now = time.time() + OFFSET_S
    watch.line("fan failed", at=now - 0.2)
    watch.watch.settle()
    assert watch.seen() == []
    watch.line("power off", at=now)
    watch.line("fan failed", at=now - 1000)
    watch.watch.settle()
    assert [event.number for event in watch.seen()] == [3]


def test_a_line_that_says_it_is_over() -> None:
    disk = FailureRule(id="disk", layer="disk", severity="high", title={"en": "d"}, match=Match(any=("disk failed",)),
                       clears_on=("disk is back",))  # fmt: skip
    watch = Watch(disk)
    watch.line("disk failed")
    watch.line("disk is back", at=2005.0)
    (cleared,) = [event for event in watch.events if isinstance(event, FailuresCleared)]
    assert (cleared.rules, cleared.source, cleared.line_at) == (("disk",), HEAD.id, 2005.0 - OFFSET_S)


async def test_within_a_batch_lines_before_the_service_are_apart_from_those_after() -> None:
    events: list[Event] = []
    ready: list[bool] = []

    def facts() -> dict[str, Any]:
        return {"ready": any(fact.served for event in events for fact in getattr(event, "facts", ()) if event)}

    def dispatch(event: Event) -> None:
        if isinstance(event, FailureSeen):
            ready.append(bool(event.facts["ready"]))
        else:
            events.append(event)

    watch = FailureWatch("spark1", lambda: NodeState(name="spark1"), dispatch, facts)
    watch.use(CompiledBook(Book(failures=(rule("stall", "it stalls"),))))
    reader = LogReader(HEAD, LogHub(), watch, dispatch)
    reader.open(1000.0)
    lines = ["it stalls", "INFO:     Application startup complete.", "it stalls"]
    reader.take(lines, [2000.0, 2001.0, 2002.0])
    assert ready == [False, True]


# ranks and launchers


def test_further_ranks_of_a_node_are_named() -> None:
    config = NodeConfig(name="spark1", local=True, role="head")
    boxes = [Container(id=n, name=f"vllm{n}", image="vllm", state="running", started_at=float(n)) for n in "12"]
    chosen = choose(config, load_recipes().values(), boxes)
    assert chosen.rank is not None and chosen.rank.source.name == "vllm2"
    assert [source.name for source in chosen.unfollowed] == ["vllm1"]
    told: list[Event] = []
    shelf = Shelf(config, (), LogHub(), lambda: NodeState(name="spark1"), told.append)
    shelf.say_unfollowed(chosen)
    shelf.say_unfollowed(chosen)
    shelf.say_unfollowed(choose(config, (), boxes[1:]))
    assert [(event.source, event.why is None) for event in told if isinstance(event, LogsUnreadable)] == [
        ("spark1/vllm1", False), ("spark1/vllm1", True),
    ]  # fmt: skip


WRITTEN = 600.0
"""How long ago the launcher's log was last written, seconds."""


@pytest.mark.parametrize(
    ("box", "old_s", "told"),
    [
        (None, WRITTEN, True),
        (Container(id="1", name="vllm", image="vllm", state="exited", started_at=time.time() - 900), WRITTEN, True),
        (Container(id="1", name="vllm", image="vllm", state="exited", started_at=time.time() - 60), WRITTEN, False),
        (Container(id="1", name="vllm", image="vllm", state="running", started_at=time.time() - 900), WRITTEN, False),
        (None, 90_000.0, False),
    ],
    ids=["no container", "of this start", "of a later start", "it runs", "days ago"],
)
async def test_a_start_that_failed_before_the_panel(
    tmp_path: Path, box: Container | None, old_s: float, told: bool
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "start-1.log").write_text("an older start: it stalls\n")
    (logs / "start-2.log").write_text("starting\nit stalls\n")
    now = time.time()
    for name, at in (("start-1.log", now - old_s - 5000), ("start-2.log", now - old_s)):
        os.utime(logs / name, (at, at))
    state = NodeState(
        name="spark1",
        containers=Reading[Any](value=ContainerEngine(containers=(box,) if box is not None else ()), at=1.0),
        logs=(RankLog(container="vllm", rank=0),),
    )
    events: list[Event] = []
    shelf = Shelf(NodeConfig(name="spark1", local=True, role="head"), (), LogHub(), lambda: state, events.append)
    shelf.failures.use(CompiledBook(Book(failures=(rule("stall", "it stalls"),))))
    followed = FeedLogs(shelf, [str(tmp_path)])
    node = LocalNode()
    feeds = await Feeds.start(node)
    watch = ContainerWatch(shelf.config, events.append)
    running = asyncio.create_task(followed.run(feeds, watch))
    async with asyncio.timeout(20):
        while str(tmp_path) in followed.waiting:
            await asyncio.sleep(0.02)
    seen = [event for event in events if isinstance(event, FailureSeen)]
    assert len(seen) == int(told)
    if told:
        assert seen[0].source == "spark1/start-2.log" and abs(seen[0].line_at - (now - old_s)) < 2
    with (logs / "start-2.log").open("a") as file:
        file.write("again it stalls\n")
    async with asyncio.timeout(20):
        while len([event for event in events if isinstance(event, FailureSeen)]) == len(seen):
            await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await feeds.close()
