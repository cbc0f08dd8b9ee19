"""A connection that breaks in every way a server can break it, and comes back without anybody's help."""

from __future__ import annotations

import asyncio

import pytest

from tests.bed.panel import panel
from tests.bed.sshd import SshBed
from tests.bed.wire import wire

pytestmark = pytest.mark.openssh

KEEPALIVES_S = 30.0
"""Longer than the connection's keep-alive takes to give up, and the retry after it."""


async def test_one_login_carries_everything(bed: SshBed) -> None:
    server = bed.server()
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await watched.until(lambda: watched.node().observer.cpu_s_per_min is not None)
        await watched.until(lambda: watched.node().host.value and watched.node().mountinfo.value is not None)
        watched.cluster.refresh()
        await watched.until(lambda: watched.node().shm.value is not None)
        node = watched.node()
        memory = node.memory.value
        assert memory is not None and memory.total is not None and memory.available is not None
        assert 0 < memory.available < memory.total
        assert node.observer.sessions == 1 and node.link.logins == 1
        assert (node.observer.bytes_per_s or 0) > 0
        assert len(server.connections()) == 1
    assert server.logins() == 1


async def test_a_server_that_stands_still(bed: SshBed) -> None:
    """Silent first, then given up; the last reading stays, with its age, and the node comes back when it wakes."""
    server = bed.server()
    async with panel(bed.client.node(server)) as watched:
        await watched.until_up()
        server.freeze()
        await watched.until(lambda: watched.finding("node-silent", "node"))
        value = watched.node().memory.value
        assert value is not None and watched.node().memory.read(watched.cluster.store.now()) == "stale"
        await watched.until(lambda: watched.finding("link-timed-out", "node"), KEEPALIVES_S)
        assert watched.node().memory.value == value
        # a new connection is taken by the kernel of a machine that stands still, and no greeting follows
        await watched.until(lambda: "greeting" in (watched.node().link.why or ""), KEEPALIVES_S)
        server.thaw()
        await watched.until_up(limit_s=KEEPALIVES_S + 15)
        assert watched.finding("link-timed-out") is None


async def test_a_connection_that_is_killed(bed: SshBed) -> None:
    server = bed.server()
    async with panel(bed.client.node(server)) as watched:
        await watched.until_up()
        server.cut_connections()
        await watched.until(lambda: watched.node().link.logins == 2)
        await watched.until_up()
        assert [notice.kind for notice in watched.state.notices] == ["link-lost", "link-back"]
        assert len(server.connections()) == 1


async def test_a_server_that_is_restarted(bed: SshBed) -> None:
    server = bed.server()
    async with panel(bed.client.node(server)) as watched:
        await watched.until_up()
        server.stop()
        await watched.until(lambda: watched.finding("link-unreachable", "node"))
        await watched.until(lambda: "refused" in (watched.node().link.why or ""))
        server.start()
        await watched.until_up()
        assert watched.finding("link-unreachable") is None


async def test_a_cable_that_is_pulled_and_put_back(bed: SshBed) -> None:
    server = bed.server()
    async with wire(server.port) as cable:
        bed.client.trust(server, cable.port)
        async with panel(bed.client.node(server, port=cable.port)) as watched:
            await watched.until_up()
            cable.cut()
            await watched.until(lambda: watched.finding("node-silent", "node"))
            await watched.until(lambda: watched.finding("link-timed-out", "node"), KEEPALIVES_S)
            assert watched.node().link.kind == "timed-out"
            cable.mend()
            await watched.until_up(limit_s=KEEPALIVES_S)


async def test_a_short_cut_costs_no_login(bed: SshBed) -> None:
    server = bed.server()
    async with wire(server.port) as cable:
        bed.client.trust(server, cable.port)
        async with panel(bed.client.node(server, port=cable.port)) as watched:
            await watched.until_up()
            cable.cut()
            await asyncio.sleep(4)
            cable.mend()
            at = watched.node().memory.at
            await watched.until(lambda: watched.node().memory.at != at)
            assert watched.node().link.logins == 1 and watched.state.notices == ()
    assert server.logins() == 1


async def test_two_hundred_milliseconds_of_latency(bed: SshBed) -> None:
    """A reading costs one round trip, so readings go on each second and none is late."""
    server = bed.server()
    async with wire(server.port, delay_s=0.1) as line:
        bed.client.trust(server, line.port)
        async with panel(bed.client.node(server, port=line.port)) as watched:
            await watched.until_up()
            taken: set[float] = set()
            watched.cluster.store.on_change(lambda: taken.add(watched.node().memory.at or 0.0))
            await asyncio.sleep(8)
            assert watched.node().memory.read(watched.cluster.store.now()) == "ok"
            assert len(taken) >= 6
            assert watched.finding("node-silent") is None
    assert server.logins() == 1
