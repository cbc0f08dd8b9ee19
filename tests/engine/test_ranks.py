"""Ranks of a real vLLM that boot, die, stand still and start anew: which one it is, why, and how soon that is said.

Times count from docker's own stamp of the event, or from the panel's reading where docker says nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from dsv41_tui.core.containers import Container
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.log import LogLine, RankLog
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers.log_facts import parse_log_facts
from dsv41_tui.runtime.recipes import load_recipes
from tests.bed.engine.pair import Engine, Pair
from tests.bed.panel import Panel, panel

pytestmark = pytest.mark.engine

WITHIN_S = 2.0
"""The contract: so soon after the evidence the rank is named."""
HEAD, WORKER = "spark1/dsv41-exl3-head", "spark2/dsv41-exl3-worker"


@contextlib.asynccontextmanager
async def watching(pair: Pair) -> AsyncIterator[Panel]:
    async with panel(*pair.nodes, recipes=(load_recipes()["exl3-2x"],)) as seen:
        await seen.until_up()
        await seen.until(seen.cluster.logs_settled, 30)
        events = {"spark1/events", "spark2/events"}
        await seen.until(lambda: events <= set(seen.cluster.logs.sources), 30)
        await asyncio.sleep(1.0)  # the stream of events is asked for when its source is known
        yield seen


def errors(seen: Panel) -> list[Finding]:
    return [found for found in seen.findings if found.severity == "error"]


def only_error(seen: Panel) -> Finding:
    found = errors(seen)
    assert len(found) == 1, seen.describe()
    return found[0]


def rank_log(seen: Panel, source: str) -> RankLog:
    node, container = source.split("/")
    return next(log for log in seen.node(node).logs if log.container == container)


def container(seen: Panel, source: str) -> Container:
    node, name = source.split("/")
    engine = seen.node(node).containers.value
    for item in engine.containers if engine is not None else ():
        if item.name == name:
            return item
    raise LookupError(source)


def followed(seen: Panel, source: str) -> list[LogLine]:
    hub = seen.cluster.logs
    return [line for line in hub.lines(hub.first, hub.end) if line.source == source]


def words(lines: Iterable[str]) -> Counter[str]:
    """Lines without what cleaning does to blanks; empty ones are none."""
    return Counter(text for line in lines if (text := " ".join(clean_line(line).split())))


async def named(seen: Panel, what: Callable[[], object], limit_s: float = 10.0) -> float:
    """Unix seconds at which the panel first said so."""
    await seen.until(what, limit_s)
    return time.time()


async def test_a_pair_boots_without_an_error(stopped_pair: Pair) -> None:
    alarms: set[str] = set()
    async with watching(stopped_pair) as seen:

        def note() -> None:
            alarms.update(f"{found.id}: {found.title}" for found in errors(seen))

        seen.cluster.store.on_change(note)
        await asyncio.to_thread(stopped_pair.restart)
        await seen.until(lambda: rank_log(seen, HEAD).served and rank_log(seen, WORKER).phase == "weights")
        head, worker = rank_log(seen, HEAD), rank_log(seen, WORKER)
        assert (head.rank, worker.rank) == (0, 1)
        assert head.engine_version == worker.engine_version == "0.32.0"
        assert head.world_size == worker.world_size == 2
        assert head.phase == "serving" and not worker.served
        run = [line for line in followed(seen, WORKER) if (line.at or 0.0) >= (worker.started_at or 0.0)]
        facts = [parse_log_facts(line.text, line.at) for line in run]
        assert {"distributed", "load", "weights"} <= {fact.phase for fact in facts if fact is not None}
        assert worker.phase == "weights"
        assert await asyncio.to_thread(stopped_pair.complete, 8, 60.0) == 200
        assert not alarms and not errors(seen), (alarms, seen.describe())


async def test_a_killed_rank_is_named_while_health_still_says_200(pair: Pair) -> None:
    async with watching(pair) as seen:
        assert not errors(seen), seen.describe()
        await asyncio.to_thread(pair.worker.docker, "kill", pair.worker.container)
        at = await named(seen, lambda: seen.finding("engine-rank-gone", "spark2"))
        assert await asyncio.to_thread(pair.health) == 200
        took = at - await asyncio.to_thread(pair.worker.last_event, "die")
        print(f"killed rank named {took:.2f} s after docker's event")
        assert 0 < took <= WITHIN_S
        found = only_error(seen)
        assert found.id == "engine-rank-gone" and found.cause_id == "peer_died" and "rank 1" in found.title.lower()
        assert found.causes[0].likelihood == "confirmed"
        assert "sigkill_unattributed" in {item.cause_id for item in found.causes}

        assert await asyncio.to_thread(pair.complete, 8, 60.0) != 200
        await seen.until(lambda: container(seen, HEAD).state == "exited", 60)
        await asyncio.sleep(3.0)
        found = only_error(seen)
        assert (found.id, found.node, found.cause_id) == ("engine-rank-ended-first", "spark2", "peer_died")
        assert any("closed" in (proof.line or "") for proof in found.evidence), found


async def test_a_paused_rank_is_named_and_forgotten_when_it_goes_on(pair: Pair) -> None:
    async with watching(pair) as seen:
        await asyncio.to_thread(pair.worker.docker, "pause", pair.worker.container)
        try:
            at = await named(seen, lambda: seen.finding("engine-rank-stopped", "spark2"))
            assert await asyncio.to_thread(pair.health) == 200
            took = at - await asyncio.to_thread(pair.worker.last_event, "pause")
            print(f"paused rank named {took:.2f} s after docker's event")
            assert 0 < took <= WITHIN_S
            assert only_error(seen).cause_id == "rank_stopped"
        finally:
            await asyncio.to_thread(pair.worker.docker, "unpause", pair.worker.container)
        await seen.until(lambda: not errors(seen))
        assert await asyncio.to_thread(pair.complete, 4, 60.0) == 200
        assert not errors(seen), seen.describe()


async def test_a_rank_stopped_by_a_signal_is_named_and_forgotten_when_it_goes_on(pair: Pair) -> None:
    async with watching(pair) as seen:
        began = time.monotonic()
        pair.worker.signal(signal.SIGSTOP)
        try:
            await seen.until(lambda: seen.finding("engine-rank-stopped", "spark2"))
            at, read_at = time.monotonic(), seen.node("spark2").processes.at
            assert read_at is not None
            assert await asyncio.to_thread(pair.health) == 200
            print(f"stopped rank named {at - read_at:.2f} s after its reading, {at - began:.2f} s after the signal")
            assert at - read_at <= WITHIN_S
            assert only_error(seen).cause_id == "rank_stopped"
        finally:
            pair.worker.signal(signal.SIGCONT)
        await seen.until(lambda: not errors(seen))
        assert await asyncio.to_thread(pair.complete, 4, 60.0) == 200
        assert not errors(seen), seen.describe()


async def test_a_killed_worker_process_is_the_cause_of_what_follows(pair: Pair) -> None:
    async with watching(pair) as seen:
        pair.head.signal(signal.SIGKILL, only="VLLM::Worker")
        at = await named(seen, lambda: errors(seen), 30)
        told = [line.at for line in followed(seen, HEAD) if "died unexpectedly" in line.text]
        assert len(told) == 1 and told[0] is not None, told
        took = at - told[0]
        print(f"killed worker process named {took:.2f} s after the line that tells of it")
        assert took <= WITHIN_S
        await seen.until(lambda: container(seen, HEAD).state == "exited", 60)
        await asyncio.sleep(3.0)
        found = only_error(seen)
        assert found.node == "spark1", seen.describe()
        assert any("died unexpectedly" in (proof.line or "") for proof in found.evidence), found
        code = await asyncio.to_thread(exit_code_written, pair.head)
        assert found.cause_id == ("sigkill_unattributed" if code == "-9" else "peer_died"), (code, found)


def exit_code_written(engine: Engine) -> str:
    """Of the worker process, as vLLM writes it: it looks before the kernel has told, and then writes None."""
    return re.findall(r"died unexpectedly \(exit code: (\S+)\)", engine.docker_log())[-1]


async def test_a_restart_is_followed_without_gap_or_repeat_and_ends_old_failures(stopped_pair: Pair) -> None:
    pair = stopped_pair
    async with watching(pair) as seen:
        if not errors(seen):
            await asyncio.to_thread(pair.worker.docker, "kill", pair.worker.container)
        await seen.until(lambda: errors(seen))
        before = {source: container(seen, source).started_at for source in (HEAD, WORKER)}
        begun = time.time()
        await asyncio.to_thread(pair.restart)
        await seen.until(lambda: rank_log(seen, HEAD).served)
        for source, started_at in before.items():
            now = container(seen, source).started_at
            assert now is not None and started_at is not None and now > started_at
            assert abs((rank_log(seen, source).started_at or 0.0) - now) < 0.1
        await asyncio.sleep(2.0)
        for source, engine in ((WORKER, pair.worker), (HEAD, pair.head)):
            expected = words(engine.docker_log().split("\n"))
            read = words(line.text for line in followed(seen, source))
            assert not expected - read and not read - expected, (expected - read, read - expected)
        assert not errors(seen), seen.describe()
        old = [item for item in seen.node("spark1").failures if item.source == HEAD and _before(item.started_at, begun)]
        assert not old, old


def _before(started_at: float | None, moment: float) -> bool:
    return started_at is None or started_at < moment
