"""What the panel says when the NAS, an export, the packets between, or a node itself fail, and when they come back."""

from __future__ import annotations

import asyncio

import pytest

from tests.bed.panel import Panel, panel
from tests.bed.uml.cluster import UmlCluster

pytestmark = pytest.mark.uml

FAULT_LIMIT_S = 20.0
"""These machines share two cores and stand still for moments; what a fault takes to the screen is not measured here."""
BACK_LIMIT_S = 60.0
ALIVE = ("fine", "idle", "slow")


def _state(watched: Panel, node: str, place: str = "/mnt/nas") -> str:
    return watched.mount(place, node).state


async def _becomes(watched: Panel, node: str, states: tuple[str, ...], limit_s: float, place: str = "/mnt/nas") -> None:
    await watched.until(lambda: _state(watched, node, place) in states, limit_s)


async def _mounted(watched: Panel, *nodes: str, place: str = "/mnt/nas") -> None:
    """Wait until the panel knows the mount of these nodes as one that answers."""
    for node in nodes:
        await _becomes(watched, node, ALIVE, FAULT_LIMIT_S, place)


async def _hangs(watched: Panel, *nodes: str) -> None:
    for node in nodes:
        await _becomes(watched, node, ("not-responding",), FAULT_LIMIT_S)


async def _recovers(watched: Panel, *nodes: str, place: str = "/mnt/nas") -> None:
    for node in nodes:
        await _becomes(watched, node, ALIVE, BACK_LIMIT_S, place)


def _causes(watched: Panel, id: str, node: str) -> dict[str, str]:
    found = watched.finding(id, node)
    assert found is not None
    return {cause.cause_id: cause.likelihood for cause in found.causes}


