"""The panel on two guests with soft-RoCE: what it reads of the fabric, and what it says of each fault.

Real here: the kernel's RDMA core and its sysfs, netdevs, docker, the kernel log, verbs programs. Not a ConnectX-7: rxe
has other counters, and its GID table begins with the link-local entry.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.rdma import PortRate
from dsv41_tui.runtime.recipes import load_recipes
from tests.bed.panel import Panel, panel
from tests.bed.vm.guests import Guests
from tests.vm.conftest import DEVICE

pytestmark = pytest.mark.vm

SOON_S = 15.0
"""To see a change of state: its period is 2 s, and a guest is ten times slower than a machine."""
LATER_S = 60.0
"""To see what is read rarely: GID tables, MTU, counters."""
WRITE = f"ib_write_bw -d {DEVICE} -x 1 -F -s 65536 --tx-depth=16 -D 60"


@contextlib.asynccontextmanager
async def watched(pair: Guests, *, containers: bool = False) -> AsyncIterator[Panel]:
    """The panel on both guests once their ports are read, and their containers where a test is about these."""
    nodes = (pair.config("spark1", role="head", rank=0), pair.config("spark2", role="worker", rank=1))
    async with panel(*nodes, recipes=(load_recipes()["exl3-2x"],)) as seen:
        await seen.until_up(limit_s=60.0)
        await seen.until(lambda: all(port(seen, name).port.gids for name in ("spark1", "spark2")), LATER_S)
        if containers:
            await seen.until(lambda: all(seen.node(name).containers.value for name in ("spark1", "spark2")), LATER_S)
        yield seen


def port(seen: Panel, name: str) -> PortRate:
    """The HCA port of a guest; LookupError while it is unknown."""
    for known in seen.node(name).rdma.value or ():
        if known.port.device == DEVICE:
            return known
    raise LookupError(name)


def fabric_findings(seen: Panel) -> list[Finding]:
    return [found for found in seen.findings if found.pane == "rdma" and found.severity != "info"]


def causes(found: Finding | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(cause.cause_id, cause.likelihood) for cause in found.causes]


async def test_a_sound_fabric_is_read_and_is_no_finding(pair: Guests) -> None:
    async with watched(pair) as seen:
        await seen.until(lambda: seen.node("spark1").rdma_counters.value, LATER_S)
        for name, address in (("spark1", "10.99.2.11"), ("spark2", "10.99.2.12")):
            known = port(seen, name).port
            assert (known.state, known.physical_state, known.rate_gbit) == ("ACTIVE", "LinkUp", 100.0)
            assert (known.link_layer, known.netdev) == ("Ethernet", "eth2")
            assert (known.netdev_mtu, known.active_mtu) == (9000, 4096)
            assert {(gid.index, gid.ipv4, gid.type) for gid in known.gids if gid.ipv4} == {(1, address, "RoCE v2")}
        assert fabric_findings(seen) == []


async def test_unused_gid_slots_cost_nothing(pair: Guests) -> None:
    """rxe has 1,024 slots, and all but two answer EINVAL: they are neither walked nor an error of the reading."""
    async with watched(pair) as seen:
        reading = seen.node("spark1").rdma
        assert reading.error is None
        assert len(port(seen, "spark1").port.gids) <= 3
        total = int(pair.run("spark1", f"ls /sys/class/infiniband/{DEVICE}/ports/1/gids | wc -l"))
        assert total > 500
        traced = pair.run(
            "spark1",
            "for p in $(pgrep -x head; pgrep -x cat); do ls /proc/$p/fd -l; done 2>/dev/null | grep -c gids; true",
        )
        assert int(traced or 0) == 0, "no process of ours stands over the GID table"


async def test_cable_out_and_in_again(pair: Guests) -> None:
    async with watched(pair, containers=True) as seen:
        pair.cable("spark2", False)
        await seen.until(lambda: port(seen, "spark2").port.state == "DOWN", SOON_S)
        await seen.until(lambda: seen.finding("rdma-port-down", "spark2"), SOON_S)
        found = seen.finding("rdma-port-down", "spark2")
        assert port(seen, "spark2").port.physical_state == "Polling"
        assert found is not None and found.severity == "error"
        assert causes(found)[0][0] == "cx7_unplugged_or_powered_off"
        assert seen.finding("rdma-port-down", "spark1") is None
        pair.cable("spark2", True)
        await seen.until(lambda: port(seen, "spark2").port.state == "ACTIVE", SOON_S)
        await seen.until(lambda: seen.finding("rdma-port-down", "spark2") is None, SOON_S)
        kinds = [notice.kind for notice in seen.state.notices if notice.node == "spark2"]
        assert kinds.count("port-down") == 1 and kinds.count("port-up") == 1
        await seen.until(lambda: port(seen, "spark2").since_start.get("link_downed") == 1, LATER_S)


async def test_port_admin_down_is_told_from_a_cable(pair: Guests) -> None:
    async with watched(pair) as seen:
        pair.run("spark1", "ip link set eth2 down")
        await seen.until(lambda: seen.finding("rdma-port-down", "spark1"), SOON_S)
        await seen.until(
            lambda: causes(seen.finding("rdma-port-down", "spark1")) == [("port_admin_down", "confirmed")], SOON_S
        )
        found = seen.finding("rdma-port-down", "spark1")
        assert found is not None and found.fix.commands == ("sudo ip link set eth2 up",)
        pair.run("spark1", found.fix.commands[0].removeprefix("sudo "))
        await seen.until(lambda: seen.finding("rdma-port-down", "spark1") is None, SOON_S)


async def test_link_trained_low(pair: Guests) -> None:
    async with watched(pair) as seen:
        pair.run("spark2", "ethtool -s eth2 speed 25000 duplex full")
        await seen.until(lambda: port(seen, "spark2").port.rate_gbit == 25.0, SOON_S)
        await seen.until(lambda: seen.finding("rdma-link-slow", "spark2"), SOON_S)
        assert seen.finding("rdma-link-slow", "spark1") is None
        assert causes(seen.finding("rdma-link-slow", "spark2"))[0][0] == "link_trained_low"


async def test_lossy_link(pair: Guests) -> None:
    async with watched(pair) as seen:
        pair.run("spark2", "tc qdisc add dev eth2 root netem loss 5%")
        with pair.background("spark1", WRITE), pair.background("spark2", f"sleep 2; {WRITE} 10.99.2.11"):
            await seen.until(lambda: seen.finding("rdma-lossy"), LATER_S)
        found = seen.finding("rdma-lossy")
        assert found is not None and found.evidence
        assert any(port(seen, name).per_s.get("sent_pkts", 0) > 0 for name in ("spark1", "spark2"))


async def test_gid_moves_with_an_address(pair: Guests) -> None:
    """The address comes back beside another one, so its entry stands elsewhere and the index of before is empty."""
    async with watched(pair, containers=True) as seen:
        pair.run("spark2", "ip addr add 10.99.3.12/24 dev eth2 && ip addr del 10.99.2.12/24 dev eth2")
        await seen.until(lambda: seen.finding("rdma-gid-wrong", "spark2"), LATER_S)
        found = seen.finding("rdma-gid-wrong", "spark2")
        assert found is not None and causes(found) == [("gid_index_wrong_or_empty", "confirmed")]
        assert all(gid.index != 1 for gid in port(seen, "spark2").port.gids)
        assert seen.finding("rdma-gid-wrong", "spark1") is None
