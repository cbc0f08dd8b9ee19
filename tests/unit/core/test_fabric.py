"""Which ports a rank uses, which GID index is right for them, and what differs between boxes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsv41_tui.core import compare, fabric, gid
from dsv41_tui.core.containers import UNLIMITED, Container, ContainerEngine, ProcessLimits
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import Link, NodeState, Reading
from dsv41_tui.core.rdma import Gid, PortRate, RdmaPort
from dsv41_tui.core.readings import Gpu, Host

V1, V2 = "IB/RoCE v1", "RoCE v2"
FE80 = "fe80:0000:0000:0000:fe4c:eaff:fe11:2230"


def entry(index: int, address: str | None, kind: str = V2, netdev: str = "enp1s0f0np0") -> Gid:
    if address is None:
        return Gid(index=index, gid=FE80, type=kind, netdev=netdev)
    a, b, c, d = (int(part) for part in address.split("."))
    text = f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"
    return Gid(index=index, gid=text, type=kind, netdev=netdev)


USUAL = (entry(0, None, V1), entry(1, None), entry(2, "10.77.1.11", V1), entry(3, "10.77.1.11"))


def port(*gids: Gid, device: str = "rocep1s0f0", **changes: Any) -> RdmaPort:
    values: dict[str, Any] = {"state": "ACTIVE", "netdev": "enp1s0f0np0", "netdev_mtu": 9000, "gids": gids or USUAL}
    return RdmaPort(device=device, **{**values, **changes})


def read(value: object, at: float = 9.0) -> Reading[Any]:
    return Reading(value=value, at=at, period_s=5)


def container(env: dict[str, str], **changes: Any) -> Container:
    return Container(**{"id": "1", "name": "rank", "state": "running", "pid": 7, "env": env, **changes})


def node(*ports: RdmaPort, env: dict[str, str] | None = None, name: str = "spark1", **changes: Any) -> NodeState:
    values: dict[str, Any] = {
        "name": name,
        "link": Link(phase="up"),
        "rdma": read(tuple(PortRate(port=found) for found in ports)),
        "containers": read(ContainerEngine(containers=() if env is None else (container(env),))),
    }
    return NodeState(**{**values, **changes})


@pytest.mark.parametrize(
    ("spec", "device", "number", "let_through"),
    [
        ("rocep1s0f0", "rocep1s0f0", 1, True),
        ("rocep1s0f0", "rocep1s0f1", 1, False),
        ("roce", "roceP2p1s0f0", 1, True),
        ("=roce", "rocep1s0f0", 1, False),
        ("=rocep1s0f0,mlx5_1", "mlx5_1", 1, True),
        ("mlx5_1:2", "mlx5_1", 1, False),
        ("mlx5_1:2", "mlx5_1", 2, True),
        ("mlx5_1", "mlx5_10", 1, True),
        ("=mlx5_1", "mlx5_10", 1, False),
        ("^mlx5_1", "mlx5_1", 1, False),
        ("^mlx5_1", "rocep1s0f0", 1, True),
        ("^=mlx5_1", "mlx5_10", 1, True),
        ("", "anything", 1, True),
    ],
)
def test_the_grammar_of_nccl_ib_hca(spec: str, device: str, number: int, let_through: bool) -> None:
    assert fabric.matches(spec, RdmaPort(device=device, port=number)) is let_through


def test_what_nccl_said_beats_what_it_was_told() -> None:
    log = RankLog(container="rank", devices=("rocep1s0f1:1",))
    told = node(port(), port(device="rocep1s0f1"), env={"NCCL_IB_HCA": "rocep1s0f0"}, logs=(log,))
    assert [known.port.device for known in fabric.fabric_ports(told)] == ["rocep1s0f1"]


def test_nobody_tells_and_nothing_is_assumed() -> None:
    seen = node(port(), port(device="rocep1s0f1", state="DOWN"))
    assert fabric.uses(seen, seen.rdma.value[0].port) is None  # type: ignore[index]
    assert [known.port.device for known in fabric.fabric_ports(seen)] == ["rocep1s0f0"]


def test_the_container_that_runs_beats_one_that_ended() -> None:
    old = container({"NCCL_IB_HCA": "a"}, name="old", state="exited", started_at=9.0)
    new = container({"NCCL_IB_HCA": "b"}, name="new", started_at=1.0)
    other = container({"PATH": "/bin"}, name="proxy")
    seen = node(port(), containers=read(ContainerEngine(containers=(old, new, other))))
    assert fabric.setting(seen, "NCCL_IB_HCA") == "b"


def test_nccl_takes_the_first_ipv4_entry_of_version_2() -> None:
    best = gid.nccl_choice(port(*USUAL, entry(4, "10.9.9.9", V1), entry(5, "10.9.9.9")))
    assert best is not None and best.index == 3
    rxe = gid.nccl_choice(port(entry(0, None), entry(1, "10.99.2.11")))
    assert rxe is not None and rxe.index == 1
    only_v1 = gid.nccl_choice(port(entry(0, None, V1), entry(1, "10.1.1.1", V1)))
    assert only_v1 is not None and only_v1.type == V1
    assert gid.nccl_choice(port(entry(0, None))) is None


def test_the_fabric_address_decides_where_it_is_known() -> None:
    two = port(*USUAL, entry(4, "10.9.9.9", V1), entry(5, "10.9.9.9"))
    assert (best := gid.right(two, "10.9.9.9")) is not None and best.index == 5
    assert (best := gid.right(two, "192.0.2.1")) is not None and best.index == 3


@pytest.mark.parametrize(
    ("text", "told"), [(None, None), ("3", 3), (" 4 ", 4), ("", 0), ("-1", None), ("three", None), ("99999", None)]
)
def test_the_index_that_is_told(text: str | None, told: int | None) -> None:
    env = {"NCCL_IB_HCA": "rocep1s0f0"} | ({} if text is None else {"NCCL_IB_GID_INDEX": text})
    assert gid.told_index(node(port(), env=env)) == told


def test_the_log_tells_the_index_where_no_container_does() -> None:
    log = RankLog(container="rank", gid_index=5)
    assert gid.told_index(node(port(), env={"NCCL_IB_HCA": "x"}, logs=(log,))) == 5


def test_a_port_that_is_down_has_no_fault_of_its_table() -> None:
    down = port(state="DOWN")
    verdict = gid.judge(node(down, env={"NCCL_IB_GID_INDEX": "7"}), down)
    assert verdict.fault is None and not verdict.known


def test_what_drifted() -> None:
    first = tuple(f"{found.index} {found.gid} {found.type} {found.netdev}" for found in USUAL)
    moved = (*USUAL[:2], entry(4, "10.77.1.11", V1), entry(5, "10.77.1.11"))
    assert gid.drifted(PortRate(port=port(*moved), first_gids=first)) == ("10.77.1.11 3 -> 5",)
    assert gid.drifted(PortRate(port=port(), first_gids=first)) == ()
    assert gid.drifted(PortRate(port=port(), first_gids=())) == ()


@given(st.lists(st.sampled_from([None, "same", "other"]), min_size=1, max_size=6))
def test_unknown_is_never_equal(values: list[str | None]) -> None:
    verdict = compare.verdict(tuple(values))
    assert (verdict == "same") == (set(values) in ({"same"}, {"other"}))
    assert (verdict == "differs") == ({"same", "other"} <= set(values))


def boxes(**second: Any) -> tuple[NodeState, NodeState]:
    env = {"NCCL_IB_HCA": "rocep1s0f0"}
    more: dict[str, Any] = {
        "host": read(Host(kernel="6.17.0")),
        "gpu": read(Gpu(driver="580.95.05")),
        "processes": read((ProcessLimits(pid=7, container="rank", memlock_bytes=UNLIMITED),)),
        "logs": (RankLog(container="rank", nccl_version="2.29.7"),),
    }
    return node(port(firmware="1"), env=env, **more), node(
        port(firmware="1"), env=env, name="spark2", **{**more, **second}
    )


def verdicts(nodes: tuple[NodeState, ...], now: float = 10.0) -> dict[str, str]:
    return {row.name: row.verdict for row in compare.compare(nodes, now)}


def test_rows_of_two_boxes() -> None:
    found = verdicts(boxes())
    assert found == dict.fromkeys(("kernel", "driver", "firmware", "MTU", "NCCL", "memlock"), "same")


def test_a_node_that_is_not_read_is_unknown() -> None:
    assert set(verdicts(boxes(link=Link(phase="waiting"))).values()) == {"unknown"}
    assert verdicts(boxes(gpu=Reading()))["driver"] == "unknown"


def test_one_that_differs() -> None:
    found = verdicts(boxes(processes=read((ProcessLimits(pid=7, container="rank", memlock_bytes=8 << 20),))))
    assert found["memlock"] == "differs" and found["kernel"] == "same"


def test_one_box_is_not_compared() -> None:
    assert compare.compare(boxes()[:1], 10.0) == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, None), (-1, "unlimited"), (8 << 20, "8 MiB"), (64 << 10, "64 KiB"), (3 << 29, "1.5 GiB"), (12, "12 B")],
)
def test_limits_for_people(value: int | None, text: str | None) -> None:
    assert compare.limit_text(value) == text


def test_settings_are_made_of_what_was_read() -> None:
    second = port(
        entry(2, "10.77.3.11", V1, "enP2p1s0f0np0"), entry(3, "10.77.3.11", V2, "enP2p1s0f0np0"), device="roceP2p1s0f0"
    )
    env = {"NCCL_IB_HCA": "roce", "VLLM_HOST_IP": "10.77.3.11"}
    assert compare.settings(node(port(), second, env=env)) == (
        "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0",
        "NCCL_IB_GID_INDEX=3",
        "NCCL_SOCKET_IFNAME=enP2p1s0f0np0",
        "GLOO_SOCKET_IFNAME=enP2p1s0f0np0",
        "VLLM_HOST_IP=10.77.3.11",
    )


def test_no_index_is_proposed_where_the_ports_differ() -> None:
    second = port(entry(1, "10.77.3.11", V2, "enP2p1s0f0np0"), device="roceP2p1s0f0")
    assert not [line for line in compare.settings(node(port(), second)) if "GID_INDEX" in line]


def test_no_settings_of_what_is_not_known() -> None:
    assert compare.settings(node()) == ()
    assert compare.settings(node(port(entry(0, None)))) == ()
    assert compare.settings(NodeState(name="spark1")) == ()


def test_small_frames_get_a_command() -> None:
    assert compare.recommended_mtu(node(port(netdev_mtu=1500))) == ("sudo ip link set enp1s0f0np0 mtu 9000",)
    assert compare.recommended_mtu(node(port())) == compare.recommended_mtu(node(port(netdev_mtu=None))) == ()
