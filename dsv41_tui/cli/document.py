"""State as the JSON documents of the contract: bytes are integers, unknown is null, every reading has its age."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from dsv41_tui.cli.document_rdma import rdma_documents
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.health.mounts import number
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState, Reading
from dsv41_tui.core.readings import Gpu, Host, Logind, Memory, NasServer, Pressure, ShmUse
from dsv41_tui.core.reduce_nfs import retransmissions
from dsv41_tui.core.value import Value

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


def json_text(document: dict[str, Any], encoding: str | None, indent: int | None = None) -> str:
    """One JSON text; for an output that is not UTF-8 in ASCII alone, so that no name is lost to a `?`."""
    utf8 = (encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(document, ensure_ascii=not utf8, indent=indent)


def check_document(verdict: str, findings: tuple[Finding, ...], taken_at: datetime) -> dict[str, Any]:
    """The document of `check`."""
    return {
        "schema": SCHEMA,
        "taken_at": taken_at.isoformat(timespec="seconds"),
        "verdict": verdict,
        "findings": [finding.model_dump(mode="json", exclude={"pane", "log_number"}) for finding in findings],
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
        "host": _read(node.host, now, _values(Host, node.host)),
        "uptime_s": node.uptime_s,
        "memory": _memory(node, now),
        "pressure": _read(node.pressure, now, _values(Pressure, node.pressure)),
        "net": _net(node, now),
        "nfs": [nfs_document(mount, node, now) for mount in node.nfs],
        "shards": [],
        "rdma": rdma_documents(node, now),
        "containers": _containers(node, now),
        "container_engine": _engine(node, now),
        "gpu": _read(node.gpu, now, _values(Gpu, node.gpu)),
        "shm": _read(node.shm, now, _values(ShmUse, node.shm)),
        "logind": _read(node.logind, now, _values(Logind, node.logind)),
        "nas": _read(node.nas, now, _values(NasServer, node.nas)) if node.role == "nas" else None,
        "observer": {
            "cpu_s_per_min": _round(node.observer.cpu_s_per_min),
            "sessions": node.observer.sessions,
            "bytes_per_s": _round(node.observer.bytes_per_s),
        },
    }


def _values(shape: type[Value], reading: Reading[Any]) -> dict[str, Any]:
    """The reading's fields; those of one that was never taken are all there, and null."""
    value: Value | None = reading.value
    return dict.fromkeys(shape.model_fields) if value is None else value.model_dump()


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
    values = _values(Memory, node.memory)
    for derived in ("kernel", "driver", "page_cache", "cma_leaked"):
        values[derived] = None if memory is None else getattr(memory, derived)
    values["low_free"] = node.low_free.value if node.low_free else None
    values["low_available"] = node.low_available.value if node.low_available else None
    return _read(node.memory, now, values)


def _engine(node: NodeState, now: float) -> dict[str, Any]:
    engine = node.containers.value
    named = {"engine": engine.engine if engine else None, "version": engine.version if engine else None}
    return _read(node.containers, now, named)


def _containers(node: NodeState, now: float) -> list[dict[str, Any]]:
    """Times are Unix seconds of the node's clock; the environment is what the allow-list lets through."""
    engine, age = node.containers.value, node.containers.age_s(now)
    read = {"age_s": None if age is None else round(age, 1), "read": node.containers.read(now)}
    return [{**container.model_dump(mode="json"), **read} for container in (engine.containers if engine else ())]


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
        "asked": {key: number(mount.asked, key) for key in SIZES if key in mount.asked},
        "asked_source": mount.asked_source,
        "got": {
            "rsize": number(mount.got, "rsize"),
            "wsize": number(mount.got, "wsize"),
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


def _round(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)
