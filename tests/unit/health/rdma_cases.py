"""The table of the fabric: two serving nodes with a ConnectX-7 each, and one thing in it that is changed."""

from __future__ import annotations

from typing import Any

from health_builders import NOW, cluster, down, failed, node, reading
from health_case import Case, only

from dsv41_tui.core.containers import UNLIMITED, Container, ContainerEngine, ProcessLimits
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import ClusterState, NodeState, Notice, Reading
from dsv41_tui.core.rdma import Gid, PortRate, RdmaCounters, RdmaPort

V1, V2 = "IB/RoCE v1", "RoCE v2"
FE80 = "fe80:0000:0000:0000:fe4c:eaff:fe11:2230"
ENV = {"NCCL_IB_HCA": "rocep1s0f0", "NCCL_IB_GID_INDEX": "3", "NCCL_IB_DISABLE": "0"}


def mapped(address: str) -> str:
    a, b, c, d = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def table(address: str, netdev: str = "enp1s0f0np0", at: int = 2) -> tuple[Gid, ...]:
    """The usual table of mlx5: link-local v1 and v2, then the address v1 and v2, from `at` on."""
    rows = [(0, FE80, V1), (1, FE80, V2), (at, mapped(address), V1), (at + 1, mapped(address), V2)]
    return tuple(Gid(index=index, gid=text, type=kind, netdev=netdev) for index, text, kind in rows)


def port(address: str = "10.77.1.12", device: str = "rocep1s0f0", **changes: Any) -> RdmaPort:
    netdev = device.replace("roce", "en") + "np0"
    values: dict[str, Any] = {
        "device": device,
        "state": "ACTIVE",
        "physical_state": "LinkUp",
        "rate_gbit": 200.0,
        "link_layer": "Ethernet",
        "netdev": netdev,
        "netdev_mtu": 9000,
        "netdev_up": True,
        "active_mtu": 4096,
        "gids": table(address, netdev),
        "firmware": "28.45.4028",
        "hca_type": "MT4129",
        "system_guid": "fc4c:ea03:0011:2230",
    }
    return RdmaPort(**{**values, **changes})


def lines(*gids: Gid) -> tuple[str, ...]:
    return tuple(f"{gid.index} {gid.gid} {gid.type} {gid.netdev}" for gid in gids)


def rate(of: RdmaPort | None = None, since: dict[str, int] | None = None, **per_s: float) -> PortRate:
    found = of or port()
    return PortRate(port=found, first_gids=lines(*found.gids), per_s=per_s, since_start=since or {})


def container(env: dict[str, str] | None = None, **changes: Any) -> Reading[Any]:
    values: dict[str, Any] = {
        "id": "c0ffee",
        "name": "dsv41-exl3-worker",
        "state": "running",
        "pid": 4711,
        "started_at": 1.0,
        "devices": ("/dev/infiniband",),
        "privileged": False,
        "env": ENV if env is None else env,
    }
    return reading(ContainerEngine(containers=(Container(**{**values, **changes}),)), period_s=5)


def limit(memlock: int | None = UNLIMITED) -> Reading[Any]:
    found = ProcessLimits(pid=4711, container="dsv41-exl3-worker", memlock_bytes=memlock, state="S")
    return reading((found,), period_s=5)


def log(**changes: Any) -> tuple[RankLog, ...]:
    values: dict[str, Any] = {"container": "dsv41-exl3-worker", "rank": 1, "started_at": 1.0}
    return (RankLog(**{**values, **changes}),)


UP = {"registration": "ok", "transport": "ib", "init_complete": 1, "served": True}


def ports(*rates: PortRate, age_s: float = 0.5) -> Reading[Any]:
    return reading(rates, age_s, period_s=2)


def box(name: str, *rates: PortRate, **changes: Any) -> NodeState:
    own = rates or (rate(port("10.77.1.11" if name == "spark1" else "10.77.1.12")),)
    counters = tuple(RdmaCounters(device=known.port.device) for known in own)
    values = {"rdma": ports(*own), "rdma_counters": reading(counters, period_s=5), "processes": limit()}
    return node(name, **{**values, **changes})


