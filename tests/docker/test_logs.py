"""Containers and their logs with a real docker engine: nothing is missed over an end, nothing is read twice."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import Container
from tests.bed.panel import Panel, panel
from tests.docker.engine import docker, run

pytestmark = pytest.mark.docker

NAME = "vllm_node"
SOURCE = f"node/{NAME}"


@contextlib.asynccontextmanager
async def watched() -> AsyncIterator[Panel]:
    async with panel(NodeConfig(name="node", local=True, role="head")) as seen:
        yield seen


def texts(seen: Panel, source: str = SOURCE) -> list[str]:
    hub = seen.cluster.logs
    return [line.text for line in hub.lines(hub.first, hub.end) if line.source == source]


def container(seen: Panel, name: str = NAME) -> Container:
    engine = seen.node().containers.value
    found = [item for item in (engine.containers if engine else ()) if item.name == name]
    if not found:
        raise LookupError(name)
    return found[0]


COUNTING = "i=0; while true; do i=$((i+1)); echo line $i; echo err $i >&2; sleep 0.05 || sleep 1; done"


async def test_a_restart_leaves_no_gap_and_no_repeat(image: str) -> None:
    run(image, NAME, COUNTING)
    async with watched() as seen:
        await seen.until(lambda: len(texts(seen)) > 20)
        docker("restart", "-t", "0", NAME)
        await seen.until(lambda: texts(seen).count("line 1") == 2)
        docker("kill", NAME)
        await seen.until(lambda: container(seen).state == "exited")
        docker("start", NAME)
        await seen.until(lambda: texts(seen).count("line 1") == 3)
        docker("kill", NAME)
        await seen.until(lambda: container(seen).state == "exited")
        expected = docker("logs", NAME).split("\n")[:-1]
        await seen.until(lambda: [text for text in texts(seen) if text.startswith("line")] == expected)
        assert len({text for text in texts(seen) if text.startswith("err")}) >= 5


async def test_a_new_container_of_the_same_name_is_a_new_log(image: str) -> None:
    run(image, NAME, "echo first; sleep 300")
    async with watched() as seen:
        await seen.until(lambda: texts(seen) == ["first"])
        docker("rm", "-f", NAME)
        run(image, NAME, "echo second; sleep 300")
        await seen.until(lambda: texts(seen) == ["first", "second"])
        logs = seen.node().logs
        assert [log.container for log in logs] == [NAME] and logs[0].started_at == container(seen).started_at


async def test_a_dead_rank_is_known_within_two_seconds(image: str) -> None:
    run(image, NAME, "sleep 300")
    async with watched() as seen:
        await seen.until(lambda: container(seen).state == "running" and "node/events" in seen.cluster.logs.sources)
        await asyncio.sleep(1.0)  # the stream of events is asked for when its source is known
        docker("kill", "-s", "KILL", NAME)
        took = await seen.until(lambda: container(seen).exit_code == 137)
        assert took < 2.0
        await seen.until(lambda: any("die" in text and "137" in text for text in texts(seen, "node/events")))


async def test_an_end_by_the_memory_limit_says_so(image: str) -> None:
    docker("create", "--name", NAME, "--network", "none", "--memory", "16m", image, "sh", "-c", "tail /dev/zero")
    async with watched() as seen:
        await seen.until(lambda: container(seen).state == "created")
        docker("start", NAME)
        await seen.until(lambda: container(seen).state == "exited")
        await seen.until(lambda: container(seen).exit_code not in (None, 0))
        assert container(seen).oom_killed is True
        assert container(seen).memory_limit_bytes == 16 << 20


async def test_long_lines_terminals_and_progress_bars(image: str) -> None:
    script = (
        "head -c 40000 /dev/zero | tr '\\0' x; echo END; printf 'a 1%%\\ra 50%%\\ra 100%%\\n'; "
        "printf '\\033[1;36mcolour\\033[0m\\033]0;title\\007\\n'; sleep 300"
    )
    run(image, NAME, script)
    run(image, "sglang_tty", "echo on a terminal; sleep 300", "--tty")
    async with watched() as seen:
        await seen.until(lambda: "colour" in texts(seen) or "on a terminal" in texts(seen, "node/sglang_tty"))
        if texts(seen):
            docker("rm", "-f", NAME)  # the newer of two guesses is followed; now it is the other's turn
        await seen.until(lambda: texts(seen, "node/sglang_tty") == ["on a terminal"])
        docker("rm", "-f", "sglang_tty")
        run(image, NAME + "2", script)
        await seen.until(lambda: texts(seen, SOURCE + "2") == ["x" * 40000 + "END", "a 100%", "colour"])


async def test_no_secret_of_a_container_is_held(image: str) -> None:
    secret = "hf_AbCdEfGh12345678secret"
    run(
        image, NAME, f"echo starting --api-key {secret}; echo HF_TOKEN={secret}; sleep 300",
        "-e", f"HF_TOKEN={secret}", "-e", f"VLLM_API_KEY={secret}", "-e", f"NCCL_AUTH_TOKEN={secret}",
        "-e", "NCCL_DEBUG=INFO", "-e", "VLLM_HOST_IP=10.0.0.1", "--ulimit", "memlock=65536:65536",
        "--label", f"key={secret}",
    )  # fmt: skip
    async with watched() as seen:
        await seen.until(lambda: len(texts(seen)) == 2 and container(seen).env)
        assert container(seen).env == {"NCCL_DEBUG": "INFO", "VLLM_HOST_IP": "10.0.0.1"}
        assert container(seen).memlock_bytes == 65536
        assert secret not in repr(seen.state) and not any(secret in text for text in texts(seen))


async def test_a_log_that_cannot_be_read_is_said(image: str) -> None:
    run(image, NAME, "echo hello; sleep 300", "--log-driver", "none")
    async with watched() as seen:
        await seen.until(lambda: SOURCE in seen.node().unread_logs)
        assert "support reading" in seen.node().unread_logs[SOURCE]
        assert container(seen).log_driver == "none"


async def test_a_flood_is_read_whole_and_in_order(image: str) -> None:
    run(image, NAME, "sleep 1; seq 1 60000; echo done; sleep 300")
    async with watched() as seen:
        hub = seen.cluster.logs
        numbers: list[int] = []
        place = 1

        def collect() -> bool:
            nonlocal place
            lines = hub.lines(place, hub.end)
            place = hub.end
            numbers.extend(int(line.text) for line in lines if line.source == SOURCE and line.text.isdigit())
            return any(line.text == "done" for line in lines)

        began = time.monotonic()
        await seen.until(collect, 60)
        assert numbers == list(range(1, 60001)), (len(numbers), time.monotonic() - began)
