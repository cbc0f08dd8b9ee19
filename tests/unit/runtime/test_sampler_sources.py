"""What a tick of the collector asks for: files that change rarely are asked for rarely, and kept between."""

from __future__ import annotations

import asyncio
import fnmatch
from typing import Any

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import Container, ContainerEngine
from dsv41_tui.core.events import Event, ReadingTaken
from dsv41_tui.core.model import NodeState, Reading
from dsv41_tui.parsers.frame import Frame
from dsv41_tui.runtime.cost import Cost
from dsv41_tui.runtime.sampler import Sampler

PORT = "/sys/class/infiniband/rocep1s0f0/ports/1"
FILES = {
    "/proc/uptime": "10.0 20.0",
    "/proc/net/dev": f"a | b\n eth0: {' '.join(['1'] * 16)}\n",
    "/sys/class/net/eth0/mtu": "9000\n",
    f"{PORT}/state": "4: ACTIVE\n",
    f"{PORT}/gids/3": "0000:0000:0000:0000:0000:ffff:0a4d:010b\n",
    "/sys/class/infiniband/rocep1s0f0/fw_ver": "28.45.4028\n",
    f"{PORT}/hw_counters/out_of_sequence": "4\n",
    "/proc/71/limits": "Max locked memory         unlimited            unlimited            bytes\n",
    "/proc/71/stat": "71 (bash) S 1\n",
}


class Files:
    """A collector that answers from a dictionary, as the shell would expand the patterns."""

    pids = ()

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def tick(self, paths: list[str]) -> Frame:
        self.asked.append(paths)
        found = {path: text for path, text in FILES.items() if any(fnmatch.fnmatch(path, asked) for asked in paths)}
        return Frame(files=found, errors={})


def ticks(count: int, state: NodeState, pause_s: float = 1.0) -> tuple[Files, dict[str, list[Any]]]:
    """So many ticks, one a second; what was asked, and the values of each reading."""
    files, values, clock = Files(), dict[str, list[Any]](), [100.0]

    def taken(event: Event) -> None:
        assert isinstance(event, ReadingTaken)
        values.setdefault(event.name, []).append(event.value)

    class Wire:
        def wire_bytes(self) -> int:
            return 0

    async def run() -> None:
        config = NodeConfig(name="spark1")
        sampler = Sampler(
            config, Wire(), files, Cost(config, taken), taken,  # type: ignore[arg-type]
            clock=lambda: clock[0], state=lambda: state,
        )  # fmt: skip
        for _ in range(count):
            await sampler._tick()
            clock[0] += pause_s

    asyncio.run(run())
    return files, values


def test_tables_are_asked_for_rarely_and_joined_to_each_reading() -> None:
    files, values = ticks(9, NodeState(name="spark1"))
    gids = [any("gids/" in path for path in asked) for asked in files.asked]
    assert gids == [True] + [False] * 8
    assert len(values["rdma"]) >= 4
    for ports in values["rdma"]:
        assert ports[0].firmware == "28.45.4028" and ports[0].gids[0].ipv4 == "10.77.1.11"
    assert all(interfaces[0].mtu == 9000 for interfaces in values["net"])


def test_they_are_asked_for_again_when_due() -> None:
    files, _ = ticks(13, NodeState(name="spark1"))
    assert sum(any("gids/" in path for path in asked) for asked in files.asked) == 2


def test_a_table_is_never_walked_whole() -> None:
    files, _ = ticks(1, NodeState(name="spark1"))
    slots = {path.rpartition("/")[2] for path in files.asked[0] if "/gid" in path}
    assert slots == {"[0-9]", "1[0-5]"}


def test_counters_are_read_less_often_than_states() -> None:
    _, values = ticks(11, NodeState(name="spark1"))
    assert 2 <= len(values["rdma_counters"]) <= 3 < len(values["rdma"])


def test_processes_are_those_of_containers_that_run() -> None:
    running = Container(id="1", name="head", state="running", pid=71)
    ended = Container(id="2", name="old", state="exited", pid=None)
    engine = ContainerEngine(containers=(running, ended))
    files, values = ticks(1, NodeState(name="spark1", containers=Reading(value=engine, at=1.0)))
    assert [path for path in files.asked[0] if path.startswith("/proc/7")] == ["/proc/71/limits", "/proc/71/stat"]
    ((process,),) = values["processes"]
    assert (process.container, process.memlock_bytes, process.state) == ("head", -1, "S")


def test_no_process_is_read_before_docker_named_one() -> None:
    _, values = ticks(2, NodeState(name="spark1"))
    assert "processes" not in values
    _, values = ticks(1, NodeState(name="spark1", containers=Reading(value=ContainerEngine(), at=1.0)))
    assert values["processes"] == [()]