def worker(*rates: PortRate, **changes: Any) -> ClusterState:
    """A healthy head and a worker that is told to use its first port, with one thing changed."""
    return cluster(
        box("spark1", containers=container()), box("spark2", *rates, **{"containers": container(), **changes})
    )


def fell(state: ClusterState, at: float = NOW - 30) -> ClusterState:
    notice = Notice(at=at, node="spark2", kind="port-down", detail="rocep1s0f0 DOWN Polling")
    return state.model_copy(update={"notices": (notice,)})


def dead(**changes: Any) -> PortRate:
    return rate(port(**{"state": "DOWN", "physical_state": "Disabled", "rate_gbit": 40.0, "gids": (), **changes}))


SECOND = rate(port("10.77.2.12", "rocep1s0f1"))
BOTH = {**ENV, "NCCL_IB_HCA": "rocep1s0f0,rocep1s0f1"}
CROSSED = (rate(port("10.77.2.12")), rate(port("10.77.1.12", "rocep1s0f1")))
HEAD_BOTH = box("spark1", rate(port("10.77.1.11")), rate(port("10.77.2.11", "rocep1s0f1")), containers=container(BOTH))
MOVED = rate(port(gids=table("10.77.1.12", at=4))).model_copy(update={"first_gids": lines(*table("10.77.1.12"))})
BUSY = {"port_rcv_packets": 90_000.0, "port_xmit_packets": 90_000.0}
IDLE = {"port_rcv_packets": 0.0, "port_xmit_packets": 3.0}


def index(text: str | None) -> Reading[Any]:
    env = {key: value for key, value in ENV.items() if key != "NCCL_IB_GID_INDEX"}
    return container(env if text is None else {**env, "NCCL_IB_GID_INDEX": text})


def gids(*found: Gid) -> PortRate:
    return rate(port(gids=found))


