"""From a node's bytes to the hub: resumed logs, chosen containers, levels, secrets, failures; and a flood."""

from __future__ import annotations

import asyncio
import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.containers import Container
from dsv41_tui.core.events import Event, FailureSeen, LogSourceOpened, RankLogChanged
from dsv41_tui.core.failure import Book, FailureRule, Match
from dsv41_tui.core.log import LogSource
from dsv41_tui.core.model import NodeState, Reading
from dsv41_tui.core.readings import ClockOffset
from dsv41_tui.runtime.logs import commands
from dsv41_tui.runtime.logs.choose import choose
from dsv41_tui.runtime.logs.failures import FailureWatch
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.position import Position, Tail
from dsv41_tui.runtime.logs.reader import LogReader
from dsv41_tui.runtime.logs.record import Record
from dsv41_tui.runtime.recipes import load_recipes
from dsv41_tui.transport.channel import Channel
from dsv41_tui.transport.local import LocalNode
from dsv41_tui.transport.scripts import start_command

HEAD = LogSource(id="spark1/head", node="spark1", kind="rank", name="head", rank=0)
KERNEL = LogSource(id="spark1/kernel", node="spark1", kind="kernel", name="kernel")


# resuming


@pytest.mark.parametrize("seed", range(20))
def test_a_log_that_is_cut_anywhere_goes_on_without_gap_or_repeat(seed: int) -> None:
    """Lines of one instant, equal lines, and two streams a moment out of order; docker gives all from `since` on."""
    chance = random.Random(seed)
    at, whole = 1000.0, []
    for _ in range(300):
        at += chance.choice([0.0, 0.0, 0.001, 0.1, 0.9])
        whole.append(
            (round(at - chance.choice([0.0, 0.0, 0.2]), 3), chance.choice(["same", f"line {chance.random()}"]))
        )
    position, read = Position(), []
    done = 0
    while done < len(whole):
        since = position.resume()
        end = min(len(whole), done + chance.randrange(1, 90))
        offered = [entry for entry in whole[:end] if since is None or entry[0] >= since]
        for start in range(0, len(offered), 7):
            batch = offered[start : start + 7]
            times, lines = [entry[0] for entry in batch], [f"{entry[0]} {entry[1]}" for entry in batch]
            read += [lines[place] for place in position.fresh(times, lines)]
        done = end
    assert read == [f"{at} {text}" for at, text in whole]


def test_what_is_remembered_of_a_log_is_bounded() -> None:
    position = Position()
    for number in range(2000):
        position.fresh([number * 0.1], [f"line {number}"])
    assert sum(len(lines) for _, _, lines in position._recent) < 40


def test_a_file_without_stamps_goes_on_where_it_was_left() -> None:
    tail = Tail()
    assert not tail.resume()
    assert tail.fresh(["a", "b", "b"]) == ["a", "b", "b"]
    assert tail.resume()
    assert tail.fresh(["a", "b", "b", "c"]) == ["c"]
    assert tail.fresh(["b"]) == ["b"]
    tail.resume()
    assert tail.fresh(["a new file"]) == ["a new file"]


# choosing


def found(*containers: Container, rank: int | None = None) -> tuple[str | None, list[tuple[str, str]], Any]:
    config = NodeConfig(name="spark2", local=True, role="worker", rank=rank)
    chosen = choose(config, load_recipes().values(), containers)
    others = [(item.container.name, item.source.kind) for item in chosen.others]
    return chosen.rank.container.name if chosen.rank else None, others, chosen.rank


def test_the_recipe_names_the_containers() -> None:
    name, others, target = found(
        Container(id="1", name="dsv41-exl3-worker", image="x", state="running"),
        Container(id="2", name="dsv41-exl3-nfs", image="x", state="running"),
        Container(id="3", name="litellm", image="ghcr.io/berriai/litellm:main", state="running"),
        Container(id="4", name="mine", image="vllm/vllm-openai", state="running", started_at=9.0),
    )
    assert name == "dsv41-exl3-worker" and others == [("dsv41-exl3-nfs", "service"), ("litellm", "proxy")]
    assert target.source.rank == 1 and not target.guessed and target.source.id == "spark2/dsv41-exl3-worker"