async def test_a_stopped_nfs_server_and_its_return(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1")
    nodes = (cluster.config("node1", "head"), cluster.config("nas", "nas"))
    async with panel(*nodes) as watched:
        await _mounted(watched, "node1")
        await asyncio.to_thread(cluster.nfs_stop)
        await _hangs(watched, "node1")
        await watched.until(lambda: watched.finding("nas-nfsd-stopped", "nas"), FAULT_LIMIT_S)
        assert _causes(watched, "nfs-not-responding", "node1") == {"nfs_server_down": "confirmed"}
        # the node itself goes on being read
        before = watched.node("node1").memory.at
        await watched.until(lambda: watched.node("node1").memory.at != before, FAULT_LIMIT_S)
        assert watched.node("node1").reachable

        await asyncio.to_thread(cluster.nfs_start)
        await _recovers(watched, "node1")
        await watched.until(lambda: not watched.finding("nas-nfsd-stopped"), BACK_LIMIT_S)
        assert watched.finding("nfs-not-responding") is None
        kinds = [notice.kind for notice in watched.state.notices if notice.node == "node1"]
        assert kinds.index("nfs-lost") < kinds.index("nfs-back")


async def test_packets_that_vanish_on_one_path_only(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1")
    await asyncio.to_thread(cluster.mount, "node2")
    nodes = (cluster.config("node1", "head"), cluster.config("node2"), cluster.config("nas", "nas"))
    async with panel(*nodes) as watched:
        await _mounted(watched, "node1", "node2")
        cluster.drop_packets("nas", "node1")
        await _hangs(watched, "node1")
        assert _state(watched, "node2") in ALIVE
        assert all(watched.node(name).reachable for name in ("node1", "node2", "nas"))
        causes = _causes(watched, "nfs-not-responding", "node1")
        assert causes["nfs_server_down"] == "ruled-out" and causes["nfs_firewall"] == "likely"

        cluster.restore_packets()
        await _recovers(watched, "node1")


async def test_the_cable_of_the_nas(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1")
    await asyncio.to_thread(cluster.mount, "node2")
    nodes = (cluster.config("node1", "head"), cluster.config("node2"), cluster.config("nas", "nas"))
    async with panel(*nodes) as watched:
        await _mounted(watched, "node1", "node2")
        cluster.unplug("nas")
        await _hangs(watched, "node1", "node2")
        await watched.until(lambda: not watched.node("nas").reachable, FAULT_LIMIT_S + 15)
        # no keep-alive is answered, or the neighbour is gone before that: "No route to host"
        assert watched.node("nas").link.kind in ("timed-out", "unreachable")
        assert _causes(watched, "nfs-not-responding", "node1")["nfs_server_down"] == "likely"

        cluster.plug("nas")
        await _recovers(watched, "node1", "node2")
        await watched.until_up("nas", limit_s=BACK_LIMIT_S)


async def test_an_export_that_is_removed_and_put_back(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1", "/mnt/gone", export="/gone")
    async with panel(cluster.config("node1", "head")) as watched:
        await _mounted(watched, "node1", place="/mnt/gone")
        await asyncio.to_thread(cluster.export_remove)
        lost = ("nfs-denied", "nfs-stale-handle")
        await watched.until(lambda: any(watched.finding(id, "node1") for id in lost), FAULT_LIMIT_S)
        assert _state(watched, "node1", "/mnt/gone") in ("denied", "stale-handle")
        assert watched.finding("nfs-not-responding") is None

        await asyncio.to_thread(cluster.export_restore)
        await _recovers(watched, "node1", place="/mnt/gone")


async def test_a_stale_handle(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1", "/mnt/stale", export="/stale")
    async with panel(cluster.config("node1", "head")) as watched:
        await _mounted(watched, "node1", place="/mnt/stale")
        await asyncio.to_thread(cluster.run, "nas", "rm -r /export/stale")
        await _becomes(watched, "node1", ("stale-handle",), FAULT_LIMIT_S, "/mnt/stale")
        found = watched.finding("nfs-stale-handle", "node1")
    assert found is not None and found.severity == "error"
    assert _has(found.evidence, "Stale file handle")
    assert "sudo umount -f -l /mnt/stale" in found.fix.commands


def _has(evidence: tuple[object, ...], words: str) -> bool:
    return any(words in str(item) for item in evidence)


async def test_a_soft_mount_whose_server_stops_is_not_responding_all_the_same(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1", options="soft,timeo=10,retrans=1")
    async with panel(cluster.config("node1", "head")) as watched:
        await _mounted(watched, "node1")
        await asyncio.to_thread(cluster.nfs_stop)
        await _hangs(watched, "node1")
        assert watched.finding("nfs-soft-mount", "node1") is not None

        await asyncio.to_thread(cluster.nfs_start)
        await _recovers(watched, "node1")


async def test_a_nas_without_power_and_its_return(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node1")
    nodes = (cluster.config("node1", "head"), cluster.config("nas", "nas"))
    async with panel(*nodes) as watched:
        await _mounted(watched, "node1")
        cluster.power_cut("nas")
        await _hangs(watched, "node1")
        await watched.until(lambda: not watched.node("nas").reachable, FAULT_LIMIT_S + 15)
        assert watched.node("node1").reachable
        assert _causes(watched, "nfs-not-responding", "node1")["nfs_server_down"] == "likely"

        await asyncio.to_thread(cluster.power_on, "nas")
        await watched.until_up("nas", limit_s=BACK_LIMIT_S)
        await _recovers(watched, "node1")
        assert any(notice.kind == "rebooted" and notice.node == "nas" for notice in watched.state.notices)


async def test_a_node_without_power_and_its_return(cluster: UmlCluster) -> None:
    await asyncio.to_thread(cluster.mount, "node2")
    async with panel(cluster.config("node1", "head"), cluster.config("node2")) as watched:
        await watched.until_up()
        await _mounted(watched, "node2")
        boot = watched.node("node2").host.value
        memory = watched.node("node2").memory
        cluster.power_cut("node2")
        await watched.until(lambda: watched.finding("node-silent", "node2"), FAULT_LIMIT_S)
        await watched.until(lambda: watched.finding("link-timed-out", "node2"), FAULT_LIMIT_S + 15)
        gone = watched.node("node2")
        assert gone.memory.value is not None and gone.memory.read(watched.cluster.store.now()) == "stale"
        assert memory.at is not None and gone.memory.at is not None and gone.memory.at >= memory.at
        assert watched.node("node1").reachable

        await asyncio.to_thread(cluster.power_on, "node2")
        await watched.until_up("node2", limit_s=BACK_LIMIT_S)
        await watched.until(lambda: watched.finding("host-rebooted", "node2"), FAULT_LIMIT_S)
        now = watched.node("node2").host.value
        assert boot is not None and now is not None and boot.boot_id != now.boot_id
