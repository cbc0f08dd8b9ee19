"""State as the JSON documents of the contract: bytes are integers, unknown is null, every reading has its age."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dsv41_tui.core.model import ClusterState, Finding, NfsMount, NodeState, Reading
from dsv41_tui.core.reduce_nfs import retransmissions

SCHEMA = 1
SIZES = ("rsize", "wsize", "nconnect")


def status_document(state: ClusterState, now: float, taken_at: datetime) -> dict[str, Any]:
    """The document of `status`. Parts of the contract that are not watched yet are empty lists or null."""
    return {
        "schema": SCHEMA,
        "taken_at": taken_at.isoformat(timespec="seconds"),
        "cluster": state.name,
        "nodes": [node_document(node, now) for node in state.nodes],
        "service": None,
    }


def check_document(verdict: str, findings: tuple[Finding, ...], taken_at: datetime) -> dict[str, Any]:
    """The document of `check`."""
    return {
        "schema": SCHEMA,
        "taken_at": taken_at.isoformat(timespec="seconds"),
        "verdict": verdict,
        "findings": [finding.model_dump(mode="json", exclude={"pane"}) for finding in findings],
    }


def node_document(node: NodeState, now: float) -> dict[str, Any]:
    link = node.link
    return {
        "name": node.name,
        "role": node.role,
        "rank": node.rank,
        "target": node.target,
        "reachable": node.reachable,
        "link": {
            "phase": link.phase,
            "kind": link.kind,
            "why": link.why,
            "fix": list(link.fix),
            "down_s": None if link.down_since is None else round(now - link.down_since, 1),
            "logins": link.logins,
            "unwatched": list(link.unwatched),
        },
        "host": _read(node.host, now, node.host.value.model_dump() if node.host.value else {}),
        "uptime_s": node.uptime_s,
        "memory": _memory(node, now),
        "pressure": _read(node.pressure, now, node.pressure.value.model_dump() if node.pressure.value else {}),
        "net": _net(node, now),
        "nfs": [nfs_document(mount, node, now) for mount in node.nfs],
        "shards": [],
        "rdma": [],
        "containers": [],
        "gpu": _read(node.gpu, now, node.gpu.value.model_dump() if node.gpu.value else {}),
        "shm": _read(node.shm, now, node.shm.value.model_dump() if node.shm.value else {}),
        "logind": _read(node.logind, now, node.logind.value.model_dump() if node.logind.value else {}),
        "nas": _read(node.nas, now, node.nas.value.model_dump() if node.nas.value else {})
        if node.role == "nas"
        else None,
        "observer": {
            "cpu_s_per_min": _round(node.observer.cpu_s_per_min),
            "sessions": node.observer.sessions,
            "bytes_per_s": _round(node.observer.bytes_per_s),
        },
    }


def _read(reading: Reading[Any], now: float, values: dict[str, Any]) -> dict[str, Any]:
    age = reading.age_s(now)
    return {
        **values,
        "age_s": None if age is None else round(age, 1),
        "read": reading.read(now),
        "error": reading.error,
    }


def _memory(node: NodeState, now: float) -> dict[str, Any]:
    memory = node.memory.value
    values: dict[str, Any] = {}
    if memory is not None:
        values = memory.model_dump()
        values |= {
            "kernel": memory.kernel,
            "driver": memory.driver,
            "page_cache": memory.page_cache,
            "cma_leaked": memory.cma_leaked,
        }
    values["low_free"] = node.low_free.value if node.low_free else None
    values["low_available"] = node.low_available.value if node.low_available else None
    return _read(node.memory, now, values)


def _net(node: NodeState, now: float) -> dict[str, Any]:
    rates = [
        {**rate.interface.model_dump(), "rx_bytes_per_s": _round(rate.rx_bytes_per_s),
         "tx_bytes_per_s": _round(rate.tx_bytes_per_s)}
        for rate in node.net.value or ()
    ]  # fmt: skip
    return _read(node.net, now, {"interfaces": rates})


def nfs_document(mount: NfsMount, node: NodeState, now: float) -> dict[str, Any]:
    """NFS of the contract; `got.nconnect` is the number of connections that are there."""
    stats = mount.stats
    age = None if mount.stats_at is None else round(now - mount.stats_at, 1)
    connections = len(stats.transports) if stats and stats.transports else None
    return {
        "mount": mount.mount_point,
        "source": mount.source,
        "fstype": mount.fstype,
        "version": mount.version,
        "transport": mount.transport,
        "hard": mount.hard,
        "read_only": mount.read_only,
        "volume": mount.volume,
        "asked": {key: _integer(mount.asked.get(key)) for key in SIZES if key in mount.asked},
        "asked_source": mount.asked_source,
        "got": {
            "rsize": _integer(mount.got.get("rsize")),
            "wsize": _integer(mount.got.get("wsize")),
            "nconnect": connections,
        },
        "read_bytes_per_s": _round(mount.read_bytes_per_s),
        "read_bytes": stats.server_read_bytes if stats else None,
        "rtt_ms": _round(mount.rtt_ms, 2),
        "execute_ms": _round(mount.execute_ms, 2),
        "retrans": retransmissions(stats) if stats else None,
        "state": mount.state,
        "state_since_s": round(now - mount.state_since, 1),
        "age_s": age,
        "read": node.mountstats.read(now) if mount.mounted else node.mountinfo.read(now),
    }


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _round(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)