@pytest.mark.parametrize(
    ("image", "command"), [("lmsysorg/sglang:v0.5", None), ("x", "python3 -m vllm.ent…"), ("nvcr.io/vLLM:1", "bash")]
)
def test_without_it_an_engine_is_known_by_its_image_or_command(image: str, command: str | None) -> None:
    name, _, target = found(
        Container(id="0", name="db", image="postgres", state="running"),
        Container(id="1", name="mine", image=image, command=command, state="running"),
        rank=3,
    )
    assert name == "mine" and target.guessed and target.source.rank == 3


def test_the_one_that_runs_is_followed_and_else_the_last_one() -> None:
    old = Container(id="1", name="a", image="vllm", state="exited", started_at=9.0)
    new = Container(id="2", name="b", image="vllm", state="running", started_at=5.0)
    older = Container(id="3", name="c", image="vllm", state="exited", started_at=1.0)
    assert found(old, new, older)[0] == "b"
    assert found(older, old)[0] == "a"
    assert found()[0] is None


def test_commands_quote_what_a_node_or_a_file_named() -> None:
    assert commands.container_log("docker", "ab; reboot", 5.5, 10).endswith("--since 1970-01-01T00:00:05Z 'ab; reboot'")
    assert "ls -t \"$HOME\"'/my recipe'/logs/*.log 2>/dev/null" in commands.launcher_files("~/my recipe")
    assert commands.launcher_log("/a b").endswith("exec tail -n +$((s + 1)) -F '/a b' 2>/dev/null")


# reading


class Bench:
    """A reader with its hub, and the events that it gave."""

    def __init__(self, source: LogSource, *rules: FailureRule, record: Record | None = None) -> None:
        self.events: list[Event] = []
        self.node = NodeState(
            name="spark1", clock=Reading[Any](value=ClockOffset(offset_s=100.0, uncertainty_s=0.01), at=1.0)
        )
        self.hub = LogHub(record)
        self.watch = FailureWatch("spark1", lambda: self.node, self.events.append, lambda: {"mem_free": 5.0})
        self.reader = LogReader(source, self.hub, self.watch, self.events.append)
        self.book = CompiledBook(Book(failures=rules))

    def seen(self) -> list[FailureSeen]:
        return [event for event in self.events if isinstance(event, FailureSeen)]


def rule(id: str, pattern: str, **match: Any) -> FailureRule:
    return FailureRule(id=id, layer="vllm", severity="high", title={"en": id}, match=Match(any=(pattern,), **match))


async def test_lines_get_their_level_and_lose_their_secrets() -> None:
    bench = Bench(HEAD)
    bench.reader.open(50.0)
    texts = [
        "(Worker_TP0 pid=1) INFO 11-30 16:17:58 [core.py:1] fine",
        "ERROR 11-30 16:17:58 [a.py:1] HF_TOKEN=hf_abcdefghijkl",
        '{"message": "said", "level": "ERROR", "timestamp": "2026-11-30T16:17:58Z"}', "plain",
    ]  # fmt: skip
    bench.reader.take(texts, [60.0] * 4)
    lines = bench.hub.lines(1, 9)
    assert [line.level for line in lines] == ["I", "E", "E", ""]
    assert lines[0].text == texts[0] and "hf_abc" not in lines[1].text and lines[2].text == "said"
    opened = [event.source for event in bench.events if isinstance(event, LogSourceOpened)]
    assert opened == [HEAD]


