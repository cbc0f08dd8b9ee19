"""Ports, counters and what moved, from readings of one node."""

from __future__ import annotations

from typing import Any

import pytest

from dsv41_tui.core.events import Event, ReadingName, ReadingTaken
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.rdma import Gid, PortRate, RdmaCounters, RdmaPort
from dsv41_tui.core.readings import Host, NetInterface
from dsv41_tui.core.reduce import reduce
from dsv41_tui.core.reduce_rdma import FULL, active_mtu

V2 = "RoCE v2"


def gid(index: int, address: str = "0a4d:010b", kind: str = V2) -> Gid:
    return Gid(index=index, gid=f"0000:0000:0000:0000:0000:ffff:{address}", type=kind, netdev="enp1s0f0np0")


def port(state: str = "ACTIVE", *gids: Gid, **changes: Any) -> RdmaPort:
    return RdmaPort(device="rocep1s0f0", state=state, netdev="enp1s0f0np0", gids=gids or (gid(3),), **changes)


def taken(name: ReadingName, value: Any, at: float, uptime: float | None = None) -> ReadingTaken:
    return ReadingTaken(at=at, node="spark1", name=name, period_s=5, uptime_s=uptime, value=value)


def counters(at: float, uptime: float | None = None, **values: int) -> ReadingTaken:
    return taken("rdma_counters", (RdmaCounters(device="rocep1s0f0", values=values),), at, uptime)


def run(*events: Event) -> ClusterState:
    state = ClusterState(nodes=(NodeState(name="spark1"),))
    for event in events:
        state = reduce(state, event)
    return state


def only(state: ClusterState) -> PortRate:
    assert state.nodes[0].rdma.value is not None
    (found,) = state.nodes[0].rdma.value
    return found


def test_rates_are_over_the_nodes_own_time() -> None:
    state = run(
        taken("rdma", (port(),), 10.0),
        counters(10.0, 1000.0, port_rcv_data=1_000, out_of_sequence=5),
        counters(99.0, 1005.0, port_rcv_data=6_000, out_of_sequence=5),
    )
    assert only(state).per_s == {"port_rcv_data": 1000.0, "out_of_sequence": 0.0}
    assert only(state).since_start == {"port_rcv_data": 5000, "out_of_sequence": 0}


def test_one_reading_gives_no_rate() -> None:
    assert only(run(taken("rdma", (port(),), 1.0), counters(1.0, 10.0, sent_pkts=4))).per_s == {}


def test_a_reset_gives_no_rate_and_counts_on() -> None:
    state = run(
        taken("rdma", (port(),), 1.0),
        counters(1.0, 10.0, out_of_sequence=100),
        counters(6.0, 15.0, out_of_sequence=130),
        counters(11.0, 20.0, out_of_sequence=4),
    )
    assert only(state).per_s == {}
    assert only(state).since_start == {"out_of_sequence": 34}


@pytest.mark.parametrize("full", sorted(FULL))
def test_a_full_counter_tells_no_rate(full: int) -> None:
    state = run(
        taken("rdma", (port(),), 1.0),
        counters(1.0, 10.0, port_xmit_wait=full),
        counters(6.0, 15.0, port_xmit_wait=full),
    )
    assert "port_xmit_wait" not in only(state).per_s


def test_rates_stay_while_only_the_port_is_read() -> None:
    state = run(
        taken("rdma", (port(),), 1.0),
        counters(1.0, 10.0, sent_pkts=0),
        counters(6.0, 15.0, sent_pkts=50),
        taken("rdma", (port("DOWN"),), 7.0, 16.0),
    )
    assert only(state).per_s == {"sent_pkts": 10.0} and only(state).port.state == "DOWN"


def test_down_and_up_are_said_once() -> None:
    down = port("DOWN", physical_state="Polling")
    state = run(
        taken("rdma", (port(),), 1.0),
        taken("rdma", (down,), 3.0),
        taken("rdma", (down,), 5.0),
        taken("rdma", (port(),), 7.0),
    )
    assert [(notice.kind, notice.at, notice.detail) for notice in state.notices] == [
        ("port-down", 3.0, "rocep1s0f0 DOWN Polling"),
        ("port-up", 7.0, "rocep1s0f0"),
    ]


def test_a_port_that_was_never_up_is_no_news() -> None:
    assert run(taken("rdma", (port("DOWN"),), 1.0), taken("rdma", (port("DOWN"),), 3.0)).notices == ()


def test_a_gid_that_moved_is_said_and_the_first_table_is_kept() -> None:
    state = run(
        taken("rdma", (port("ACTIVE", gid(2, kind="IB/RoCE v1"), gid(3)),), 1.0),
        taken("rdma", (port("ACTIVE", gid(2, kind="IB/RoCE v1"), gid(4)),), 3.0),
    )
    (notice,) = state.notices
    assert (notice.kind, notice.detail) == ("gid-moved", "rocep1s0f0 10.77.1.11 RoCE v2 3 -> 4")
    assert [line.split()[0] for line in only(state).first_gids] == ["2", "3"]


def test_a_second_address_moves_nothing() -> None:
    state = run(
        taken("rdma", (port("ACTIVE", gid(3)),), 1.0),
        taken("rdma", (port("ACTIVE", gid(3), gid(5, "c0a8:0101")),), 3.0),
    )
    assert state.notices == ()


def test_a_reboot_begins_anew() -> None:
    first, second = Host(boot_id="a"), Host(boot_id="b")
    state = run(
        taken("host", first, 1.0, 500.0),
        taken("rdma", (port("ACTIVE", gid(3)),), 1.0, 500.0),
        counters(1.0, 500.0, out_of_sequence=7),
        taken("host", second, 900.0, 600.0),
        taken("rdma", (port("ACTIVE", gid(4)),), 900.0, 600.0),
        counters(900.0, 600.0, out_of_sequence=9),
    )
    assert [notice.kind for notice in state.notices] == ["rebooted"]
    assert only(state).first_gids[0].startswith("4 ")
    assert only(state).per_s == {} and only(state).since_start == {}


def test_a_clock_that_went_back_is_a_reboot_too() -> None:
    state = run(
        taken("rdma", (port("ACTIVE", gid(3)),), 1.0, 500.0), taken("rdma", (port("DOWN", gid(4)),), 90.0, 20.0)
    )
    assert state.notices == () and only(state).first_gids[0].startswith("4 ")


def test_the_interface_below_gives_mtu_and_speed() -> None:
    link = NetInterface(name="enp1s0f0np0", rx_bytes=0, tx_bytes=0, speed_mbit=200_000, mtu=1500)
    found = only(run(taken("net", (link,), 1.0), taken("rdma", (port(),), 1.0))).port
    assert (found.netdev_mtu, found.active_mtu, found.netdev_speed_mbit) == (1500, 1024, 200_000)


@pytest.mark.parametrize(
    ("netdev", "rdma"), [(9000, 4096), (1500, 1024), (4192, 4096), (4191, 2048), (352, 256), (351, None)]
)
def test_the_rdma_mtu_is_the_largest_that_fits(netdev: int, rdma: int | None) -> None:
    assert active_mtu(netdev) == rdma


def test_an_hca_that_vanished_is_gone() -> None:
    state = run(taken("rdma", (port(),), 1.0), taken("rdma", (), 3.0))
    assert state.nodes[0].rdma.value == ()
