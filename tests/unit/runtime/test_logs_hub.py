"""Lines of all sources: numbered without a gap, bounded in memory, all of them on disk."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from dsv41_tui.core.log import LogLine, LogSource
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.record import Record
from dsv41_tui.runtime.logs.ring import LINE_BYTES, Ring

HEAD = LogSource(id="spark1/dsv41-exl3-head", node="spark1", kind="rank", name="dsv41-exl3-head", rank=0)
KERNEL = LogSource(id="spark2/kernel", node="spark2", kind="kernel", name="kernel")


def add(hub: LogHub, source: LogSource, *texts: str, at: float | None = 5.0) -> list[LogLine]:
    return hub.add(source, [at] * len(texts), list(texts), ["I"] * len(texts))


async def test_lines_are_numbered_over_all_sources_and_found_by_number() -> None:
    hub = LogHub()
    add(hub, HEAD, "a", "b")
    add(hub, KERNEL, "c", at=None)
    add(hub, HEAD, "d")
    assert (hub.first, hub.end) == (1, 5)
    lines = hub.lines(0, 99)
    assert [(line.number, line.source, line.text) for line in lines] == [
        (1, HEAD.id, "a"), (2, HEAD.id, "b"), (3, KERNEL.id, "c"), (4, HEAD.id, "d"),
    ]  # fmt: skip
    assert lines[2].at is None and lines[0].at == 5.0
    assert [line.text for line in hub.lines(2, 4)] == ["b", "c"]
    assert hub.lines(4, 4) == [] and hub.lines(7, 9) == []
    assert hub.counts[HEAD.id]["I"] == 3 and set(hub.sources) == {HEAD.id, KERNEL.id}
    assert hub.folder is None and list(await hub.older(1, 3)) == []


@pytest.mark.parametrize("batch", [1, 7, 600])
async def test_memory_is_bounded_and_the_newest_lines_stay(batch: int) -> None:
    hub = LogHub(ring=Ring(limit_bytes=200_000))
    for start in range(0, 6000, batch):
        add(hub, HEAD, *(f"line {number}" for number in range(start, start + batch)))
    kept = hub.lines(hub.first, hub.end)
    assert hub.end - hub.first == len(kept)
    assert [line.number for line in kept] == list(range(hub.first, hub.end))
    assert kept[-1].text == f"line {hub.end - 2}"
    assert 150 < len(kept) < 200_000 / LINE_BYTES + 600


async def test_one_batch_beyond_the_bound_is_kept_alone() -> None:
    hub = LogHub(ring=Ring(limit_bytes=1000))
    add(hub, HEAD, "old")
    add(hub, HEAD, "x" * 5000)
    assert [len(line.text) for line in hub.lines(1, 9)] == [5000]


async def test_listeners_are_told_once_for_many_batches() -> None:
    hub, told = LogHub(), []
    stop = hub.on_change(lambda: told.append(hub.end))
    for number in range(50):
        add(hub, HEAD, str(number))
    await asyncio.sleep(0.1)
    assert told == [51]
    stop()
    add(hub, HEAD, "more")
    await asyncio.sleep(0.1)
    assert told == [51]


async def test_the_record_has_every_line_also_those_that_memory_let_go(tmp_path: Path) -> None:
    record = Record(tmp_path / "state" / "logs", "my cluster/../x", segment_bytes=20_000)
    hub = LogHub(record, Ring(limit_bytes=10_000))
    for start in range(0, 3000, 100):
        add(hub, HEAD, *(f"line\t{number} 資料" for number in range(start, start + 100)), at=None if start else 1.5)
        await hub.settle()
    assert hub.first > 2000
    assert [line.text for line in await hub.older(998, 1003)] == [f"line\t{number} 資料" for number in range(997, 1002)]
    assert await hub.older(hub.first, hub.end) == hub.lines(hub.first, hub.end)
    assert (await hub.older(1, 2))[0].at == 1.5
    await hub.close()
    assert hub.folder is not None and hub.folder.parent == tmp_path / "state" / "logs"
    files = sorted(hub.folder.glob("*.log"))
    assert len(files) > 3 and sum(len(file.read_text().splitlines()) for file in files) == 3000
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(hub.folder.stat().st_mode) == 0o700 == stat.S_IMODE(hub.folder.parent.stat().st_mode)


async def test_all_runs_together_stay_below_the_bound_and_the_oldest_go_first(tmp_path: Path) -> None:
    parent = tmp_path / "logs"
    sizes = []
    for run in range(4):
        record = Record(parent, f"run{run}", total_bytes=100_000, segment_bytes=10_000)
        hub = LogHub(record)
        for _ in range(8):
            add(hub, HEAD, *["y" * 90] * 50)
            await hub.settle()
            await asyncio.sleep(0.01)
            sizes.append(sum(path.stat().st_size for path in parent.rglob("*.log")))
        await hub.close()
        assert record.error is None
    assert max(sizes) <= 100_000 and sizes[-1] > 50_000
    assert "run3" in {path.parent.name[-4:] for path in parent.rglob("*.log")}
    assert not any(path.name.endswith("run0") for path in parent.iterdir())


async def test_a_record_that_cannot_be_written_is_said_and_the_screen_goes_on(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder belongs")
    hub = LogHub(Record(tmp_path / "logs", "x"))
    add(hub, HEAD, "a")
    await hub.settle()
    await asyncio.sleep(0.05)
    assert hub.record_error is not None and str(tmp_path) in hub.record_error and "\n" not in hub.record_error
    add(hub, HEAD, "b")
    assert [line.text for line in hub.lines(1, 9)] == ["a", "b"]
    await hub.close()
