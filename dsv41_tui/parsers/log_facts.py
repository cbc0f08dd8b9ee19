r"""What one line of an engine's log (`docker logs` of a rank) says of its state: NCCL, vLLM, SGLang, torch, launcher.

Boot phases are those of `core.log.PHASES`. A line says one thing; lines that say nothing are the rule, so a caller with
many takes `split_interesting` first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dsv41_tui.core.log import PHASES, LogFact
from dsv41_tui.parsers._log_rules import HEAD, split_off_stamp
from dsv41_tui.parsers.launcher_log import parse_launcher_log
from dsv41_tui.parsers.nccl import NcclLine, parse_nccl
from dsv41_tui.parsers.sglang import parse_sglang
from dsv41_tui.parsers.torchlog import parse_torchlog
from dsv41_tui.parsers.vllm import parse_vllm

Values = dict[str, str]
_PHASES = frozenset(PHASES)
_DEVICE = re.compile(r"\[\d{1,3}\](?P<name>[^\s:/\[\]]{1,160}):(?P<port>\d{1,3})(?=[:/ ]|$)")
_DEVICES = 32
_WORKER = re.compile(r"(?:_TP|VllmWorker-|TP)(\d{1,4})(?=_|$)")
_OTHER_GROUP = re.compile(r"_(?:DP|PP|PCP)[1-9]")
_STORE_RANK = 0
"""Where the TCPStore of the process group lives."""


def parse_log_facts(text: str, at: float | None = None) -> LogFact | None:
    """One cleaned line, with or without docker's stamp; `at` stands in where it has none. None: it says nothing."""
    stamp, text = split_off_stamp(text[:HEAD])
    found = _nccl(text) or _launcher(text) or _sglang(text) or _torch(text) or _vllm(text)
    return LogFact(at=at if stamp is None else stamp, **found) if found else None


def _nccl(text: str) -> dict[str, Any]:
    line = parse_nccl(text)
    if line is None or line.says not in _NCCL:
        return {}
    return _NCCL[line.says](line, line.values)


def _devices(line: NcclLine, values: Values) -> dict[str, Any]:
    names = tuple(f"{found['name']}:{found['port']}" for found in _DEVICE.finditer(values["list"]))
    return {"devices": names[:_DEVICES]}


def _network(line: NcclLine, values: Values) -> dict[str, Any]:
    name = values["network"]
    known = "socket" if name == "Socket" else "ib" if name.upper().startswith("IB") else None
    return {"transport": known} if known else {}


def _path(line: NcclLine, values: Values) -> dict[str, Any]:
    path = values["path"]
    known = "ib" if path.startswith("NET/IB") else "socket" if path.startswith("NET/Socket") else None
    return {"transport": known} if known else {}


def _init(kind: str) -> Callable[[NcclLine, Values], dict[str, Any]]:
    def fact(line: NcclLine, values: Values) -> dict[str, Any]:
        return {"init": kind, "communicator": f"{line.host}:{line.pid}:{values['comm']}"}

    return fact


_NCCL: dict[str, Callable[[NcclLine, Values], dict[str, Any]]] = {
    "version": lambda line, values: {"nccl_version": values["version"]},
    "bootstrap": lambda line, values: {"address": values["address"], "socket_interface": values["interface"]},
    "no-device": lambda line, values: {"devices": ()},
    "devices": _devices,
    "socket-devices": lambda line, values: {"socket_interface": values["interface"]},
    "network": _network,
    "path": _path,
    "gid-index": lambda line, values: {"gid_index": int(values["gid_index"])},
    "queue-pair-failed": lambda line, values: {"gid_index": int(values["gid_index"])} if "gid_index" in values else {},
    "init-start": _init("start"),
    "init-complete": _init("complete"),
    "gone": _init("gone"),
    "channels": lambda line, values: {"channels": int(values["channels"])},
    "ring-order": lambda line, values: {"channels": int(values["channels"])},
    "connected": lambda line, values: {"connected": True},
    "registration-failed": lambda line, values: {"registration": "failed"},
    "peer-closed": lambda line, values: {"lost_peer": values.get("address", "")},
}


def _vllm(text: str) -> dict[str, Any]:
    line = parse_vllm(text)
    if line is None or not line.says:
        return {}
    says, values = line.says, line.values
    if says in _VLLM:
        return _VLLM[says](values)
    phase = {"phase": says} if says in _PHASES else {}
    return {**phase, "engine_version": values["version"]} if "version" in values else phase


def _stats(values: Values) -> dict[str, Any]:
    moved = _float(values.get("prompt")) > 0 or _float(values.get("generation")) > 0
    return {"running": int(values["running"]), "waiting": int(values["waiting"]), "alive": moved}


def _float(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _died(values: Values) -> dict[str, Any]:
    """The rank in the name of the worker, where its tensor-parallel group is the only one."""
    name = values["name"]
    found = _WORKER.search(name)
    if found is None or _OTHER_GROUP.search(name):
        return {"lost_peer": name}
    return {"dead_rank": int(found[1])}


_VLLM: dict[str, Callable[[Values], dict[str, Any]]] = {
    "stats": _stats,
    "silent": lambda values: {"silent": True},
    "died": _died,
    "peer-closed": lambda values: {"lost_peer": values["address"].strip("[]")},
    "stopping": lambda values: {"stopping": True},
    "headless": lambda values: {"phase": "engine", "engine_version": values["version"]},
    "world": lambda values: {
        "phase": "distributed", "rank": int(values["rank"]), "world_size": int(values["size"]),
    },
    "collectives": lambda values: {"phase": "distributed"},
    "compiled": lambda values: {"phase": "compile"},
    "serving": lambda values: {"phase": "serving", "served": True},
}  # fmt: skip


def _sglang(text: str) -> dict[str, Any]:
    line = parse_sglang(text)
    if line is None or not line.says:
        return {}
    if line.says in ("decode", "prefill"):
        waiting = {"waiting": int(line.values["waiting"])} if "waiting" in line.values else {}
        return {"running": int(line.values["running"]), "alive": line.says == "decode", **waiting}
    if line.says == "serving":
        return {"phase": "serving", "served": True}
    return {"phase": line.says} if line.says in _PHASES else {}


def _torch(text: str) -> dict[str, Any]:
    """The store of the process group is rank 0's: where it is lost, rank 0 is gone."""
    line = parse_torchlog(text)
    if line is None:
        return {}
    if line.says == "store-lost" and line.rank != _STORE_RANK:
        return {"dead_rank": _STORE_RANK} if line.rank is not None else {}
    if line.says == "peer-closed":
        return {"lost_peer": line.values.get("address", "").strip("[]")}
    return {}


def _launcher(text: str) -> dict[str, Any]:
    line = parse_launcher_log(text)
    return {"phase": line.says} if line is not None and line.says in _PHASES else {}