PORTS = [
    Case("a healthy fabric", worker(), spares=("rdma-port-down", "rdma-gid-wrong", "rdma-lossy", "rdma-memlock")),
    Case("the cable is out", worker(dead()), only("rdma-port-down", "error")),
    Case("the interface is set down", worker(dead(netdev_up=False)), only("rdma-port-down", "error")),
    Case("rxe without a cable", worker(dead(hca_type=None, netdev_up=None, physical_state="Polling")),
         only("rdma-port-down", "error")),
    Case("down, as read some time ago", worker(rdma=ports(dead(), age_s=8)), only("rdma-port-down", "warn")),
    Case("an unused second port is down", worker(rate(), dead(device="rocep1s0f1")), spares=("rdma-port-down",)),
    Case("nobody tells which port is used, and one is up", cluster(box("spark1"), box("spark2", rate(), dead(
        device="rocep1s0f1"))), spares=("rdma-port-down",)),
    Case("nobody tells, and none is up", cluster(box("spark1"), box("spark2", dead())), only("rdma-port-down", "warn")),
    Case("nobody tells, and one went down", fell(cluster(box("spark1"), box("spark2", dead(), SECOND))),
         only("rdma-port-down", "warn")),
    Case("it went down while the rank runs, and nobody names it", fell(worker(dead(), SECOND, containers=container(
        {"VLLM_HOST_IP": "10.77.2.12"}))), only("rdma-port-down", "error")),
    Case("the link trains", worker(dead(physical_state="PortConfigurationTraining")), only("rdma-port-down", "error")),
    Case("no HCA on any node and none asked for", cluster(box("spark1", rdma=ports()), box("spark2", rdma=ports())),
         spares=("rdma-port-down", "rdma-hca-absent")),
    Case("the node is gone", worker(dead(), link=down("timed-out")), only("link-timed-out", "warn"),
         spares=("rdma-port-down",)),
    Case("the fabric is not read", worker(rdma=failed("torn")), only("reading-unreadable", "info")),
    Case("a name that is not there", worker(containers=container({**ENV, "NCCL_IB_HCA": "roceP2p1s0f0"})),
         only("rdma-hca-absent", "error")),
    Case("one of two names is not there", worker(containers=container({**ENV, "NCCL_IB_HCA": "=rocep1s0f0,mlx5_1"})),
         only("rdma-hca-absent", "warn")),
    Case("no HCA at all", worker(rdma=ports()), only("rdma-hca-absent", "error")),
    Case("a beginning of names, and a port", worker(containers=container({**ENV, "NCCL_IB_HCA": "roce:1"})),
         spares=("rdma-hca-absent",)),
    Case("a list that excludes", worker(containers=container({**ENV, "NCCL_IB_HCA": "^mlx5_7"})),
         spares=("rdma-hca-absent",)),
    Case("no device in it", worker(containers=container(devices=())), only("rdma-not-in-container", "error")),
    Case("a privileged container", worker(containers=container(devices=(), privileged=True)),
         spares=("rdma-not-in-container",)),
    Case("NCCL uses IB all the same", worker(containers=container(devices=()), logs=log(**UP)),
         spares=("rdma-not-in-container",)),
    Case("a container that ended lacks nothing", worker(containers=container(devices=(), state="exited")),
         spares=("rdma-not-in-container",)),
    Case("memlock of 8 MiB", worker(processes=limit(8 << 20)), only("rdma-memlock", "warn")),
    Case("memlock of 8 MiB, and registration failed", worker(processes=limit(8 << 20), logs=log(
        registration="failed", transport="ib")), only("rdma-memlock", "error")),
    Case("memlock of 8 MiB, and NCCL registered", worker(processes=limit(8 << 20), logs=log(**UP)),
         spares=("rdma-memlock",)),
    Case("memlock is not read", worker(processes=failed("gone")), spares=("rdma-memlock",)),
    Case("a slow link", worker(rate(port(rate_gbit=40.0))), only("rdma-link-slow", "warn")),
    Case("slower than the other end", worker(rate(port(rate_gbit=100.0))), only("rdma-link-slow", "warn")),
    Case("soft-RoCE is slow by nature", cluster(*(box(name, rate(port(hca_type=None, rate_gbit=2.5, firmware=None)))
        for name in ("spark1", "spark2"))), spares=("rdma-link-slow",)),
    Case("the rate is not read", worker(rate(port(rate_gbit=None))), spares=("rdma-link-slow",)),
    Case("MTU differs", worker(rate(port(netdev_mtu=1500, active_mtu=1024))), only("rdma-mtu-differs", "warn", None)),
    Case("one MTU is unknown", worker(rate(port(netdev_mtu=None))), spares=("rdma-mtu-differs",)),
    Case("nobody tells, and another network is slower, with smaller frames", cluster(*(box(name, rate(), rate(port(
        "192.0.2.1", "mlx5_4", rate_gbit=25.0, netdev_mtu=1500))) for name in ("spark1", "spark2"))),
         spares=("rdma-mtu-differs", "rdma-link-slow")),
    Case("nobody tells, and namesakes have different frames", cluster(box("spark1"), box("spark2", rate(port(
        netdev_mtu=1500)))), only("rdma-mtu-differs", "warn", None)),
    Case("nobody tells, and a namesake is slower", cluster(box("spark1"), box("spark2", rate(port(rate_gbit=100.0)))),
         only("rdma-link-slow", "warn")),
    Case("an unused port has another MTU", worker(rate(), rate(port("10.77.2.12", "rocep1s0f1", netdev_mtu=1500))),
         spares=("rdma-mtu-differs",)),
    Case("crossed rails", cluster(HEAD_BOTH, box("spark2", *CROSSED, containers=container(BOTH))),
         only("rdma-rails-crossed", "warn")),
    Case("straight rails", cluster(HEAD_BOTH, box("spark2", rate(), SECOND, containers=container(BOTH))),
         spares=("rdma-rails-crossed", "rdma-gid-wrong")),
]  # fmt: skip
GIDS = [
    Case("an empty slot", worker(containers=index("5")), only("rdma-gid-wrong", "error")),
    Case("an empty slot under a model that runs", worker(containers=index("5"), logs=log(**UP)),
         only("rdma-gid-wrong", "warn")),
    Case("RoCE v1", worker(containers=index("2")), only("rdma-gid-wrong", "error")),
    Case("link-local", worker(containers=index("1")), only("rdma-gid-wrong", "error")),
    Case("an empty text counts as 0", worker(containers=index("")), only("rdma-gid-wrong", "error")),
    Case("another address", worker(gids(*table("10.77.1.12"), Gid(index=4, gid=mapped("10.9.9.9"), type=V2)),
         containers=index("4")), only("rdma-gid-wrong", "error")),
    Case("another interface", worker(gids(*table("10.77.1.12"), Gid(index=4, gid=mapped("10.9.9.9"), type=V2,
         netdev="enp1s0f0np0.40")), containers=index("4")), only("rdma-gid-wrong", "error")),
    Case("no IPv4 address", worker(gids(Gid(index=0, gid=FE80, type=V1), Gid(index=1, gid=FE80, type=V2))),
         only("rdma-gid-wrong", "error")),
    Case("no IPv4 address on a port that nobody uses", cluster(box("spark1"), box("spark2", gids(
        Gid(index=1, gid=FE80, type=V2)))), spares=("rdma-gid-wrong",)),
    Case("NCCL chooses", worker(containers=index(None)), spares=("rdma-gid-wrong",)),
    Case("NCCL chooses by -1", worker(containers=index("-1")), spares=("rdma-gid-wrong",)),
    Case("an index beyond what is read", worker(containers=index("40")), spares=("rdma-gid-wrong",)),
    Case("the table moved under a pinned index", worker(MOVED), only("rdma-gid-wrong", "error"),
         spares=("rdma-gid-moved",)),
    Case("the table moved, and NCCL chooses", worker(MOVED, containers=index(None)), only("rdma-gid-moved", "info")),
    Case("soft-RoCE has the address at 1", worker(gids(Gid(index=0, gid=FE80, type=V2), Gid(
        index=1, gid=mapped("10.77.1.12"), type=V2)), containers=index("1")), spares=("rdma-gid-wrong",)),
]  # fmt: skip
LOSS_NOW = {"out_of_sequence": 12.0, "local_ack_timeout_err": 0.4}
COUNTERS = [
    Case("packets are lost", worker(rate(since={"out_of_sequence": 60}, **LOSS_NOW)), only("rdma-lossy", "warn")),
    Case("lost and full", worker(rate(np_cnp_sent=900.0, **LOSS_NOW)), only("rdma-lossy", "warn")),
    Case("soft-RoCE loses packets", worker(rate(rcvd_seq_err=3.0, completer_retry_err=2.0)),
         only("rdma-lossy", "warn")),
    Case("congestion control works", worker(rate(np_cnp_sent=900.0, rp_cnp_handled=800.0, out_of_sequence=0.0)),
         spares=("rdma-lossy",)),
    Case("counters came late", worker(rate(**LOSS_NOW), rdma_counters=reading((), 20, 5)), spares=("rdma-lossy",)),
    Case("damaged frames", worker(rate(symbol_error=2.0, port_rcv_errors=2.0)), only("rdma-link-errors", "warn")),
    Case("it went down and came back", fell(worker()), only("rdma-link-errors", "warn")),
    Case("it went down long ago", fell(worker(), NOW - 7200), spares=("rdma-link-errors",)),
    Case("it fell between two looks", worker(rate(link_downed=0.2)), only("rdma-link-errors", "warn")),
    Case("half of the fabric is idle", cluster(HEAD_BOTH, box("spark2", rate(**BUSY), rate(SECOND.port, **IDLE),
         containers=container(BOTH))), only("rdma-half-used", "warn")),
    Case("both halves work", cluster(HEAD_BOTH, box("spark2", rate(**BUSY), rate(SECOND.port, **BUSY),
         containers=container(BOTH))), spares=("rdma-half-used",)),
    Case("all is idle", cluster(HEAD_BOTH, box("spark2", rate(**IDLE), rate(SECOND.port, **IDLE),
         containers=container(BOTH))), spares=("rdma-half-used",)),
    Case("the second port is not named", worker(rate(**BUSY), rate(SECOND.port, **IDLE)), spares=("rdma-half-used",)),
]  # fmt: skip
RDMA = [*PORTS, *GIDS, *COUNTERS]
