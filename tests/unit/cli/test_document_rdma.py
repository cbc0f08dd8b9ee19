"""The `rdma` list of `status --json`."""

from __future__ import annotations

import json

from dsv41_tui.cli.document_rdma import rdma_documents
from dsv41_tui.core.containers import Container, ContainerEngine
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import NodeState, Reading
from dsv41_tui.core.rdma import Gid, PortRate, RdmaPort

MAPPED = "0000:0000:0000:0000:0000:ffff:0a4d:010b"
ROW = Gid(index=4, gid=MAPPED, type="RoCE v2", netdev="enp1s0f0np0")


def node(**changes: object) -> NodeState:
    port = RdmaPort(device="rocep1s0f0", state="ACTIVE", gids=(ROW,), netdev="enp1s0f0np0")
    known = PortRate(
        port=port,
        first_gids=(f"3 {MAPPED} RoCE v2 enp1s0f0np0",),
        per_s={"port_rcv_data": 1234.56},
        since_start={"out_of_sequence": 2},
    )
    env = {"NCCL_IB_HCA": "rocep1s0f0", "NCCL_IB_GID_INDEX": "3"}
    values = {
        "name": "spark1",
        "rdma": Reading(value=(known,), at=9.0, period_s=2),
        "rdma_counters": Reading(value=(), at=7.0, period_s=5),
        "containers": Reading(value=ContainerEngine(containers=(Container(id="1", name="head", env=env),)), at=9.0),
        "logs": (RankLog(container="head", registration="ok"),),
    }
    return NodeState(**{**values, **changes})  # type: ignore[arg-type]


def test_a_port_with_its_index_and_ages() -> None:
    (document,) = rdma_documents(node(), 10.0)
    json.dumps(document)
    assert (document["device"], document["state"], document["used"], document["netdev"]) == (
        "rocep1s0f0",
        "ACTIVE",
        True,
        "enp1s0f0np0",
    )
    assert document["gid_index"] == {
        "told": 3,
        "right": 4,
        "fault": "empty",
        "known": True,
        "drifted": ["10.77.1.11 3 -> 4"],
    }
    assert document["gids"] == [
        {"index": 4, "gid": MAPPED, "type": "RoCE v2", "netdev": "enp1s0f0np0", "ipv4": "10.77.1.11"}
    ]
    assert document["per_s"] == {"port_rcv_data": 1234.6} and document["since_start"] == {"out_of_sequence": 2}
    assert (document["age_s"], document["read"], document["counters_age_s"]) == (1.0, "ok", 3.0)
    assert document["registration"] == "ok"
    assert document["rate_gbit"] is None and document["netdev_mtu"] is None


def test_what_is_late_says_so() -> None:
    (document,) = rdma_documents(node(), 30.0)
    assert (document["read"], document["counters_read"], document["age_s"]) == ("stale", "stale", 21.0)


def test_no_hca_is_an_empty_list_and_unread_is_not() -> None:
    assert rdma_documents(node(rdma=Reading(value=(), at=9.0)), 10.0) == []
    (unread,) = rdma_documents(node(rdma=Reading(error="torn")), 10.0)
    assert unread == {"device": None, "age_s": None, "read": "unknown", "error": "torn"}
    assert rdma_documents(NodeState(name="nas", role="nas"), 10.0) == []
