"""A flood of a log through channel, grammars, failure book, ring and record: nothing is lost, the loop stays free."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.containers import Container, ContainerEngine
from dsv41_tui.core.events import Event
from dsv41_tui.core.log import LogSource
from dsv41_tui.core.model import NodeState
from dsv41_tui.runtime.failures import load_book
from dsv41_tui.runtime.logs.choose import Target
from dsv41_tui.runtime.logs.container_log import ContainerLog
from dsv41_tui.runtime.logs.failures import FailureWatch
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.reader import LogReader
from dsv41_tui.runtime.logs.record import Record
from dsv41_tui.runtime.logs.shelf import TURN_LINES
from dsv41_tui.transport.channel import Channel
from dsv41_tui.transport.local import LocalNode
from dsv41_tui.transport.scripts import start_command
from tests.bench.report import Row

LINES_PER_S = 20_000
BEAT_S = 0.01
PRODUCER = """
import sys, time
number, began, (rate, seconds) = 0, time.monotonic(), map(float, sys.argv[1:])
while time.monotonic() - began < seconds:
    due, out = int((time.monotonic() - began) * rate), []
    while number < due:
        number += 1
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".%09dZ" % (number % 10**9)
        out.append(f"{stamp} (Worker_TP0 pid=268) INFO 11-30 16:17:58 [loggers.py:236] Engine 000: step {number}, fine")
    sys.stdout.write("".join(line + "\\n" for line in out))
    sys.stdout.flush()
    time.sleep(0.01)
"""


def reading(window_s: float) -> list[Row]:
    """How late the loop is while 20,000 lines a second are read, beside an idle one; lines lost; memory."""
    idle = asyncio.run(_idle(min(window_s, 5.0)))
    with tempfile.TemporaryDirectory() as folder:
        late, lost, first, last = asyncio.run(_flood(window_s, Path(folder)))
    return [
        Row.floor(f"event loop late p95, {LINES_PER_S:,} log lines/s", "ms", late, idle, "an idle loop", 50.0),
        Row.floor("log lines lost from the record", "lines", lost, 0.0, "none", 0.0),
        Row.ratio("memory at the end of reading a flood", "MiB", last, first, "after its first third", 1.1),
    ]


async def _late(until: Callable[[], bool]) -> float:
    """p95 in milliseconds by which a timer of the loop fires late."""
    late: list[float] = []
    while not until():
        due = time.monotonic() + BEAT_S
        await asyncio.sleep(BEAT_S)
        late.append((time.monotonic() - due) * 1000)
    return sorted(late)[int(len(late) * 0.95)]


async def _idle(seconds: float) -> float:
    end = time.monotonic() + seconds
    return await _late(lambda: time.monotonic() > end)


async def _flood(seconds: float, folder: Path) -> tuple[float, float, float, float]:
    source = LogSource(id="a/b", node="a", kind="rank", name="b", rank=0)
    hub = LogHub(Record(folder, "bench"))
    events: list[Event] = []
    watch = FailureWatch("a", lambda: NodeState(name="a"), events.append)
    watch.use(CompiledBook(load_book().book))
    target = Target(source, Container(id="ab", name="b", started_at=1.0))
    follower = ContainerLog(target, LogReader(source, hub, watch, events.append), 10)
    follower.open(target, ContainerEngine())
    program = folder / "producer.py"
    program.write_text(PRODUCER)
    command = f"{sys.executable} {program} {LINES_PER_S} {seconds}"
    channel = await Channel.start(LocalNode(), start_command(), "stream", "abc", A=command)
    done = False
    beat = asyncio.create_task(_late(lambda: done))
    memory: list[float] = []
    while (lines := await channel.batch()) is not None:
        for start in range(0, len(lines), TURN_LINES):
            follower.take(lines[start : start + TURN_LINES])
            await hub.settle()
        memory.append(psutil.Process().memory_info().rss / (1 << 20))
        events.clear()
    done = True
    late = await beat
    await channel.close()
    folder_of_record, sent = (
        hub.folder,
        int(hub.lines(hub.end - 1, hub.end)[0].text.rsplit("step ", 1)[1].split(",")[0]),
    )
    await hub.close()
    assert folder_of_record is not None
    kept = sum(file.read_bytes().count(b"\n") for file in folder_of_record.glob("*.log"))
    return late, float(sent - kept), memory[len(memory) // 3], memory[-1]
