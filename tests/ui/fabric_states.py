"""States of the fabric made by hand: a pair that serves over both halves of one port, and what goes wrong in it."""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.containers import UNLIMITED, Container, ContainerEngine, ProcessLimits
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import ClusterState, Notice
from dsv41_tui.core.rdma import Gid, PortRate, RdmaCounters, RdmaPort
from tests.ui import states

FE80 = "fe80:0000:0000:0000:fe4c:eaff:fe11:2230"
FLOW = {
    "port_rcv_data": 2_310_000_000.0, "port_xmit_data": 2_290_000_000.0, "port_rcv_packets": 560_000.0,
    "port_xmit_packets": 560_000.0, "out_of_sequence": 0.0, "local_ack_timeout_err": 0.0, "np_cnp_sent": 12.0,
}  # fmt: skip


def table(host: int, net: int, netdev: str, at: int = 2) -> tuple[Gid, ...]:
    mapped = f"0000:0000:0000:0000:0000:ffff:0a4d:{net:02x}{host:02x}"
    rows = ((0, FE80, "IB/RoCE v1"), (1, FE80, "RoCE v2"), (at, mapped, "IB/RoCE v1"), (at + 1, mapped, "RoCE v2"))
    return tuple(Gid(index=index, gid=gid, type=kind, netdev=netdev) for index, gid, kind in rows)


def lines(gids: tuple[Gid, ...]) -> tuple[str, ...]:
    return tuple(f"{gid.index} {gid.gid} {gid.type} {gid.netdev}" for gid in gids)


def half(host: int, prefix: str = "", *, flow: dict[str, float] | None = None, **changes: Any) -> PortRate:
    netdev, net = f"en{prefix}p1s0f0np0", 3 if prefix else 1
    values: dict[str, Any] = {
        "device": f"roce{prefix}p1s0f0", "state": "ACTIVE", "physical_state": "LinkUp", "rate_gbit": 200.0,
        "link_layer": "Ethernet", "netdev": netdev, "netdev_mtu": 9000, "active_mtu": 4096, "netdev_up": True,
        "gids": table(host, net, netdev), "firmware": "28.45.4028", "hca_type": "MT4129",
        "system_guid": f"fc4c:ea03:0011:22{host:02x}",
    }  # fmt: skip
    port = RdmaPort(**{**values, **changes})
    since = {"port_rcv_data": 91_000_000_000, "out_of_sequence": 0, "np_cnp_sent": 18_211}
    first = lines(table(host, net, netdev))
    return PortRate(port=port, first_gids=first, per_s=FLOW if flow is None else flow, since_start=since)


def spare(host: int) -> PortRate:
    """The second port of the card, which has no cable."""
    port = half(host).port.model_copy(
        update={"device": "rocep1s0f1", "netdev": "enp1s0f1np1", "state": "DOWN", "physical_state": "Disabled",
                "rate_gbit": 40.0, "gids": ()}
    )  # fmt: skip
    return PortRate(port=port)


def rank(number: int, *ports: PortRate, env: dict[str, str] | None = None, **log: Any) -> dict[str, Any]:
    """The part of a node's state that its fabric and its rank are."""
    name = "dsv41-exl3-head" if number == 0 else "dsv41-exl3-worker"
    told = {
        "NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0",
        "NCCL_IB_GID_INDEX": "3",
        "VLLM_HOST_IP": f"10.77.1.{11 + number}",
    }
    container = Container(
        id=f"{number}", name=name, image_digest="sha256:9f31c2a07d11", state="running", pid=4711, env=env or told,
        devices=("/dev/infiniband",), privileged=False,
    )  # fmt: skip
    heard = {"registration": "ok", "transport": "ib", "nccl_version": "2.29.7", "init_complete": 1, **log}
    counters = tuple(RdmaCounters(device=known.port.device) for known in ports)
    return {
        "rdma": states.ok(ports, period=2),
        "rdma_counters": states.ok(counters, period=5),
        "containers": states.ok(ContainerEngine(version="28.2.2", containers=(container,)), period=30),
        "processes": states.ok((ProcessLimits(pid=4711, container=name, memlock_bytes=UNLIMITED),), period=5),
        "logs": (RankLog(container=name, rank=number, engine_version="0.33.0", **heard),),
    }


def joined(*parts: dict[str, Any], notices: tuple[Notice, ...] = ()) -> ClusterState:
    state = states.healthy()
    nodes = [node.model_copy(update=part) for node, part in zip(state.nodes, parts, strict=False)]
    return state.model_copy(update={"nodes": (*nodes, *state.nodes[len(nodes) :]), "notices": notices})


def serving() -> ClusterState:
    return joined(rank(0, half(11), half(11, "P2"), spare(11)), rank(1, half(12), half(12, "P2"), spare(12)))


def broken() -> ClusterState:
    """The worker: one half without a cable, the other at an index that moved, other firmware, registration failed."""
    down = half(12, state="DOWN", physical_state="Disabled", gids=(), rate_gbit=40.0, firmware="28.45.4006")
    moved = half(
        12, "P2", gids=table(12, 3, "enP2p1s0f0np0", at=4), firmware="28.45.4006",
        flow={**FLOW, "out_of_sequence": 14.0},
    )  # fmt: skip
    return joined(rank(0, half(11), half(11, "P2")), rank(1, down, moved, registration="failed"))


def unread() -> ClusterState:
    """A head without an HCA, a worker whose ports were read a while ago."""
    old = rank(1, half(12))
    old["rdma"] = old["rdma"].model_copy(update={"at": states.NOW - 14})
    return joined({"rdma": states.ok((), period=2)}, old)
