"""The sandbox's HCAs, read by the project's own parsers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dsv41_tui.parsers.proc_limits import parse_proc_limits
from dsv41_tui.parsers.rdma import parse_rdma
from dsv41_tui.parsers.rdma_counters import parse_rdma_counters
from dsv41_tui.sandbox import infiniband
from dsv41_tui.sandbox.docker_state import PID
from dsv41_tui.sandbox.files import fixed_files, moving_files
from dsv41_tui.sandbox.plan import members
from dsv41_tui.sandbox.scenario import load_scenario

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def files_of(name: str, scenario: str = "healthy", t: float = 3.0) -> dict[str, str]:
    loaded = load_scenario(scenario)
    member = next(member for member in members(2, nas=True) if member.name == name)
    made = fixed_files(loaded, member, 2) | moving_files(loaded, member, 2, t, BEGAN)
    return {f"/{path}": text for path, text in made.items()}


def test_the_halves_of_one_port_are_up_on_each_node() -> None:
    addresses = []
    for name in ("spark1", "spark2"):
        ports = parse_rdma(files_of(name))
        assert [port.device for port in ports if port.state == "ACTIVE"] == ["rocep1s0f0", "roceP2p1s0f0"]
        assert {port.physical_state for port in ports if port.state == "DOWN"} == {"Disabled"}
        assert len({port.system_guid for port in ports}) == 1 and len({port.node_guid for port in ports}) == 4
        assert all(port.netdev_up and port.netdev_mtu == 9000 for port in ports)
        addresses += [gid.ipv4 for port in ports for gid in port.gids if gid.index == 3]
    assert addresses == ["10.77.1.11", "10.77.3.11", "10.77.1.12", "10.77.3.12"]


def test_counters_of_ports_in_use_grow() -> None:
    before, after = (
        {found.device: found.values for found in parse_rdma_counters(files_of("spark1", t=t))} for t in (3.0, 4.0)
    )
    assert len(before["rocep1s0f0"]) == 24
    moved = {name for name in before["rocep1s0f0"] if after["rocep1s0f0"][name] > before["rocep1s0f0"][name]}
    assert moved == set(infiniband.serving(0.0))
    assert before["rocep1s0f1"] == after["rocep1s0f1"]


def test_counters_stand_still_once_a_rank_is_gone() -> None:
    counts = [
        {
            found.device: found.values["port_xmit_data"]
            for found in parse_rdma_counters(files_of("spark1", "rank-dead", t))
        }
        for t in (4.0, 8.0, 20.0)
    ]
    assert counts[0]["rocep1s0f0"] < counts[1]["rocep1s0f0"] == counts[2]["rocep1s0f0"]


def test_a_pair_that_does_not_talk_moves_nothing() -> None:
    for found in parse_rdma_counters(files_of("spark1", "nccl-socket-fallback")):
        assert not any(found.values.values())


def test_the_place_of_an_address_moves_when_the_scenario_says_so() -> None:
    for t, place in ((1.0, 3), (2.0, 5)):
        ports = {port.device: port for port in parse_rdma(files_of("spark2", "gid-drift", t))}
        assert [gid.index for gid in ports["rocep1s0f0"].gids if gid.ipv4 and gid.type == "RoCE v2"] == [place]
        assert [gid.index for gid in ports["roceP2p1s0f0"].gids if gid.ipv4 and gid.type == "RoCE v2"] == [3]


def test_the_nas_has_no_hca() -> None:
    assert parse_rdma(files_of("nas")) == ()


def test_the_containers_process_has_the_limit_of_the_scenario() -> None:
    (process,) = parse_proc_limits(files_of("spark2"), {PID: "dsv41-exl3-worker"})
    assert (process.memlock_bytes, process.state) == (-1, "S")
    (process,) = parse_proc_limits(files_of("spark2", "memlock"), {PID: "dsv41-exl3-worker"})
    assert process.memlock_bytes == 8 << 20


@pytest.mark.parametrize(
    ("changes", "state", "gids"),
    [({"up": False}, "DOWN", 0), ({"cable": False}, "DOWN", 2), ({"address": None}, "ACTIVE", 2), ({}, "ACTIVE", 4)],
)
def test_what_a_port_is_told_shows(changes: dict[str, object], state: str, gids: int) -> None:
    hca = infiniband.gb10_hcas(1)[0].model_copy(update=changes)
    (port,) = parse_rdma({f"/{path}": text for path, text in infiniband.sysfs((hca,)).items()})
    assert (port.state, len(port.gids), port.netdev_up) == (state, gids, hca.up)


def test_the_table_moves_where_it_is_told_to() -> None:
    hca = infiniband.gb10_hcas(1)[0].model_copy(update={"index": 4})
    (port,) = parse_rdma({f"/{path}": text for path, text in infiniband.sysfs((hca,)).items()})
    assert [gid.index for gid in port.gids if gid.ipv4] == [4, 5]