async def test_the_engine_state_is_told_and_an_earlier_run_tells_nothing() -> None:
    bench = Bench(HEAD)
    bench.reader.open(1000.0)
    version = "spark-01:268:268 [0] NCCL INFO NCCL version 2.28.9+cuda13.0"
    bench.reader.take([version], [10.0])
    assert not [event for event in bench.events if isinstance(event, RankLogChanged) and event.facts]
    bench.reader.take([version], [1000.2])
    told = [event for event in bench.events if isinstance(event, RankLogChanged) and event.facts]
    assert told[0].facts[0].nccl_version == "2.28.9+cuda13.0" and told[0].started_at == 1000.0
    assert told[0].line_at == 1000.2 and told[0].container == "head"


async def test_failures_are_counted_a_batch_at_a_time_with_the_corrected_time() -> None:
    bench = Bench(HEAD, rule("broken", "engine is broken"), rule("lost", "peer lost it"))
    bench.reader.open(1000.0)
    bench.reader.take(["engine is broken before"], [500.0])
    bench.reader.take(["engine is broken early"], [1001.0])
    assert not bench.seen()
    bench.watch.use(bench.book)
    (early,) = bench.seen()
    assert (early.rule, early.line, early.line_at, early.count) == ("broken", "engine is broken early", 901.0, 1)
    assert (early.number, early.source, early.rank, early.started_at) == (2, HEAD.id, 0, 1000.0)
    assert early.facts == {"mem_free": 5.0}
    bench.reader.take(
        ["x", "Engine is broken 1", "peer lost it", "engine is broken 2"], [1002.0, 1003.0, 1004.0, 1005.0]
    )
    _, broken, lost = bench.seen()
    assert (broken.count, broken.line, broken.line_at, broken.last_at) == (2, "Engine is broken 1", 903.0, 905.0)
    assert lost.rule == "lost" and lost.number == 5


async def test_kernel_lines_from_before_the_service_show_nothing() -> None:
    bench = Bench(KERNEL, rule("oom", "Out of memory: Killed", log="kernel"))
    bench.watch.use(bench.book)
    bench.reader.open(1000.0)
    line = '{"__REALTIME_TIMESTAMP":"%d000000","PRIORITY":"3","MESSAGE":"Out of memory: Killed process 5 (vllm)"}'
    bench.reader.take([line % 900, line % 1100])
    (seen,) = bench.seen()
    assert seen.line_at == 1000.0 and seen.line.startswith("Out of memory") and seen.started_at is None
    assert [held.level for held in bench.hub.lines(1, 5)] == ["E", "E"]


# a flood


async def test_a_flood_of_a_real_process_is_recorded_whole_in_order_and_memory_stays(tmp_path: Path) -> None:
    count = 200_000
    bench = Bench(HEAD, rule("needle", "needle in the hay"), record=Record(tmp_path, "flood"))
    bench.watch.use(bench.book)
    bench.reader.open(0.0)
    node = LocalNode()
    script = f"seq -f 'INFO 11-30 16:17:58 [engine.py:1] line number %.0f of many' 1 {count}"
    channel = await Channel.start(node, start_command(), "stream", "abc", A=script)
    longest, before = 0.0, time.monotonic()
    grown: list[int] = []

    async def heartbeat() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - began)

    beat = asyncio.create_task(heartbeat())
    while (lines := await channel.batch()) is not None:
        bench.reader.take(lines)
        await bench.hub.settle()
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    beat.cancel()
    await channel.close()
    await bench.hub.close()
    print(f"{count / (time.monotonic() - before):.0f} lines/s, longest turn {longest * 1000:.0f} ms")
    assert bench.hub.end == count + 1
    assert bench.hub.folder is not None
    recorded = [
        row.rsplit("line number ", 1)[1].split()[0]
        for file in sorted(bench.hub.folder.glob("*.log"))
        for row in file.read_text().splitlines()
    ]
    assert recorded == [str(number) for number in range(1, count + 1)]
    assert grown[-1] - grown[len(grown) // 2] < 8 << 10, "KiB: the second half of the flood takes no more memory"
    kept = bench.hub.lines(bench.hub.first, bench.hub.end)
    assert 10_000 < len(kept) < 100_000 and kept[-1].text.endswith(f"{count} of many")
