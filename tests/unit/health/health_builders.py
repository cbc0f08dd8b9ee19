"""Small states to judge: a healthy cluster of two serving nodes and a NAS, and ways to change one thing in it."""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import (
    ClusterState,
    Link,
    NetRate,
    NfsMount,
    NodeState,
    Probe,
    Reading,
    Trend,
)
from dsv41_tui.core.readings import (
    GIB,
    Host,
    Logind,
    Memory,
    MountStats,
    NasServer,
    NetInterface,
    Pressure,
    ShmUse,
    Transport,
)

NOW = 1000.0
LIMITS = Limits()
KIB = 1024

# A head that serves: the figures of an EXL3 start, 4.1 GiB available.
SERVING = {
    "total": 130_663_165_952,
    "free": 4 * GIB,
    "available": int(5.4 * GIB),
    "buffers": 60 * KIB * KIB,
    "cached": 6 * GIB,
    "shmem": int(4.5 * GIB),
    "anon": 9 * GIB,
    "slab": GIB,
    "swap_total": 16 * GIB,
    "swap_free": 16 * GIB - 2 * KIB * KIB,
    "dirty": 300 * KIB,
    "writeback": 0,
    "cma_total": 64 * KIB * KIB,
    "cma_free": 60 * KIB * KIB,
}


def reading(value: Any, age_s: float = 0.5, period_s: float = 1.0, error: str | None = None) -> Reading[Any]:
    at = None if value is None else NOW - age_s
    return Reading[Any](value=value, at=at, period_s=period_s, error=error)


def failed(error: str) -> Reading[Any]:
    return Reading[Any](error=error)


def memory(**changes: Any) -> Reading[Any]:
    age_s = changes.pop("age_s", 0.5)
    return reading(Memory(**{**SERVING, **changes}), age_s)


def pressure(full: float) -> Reading[Any]:
    return reading(Pressure(some_avg10=full + 1, full_avg10=full))


def host(**changes: Any) -> Reading[Any]:
    values = {"boot_id": "a", "kernel": "6.17.0-1029-nvidia", "command_line": "BOOT_IMAGE=/vmlinuz quiet", **changes}
    return reading(Host(**values), period_s=60)


def ports(*ports: tuple[str, int, str]) -> Reading[Any]:
    rates = (
        NetRate(interface=NetInterface(name=name, rx_bytes=0, tx_bytes=0, speed_mbit=speed, operstate=state))
        for name, speed, state in ports
    )
    return reading(tuple(rates))


def stats(sends: int = 100, receives: int = 100, connections: int = 8) -> MountStats:
    first = Transport(protocol="tcp", sends=sends, receives=receives)
    rest = (Transport(protocol="tcp", sends=0, receives=0),) * (connections - 1)
    return MountStats(mount_point="/mnt/nas", source="nas:/models", fstype="nfs4", transports=(first, *rest))


def options(text: str) -> dict[str, str]:
    return {key: value for key, _, value in (option.partition("=") for option in text.split(",") if option)}


GOT = "rw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,nconnect=8,timeo=600,addr=192.0.2.50"


def mount(got: str = GOT, asked: str = "", **changes: Any) -> NfsMount:
    values: dict[str, Any] = {
        "mount_point": "/mnt/nas",
        "source": "nas:/models",
        "fstype": "nfs4",
        "device": "0:50",
        "got": options(got),
        "asked": options(asked),
        "asked_source": "/etc/fstab" if asked else None,
        "stats": stats(),
        "read_bytes_per_s": 0.0,
        "state": "idle",
        "last_probe": Probe(started_at=NOW - 2, ended_at=NOW - 1.9, outcome="ok", took_s=0.1),
    }
    return NfsMount(**{**values, **changes})


def hung(since: float = 14, **changes: Any) -> NfsMount:
    probe = Probe(
        started_at=NOW - since, ended_at=NOW - since + 2, outcome="timeout", took_s=2.0, receives_baseline=158
    )
    values: dict[str, Any] = {"state": "not-responding", "state_since": NOW - since, "last_probe": probe}
    return mount(**{"stats": stats(159, 158), **values, **changes})


def trend(*rates: float, last_bucket: int = 200) -> Trend:
    return Trend(last_bucket=last_bucket, points=tuple(int(rate) for rate in rates))


def reader(mib: float, history: tuple[float, ...] = (), **changes: Any) -> NfsMount:
    points = history or (mib,) * 8
    megabytes = trend(*(point * 1024 * 1024 for point in points))
    return mount(**{"state": "fine", "read_bytes_per_s": mib * 1024 * 1024, "trend": megabytes, **changes})


def node(name: str, **changes: Any) -> NodeState:
    values: dict[str, Any] = {
        "name": name,
        "role": "head" if name == "spark1" else "worker",
        "target": f"dsv@{name}:22",
        "link": Link(phase="up", since=100.0, logins=1, channels=3),
        "host": host(),
        "memory": memory(),
        "pressure": pressure(0.0),
        "net": ports(("enP7s7", 10_000, "up"), ("enp1s0f0np0", 200_000, "up")),
        "mountinfo": reading((), period_s=10),
        "mountstats": reading((), period_s=2),
        "fstab": reading((), period_s=60),
        "shm": reading(ShmUse(size=60 * GIB, used=int(4.7 * GIB), owners=("root",)), period_s=30),
        "logind": reading(Logind(remove_ipc=True, linger=False, user="dsv", uid=1000), period_s=300),
        "nfs": (mount(),),
    }
    return NodeState(**{**values, **changes})


def nas(**changes: Any) -> NodeState:
    told = NasServer(nfsd_threads=16, versions=("3", "4", "4.1", "4.2"), max_block_bytes=1 << 20)
    values: dict[str, Any] = {
        "name": "nas",
        "role": "nas",
        "target": "admin@192.0.2.50:22",
        "link": Link(phase="up", since=100.0, logins=1),
        "memory": memory(total=8 * GIB, free=GIB // 4, available=GIB),
        "net": ports(("eth0", 10_000, "up")),
        "nas": reading(told, period_s=10),
    }
    return NodeState(**{**values, **changes})


def told(**changes: Any) -> Reading[Any]:
    values = {"nfsd_threads": 16, "versions": ("3", "4.2"), "max_block_bytes": 1 << 20, **changes}
    return reading(NasServer(**values), period_s=10)


def cluster(*nodes: NodeState, **changes: Any) -> ClusterState:
    return ClusterState(nodes=nodes or (node("spark1"), node("spark2"), nas()), **changes)


def one(**changes: Any) -> ClusterState:
    """The healthy cluster with `spark2` changed."""
    return cluster(node("spark1"), node("spark2", **changes), nas())


def down(kind: str, why: str = "10.0.0.2:22: connection refused", *fix: str, phase: str = "waiting") -> Link:
    return Link(phase=phase, kind=kind, why=why, fix=fix, since=NOW - 5, down_since=NOW - 60, retry_at=NOW + 5)  # type: ignore[arg-type]
