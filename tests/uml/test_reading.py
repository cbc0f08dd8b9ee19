"""What the panel says of mounts that work: rates, options asked for and obtained, the NAS's own word."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from tests.bed.panel import panel
from tests.bed.uml.cluster import NAS_ADDRESS, UmlCluster

pytestmark = pytest.mark.uml


async def test_a_healthy_read_shows_the_rate_that_the_reader_counts(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1", options="nconnect=4")
    with cluster.reading("node1") as progress:
        async with panel(cluster.config("node1", "head"), cluster.config("nas", "nas")) as watched:
            await watched.until(lambda: watched.mount("/mnt/nas", "node1").state == "fine", 30)
            rates = watched.read_rates("/mnt/nas", "node1")
            await watched.until(lambda: len(rates) >= 7, 40)
            mount = watched.mount("/mnt/nas", "node1")
            assert watched.finding("nfs-not-responding") is None
            assert watched.finding("nfs-slow") is None
    times = sorted(rates)[:-1]  # the reader has not entered what it read at the last sample
    shown = sum(rates[end] * (end - start) for start, end in pairwise(times))
    assert shown == pytest.approx(_book(progress, times[-1]) - _book(progress, times[0]), rel=0.2)
    assert mount.stats is not None and len(mount.stats.transports) == 4
    assert mount.got["vers"] == "4.2" and mount.got["rsize"] == "1048576"
    # The kernel truncates both sums to whole milliseconds, so over a few reads one can pass the other by a part of one.
    assert mount.rtt_ms is not None and mount.execute_ms is not None and 0 < mount.rtt_ms < mount.execute_ms + 1


def _book(progress: Path, uptime_s: float) -> float:
    """Bytes that the reader itself had counted at a moment of the node's uptime, between its lines by proportion."""
    lines = [line.split() for line in progress.read_text().splitlines()]
    book = [(float(moment), int(count)) for moment, count in lines]
    for (start, before), (end, after) in pairwise(book):
        if start <= uptime_s <= end:
            return before + (after - before) * (uptime_s - start) / (end - start)
    raise AssertionError(f"the reader was not at work at {uptime_s}: {book[0]} to {book[-1]}")


async def test_a_nas_with_busybox_alone_tells_its_threads_versions_and_block_size(cluster: UmlCluster) -> None:
    shell = await asyncio.to_thread(
        cluster.login, "nas", "readlink /proc/$$/exe; ls -l $(which head) | grep -c busybox"
    )
    assert shell.split() == ["/busybox", "1"]
    async with panel(cluster.config("nas", "nas")) as watched:
        await watched.until(lambda: watched.node("nas").nas.value is not None, 30)
        told = watched.node("nas").nas.value
        memory, interfaces = watched.node("nas").memory.value, watched.node("nas").net.value
    assert told is not None
    assert told.nfsd_threads == 8
    assert told.max_block_bytes == 1 << 20
    assert "4.2" in told.versions and "3" not in told.versions
    assert memory is not None and memory.total is not None and interfaces


async def test_an_rsize_that_the_server_clamps_is_said(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.nfs_stop)
    await asyncio.to_thread(cluster.nfs_start, 131072)
    await asyncio.to_thread(cluster.mount, "node1")
    cluster.fstab("node1", f"{NAS_ADDRESS}:/ /mnt/nas nfs4 vers=4.2,rsize=1048576,wsize=1048576 0 0")
    async with panel(cluster.config("node1", "head"), cluster.config("nas", "nas")) as watched:
        await watched.until(lambda: watched.finding("nfs-rsize-clamped", "node1"), 30)
        await watched.until(lambda: watched.node("nas").nas.value is not None, 30)
        found = watched.finding("nfs-rsize-clamped", "node1")
        mount = watched.mount("/mnt/nas", "node1")
    assert mount.got["rsize"] == "131072" and mount.asked["rsize"] == "1048576"
    assert found is not None and found.severity == "warn"
    assert {(item.source, item.reading) for item in found.evidence} >= {
        ("/etc/fstab", "rsize=1048576"),
        ("/proc/self/mountinfo", "rsize=131072"),
        ("/proc/fs/nfsd/max_block_size", "131072"),
    }


async def test_an_nconnect_that_an_earlier_mount_decides_is_said(cluster: UmlCluster) -> None:
    def both() -> None:
        cluster.mount("node1", "/mnt/nas")
        cluster.mount("node1", "/mnt/gone", options="nconnect=8", export="/gone")

    await asyncio.to_thread(both)
    cluster.fstab("node1", f"{NAS_ADDRESS}:/gone /mnt/gone nfs4 vers=4.2,nconnect=8 0 0")
    async with panel(cluster.config("node1", "head")) as watched:
        await watched.until(lambda: watched.finding("nfs-nconnect-ignored", "node1"), 30)
        found = watched.finding("nfs-nconnect-ignored", "node1")
        stats = watched.mount("/mnt/gone", "node1").stats
    assert stats is not None and len(stats.transports) == 1
    assert found is not None and "/mnt/nas" in " ".join([cause.why for cause in found.causes])
    assert {(item.source, item.reading) for item in found.evidence} == {
        ("/etc/fstab", "nconnect=8"),
        ("/proc/self/mountstats xprt", "1 xprt"),
    }


async def test_a_soft_mount_is_said_with_the_better_line(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1", options="soft")
    async with panel(cluster.config("node1", "head")) as watched:
        await watched.until(lambda: watched.finding("nfs-soft-mount", "node1"), 30)
        found = watched.finding("nfs-soft-mount", "node1")
    assert found is not None and found.severity == "warn"
    assert found.fix.restart and "hard" in found.fix.text


async def test_a_probe_that_waits_behind_a_saturated_line_is_slow_and_not_a_hang(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1")
    async with panel(cluster.config("node1", "head")) as watched:
        await watched.until(lambda: watched.mount("/mnt/nas", "node1").state == "idle", 30)
        seen: set[str] = set()
        late: set[float] = set()

        def note() -> None:
            mount = watched.mount("/mnt/nas", "node1")
            seen.add(mount.state)
            if mount.last_probe is not None and mount.last_probe.outcome == "timeout":
                late.add(mount.last_probe.started_at)

        watched.cluster.store.on_change(note)
        with cluster.saturated("node1"):
            await watched.until(lambda: len(late) >= 2 and watched.finding("nfs-slow", "node1"), 60)
            found = watched.finding("nfs-slow", "node1")
        assert "not-responding" not in seen and "slow" in seen
        assert found is not None and "slow_load_not_hang" in {cause.cause_id for cause in found.causes}
        await watched.until(lambda: watched.mount("/mnt/nas", "node1").state == "idle", 60)
