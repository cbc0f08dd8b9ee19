"""HCAs, GID tables, counters and limits of processes as nodes gave them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import flips
from rdma_samples import admin_down, gb10, rxe

from dsv41_tui.core.containers import UNLIMITED, ProcessLimits
from dsv41_tui.core.errors import ParseError
from dsv41_tui.parsers.proc_limits import parse_proc_limits
from dsv41_tui.parsers.rdma import parse_rdma
from dsv41_tui.parsers.rdma_counters import parse_rdma_counters

PORT = "/sys/class/infiniband/mlx5_0/ports/1"
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             482010               482010               processes
Max locked memory         8388608              unlimited            bytes
Max pending signals       482010               482010               signals
"""


def test_a_connectx7() -> None:
    used, unused = parse_rdma(gb10())
    assert (used.device, used.port, used.state, used.physical_state) == ("rocep1s0f0", 1, "ACTIVE", "LinkUp")
    assert (used.rate_gbit, used.link_layer, used.netdev, used.netdev_mtu) == (200.0, "Ethernet", "enp1s0f0np0", 9000)
    assert (used.firmware, used.hca_type, used.board_id) == ("28.45.4028", "MT4129", "NVD0000000087")
    assert used.system_guid == used.node_guid == "fc4c:ea03:0011:2230"
    assert [(gid.index, gid.type, gid.ipv4) for gid in used.gids] == [
        (0, "IB/RoCE v1", None),
        (1, "RoCE v2", None),
        (2, "IB/RoCE v1", "10.77.1.11"),
        (3, "RoCE v2", "10.77.1.11"),
    ]
    assert (unused.state, unused.physical_state, unused.gids) == ("DOWN", "Disabled", ())
    assert unused.firmware is None and unused.netdev is None


def test_software_roce_has_no_device_link_and_fewer_files() -> None:
    (port,) = parse_rdma(rxe())
    assert (port.netdev, port.netdev_mtu, port.firmware, port.hca_type) == ("eth2", None, None, None)
    assert port.rate_gbit == 2.5
    assert [(gid.index, gid.type, gid.ipv4) for gid in port.gids] == [
        (0, "RoCE v2", None),
        (1, "RoCE v2", "10.99.2.11"),
    ]


def test_the_parent_names_the_interface_where_no_gid_does() -> None:
    files = {path: text for path, text in rxe().items() if "gid" not in path}
    (port,) = parse_rdma(files)
    assert port.gids == () and port.netdev == "eth2"


def test_an_interface_that_was_set_down() -> None:
    states = [parse_rdma(files)[0] for files in admin_down()]
    assert [(port.state, port.physical_state) for port in states] == [
        ("ACTIVE", "LinkUp"),
        ("DOWN", "Disabled"),
        ("ACTIVE", "LinkUp"),
    ]
    assert [counters.values["link_downed"] for files in admin_down() for counters in parse_rdma_counters(files)] == [
        0,
        1,
        1,
    ]


def test_a_node_without_an_hca() -> None:
    assert parse_rdma({"/proc/uptime": "1 2", "/sys/class/net/eth0/mtu": "1500"}) == ()
    assert parse_rdma_counters({"/proc/uptime": "1 2"}) == ()


def test_a_name_of_a_vlan_does_not_hide_the_device() -> None:
    files = {
        f"{PORT}/state": "4: ACTIVE\n",
        f"{PORT}/gids/0": "fe80:0000:0000:0000:fe4c:eaff:fe11:2230\n",
        f"{PORT}/gid_attrs/ndevs/0": "enp1s0.40\n",
        "/sys/class/infiniband/mlx5_0/device/net/enp1s0/mtu": "9000\n",
    }
    (port,) = parse_rdma(files)
    assert port.netdev == "enp1s0" and port.gids[0].netdev == "enp1s0.40"


@pytest.mark.parametrize(("flags", "up"), [("0x1043\n", True), ("0x1002\n", False), ("up\n", None)])
def test_flags_tell_a_cable_from_an_administrator(flags: str, up: bool | None) -> None:
    files = {path: flags if path.endswith("flags") else text for path, text in gb10().items()}
    assert parse_rdma(files)[0].netdev_up is up


@pytest.mark.parametrize("name", ["state", "gids/3"])
def test_what_is_malformed_is_said_in_one_line(name: str) -> None:
    with pytest.raises(ParseError, match=name.partition("/")[0]):
        parse_rdma({f"{PORT}/state": "4: ACTIVE", f"{PORT}/{name}": "::ffff:1"})


def test_bits_that_turned_never_crash() -> None:
    files = gb10()
    for path in [path for path in files if "f0/ports/1/g" in path or path.endswith(("state", "rate"))]:
        for text in flips(files[path], 20):
            try:
                for port in parse_rdma({**files, path: text}):
                    assert all(gid.ipv4 is None or gid.ipv4.count(".") == 3 for gid in port.gids)
            except ParseError as error:
                assert "\n" not in error.message


def test_counters_of_mlx5_are_in_bytes() -> None:
    (counters,) = parse_rdma_counters(gb10())
    assert counters.device == "rocep1s0f0"
    assert counters.values["port_rcv_data"] == 4 * 1_203_348_812_033
    assert counters.values["out_of_sequence"] == 12 and counters.values["np_cnp_sent"] == 4012


def test_counters_of_rxe_have_names_of_their_own() -> None:
    (counters,) = parse_rdma_counters(rxe())
    assert counters.values["rcvd_seq_err"] == 0 and "port_rcv_data" not in counters.values


def test_a_counter_that_is_no_number_is_absent() -> None:
    assert parse_rdma_counters({f"{PORT}/hw_counters/out_of_sequence": "N/A\n"}) == ()


def test_limits_of_a_process() -> None:
    files = {
        "/proc/71/limits": LIMITS,
        "/proc/71/stat": "71 (VLLM::Worker (TP0)) S 70 71 71 0\n",
        "/proc/72/limits": LIMITS.replace("8388608 ", "unlimited"),
        "/proc/99/limits": LIMITS,
        "/proc/self/mountstats": "device",
    }
    assert parse_proc_limits(files, {71: "head", 72: "proxy", 73: "gone"}) == (
        ProcessLimits(pid=71, container="head", memlock_bytes=8 << 20, state="S"),
        ProcessLimits(pid=72, container="proxy", memlock_bytes=UNLIMITED, state=None),
    )


@given(st.text(), st.text())
def test_any_text_is_no_crash(limits: str, stat: str) -> None:
    parse_proc_limits({"/proc/1/limits": limits, "/proc/1/stat": stat}, {1: "a"})
    parse_rdma_counters({f"{PORT}/counters/symbol_error": limits})
    try:
        parse_rdma({f"{PORT}/state": "4: ACTIVE", f"{PORT}/rate": limits, f"{PORT}/gids/1": stat})
    except ParseError as error:
        assert "\n" not in error.message
