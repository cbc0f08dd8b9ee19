"""Containers of docker 20.10 and later, or of podman 4, from the answer of `runtime.containers.CONTAINERS_COMMAND`.

Grammar: lines `WORD TEXT`. `V` is `docker --version`; `P` is `ID|STATUS|COMMAND` of `docker ps -a`; then, for each
container, fields of `docker container inspect` as JSON, one a line, beginning with `id`; and `E`, one environment
entry, of those that the node let through. Lines of another form are messages of the client. podman names limits
`RLIMIT_MEMLOCK` and stamps times with an offset; "never" is the year 1 in both.
"""

from __future__ import annotations

import json
import re
from typing import Any

from dsv41_tui.core.containers import Container, ContainerEngine
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers._docker import refusal
from dsv41_tui.parsers._fields import one_line, wrong
from dsv41_tui.parsers.stamp import parse_stamp

_SOURCE = "docker container inspect"
_FIELD = re.compile(
    r"(id|name|image|digest|state|exit|oom|error|pid|started|finished|restarts|limits|shm|memory|network|devices"
    r"|privileged|driver|E) (.*)"
)
_ALLOWED = re.compile(
    r"(?:NCCL_|TORCH_NCCL_|GLOO_|UCX_|VLLM_|SGLANG_|SGL_|TP_SOCKET_|OMPI_MCA_|RAY_|PYTORCH_)[A-Z0-9_]*"
    r"|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_MAX_CONNECTIONS|CUDA_LAUNCH_BLOCKING|PYTHONUNBUFFERED|OMP_NUM_THREADS"
    r"|MASTER_ADDR|MASTER_PORT|NODE_RANK|RANK|WORLD_SIZE|HF_HUB_OFFLINE"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_HEALTH = re.compile(r"\((?:health: )?(healthy|unhealthy|starting)\)")
_CONTAINERS = 500
_ENTRIES = 200
_TEXT = 1000
_DEVICES = 64

_Fields = dict[str, Any]


def parse_docker_containers(text: str) -> ContainerEngine:
    """All containers, ended ones too, in docker's order (newest first).

    A field that is absent or was cut on its way is None. Raises ParseError with docker's reason where it refused or
    is not there, and for an answer of another shape.
    """
    version, said = "", []
    listed: dict[str, tuple[str, str]] = {}
    found: list[_Fields] = []
    for line in text.split("\n"):
        if line.startswith("V "):
            version = line[2:]
        elif line.startswith("P ") and line.count("|") >= 2:
            short, status, command = line[2:].split("|", 2)
            listed[short[:12]] = status, command
        elif (field := _FIELD.fullmatch(line)) is not None:
            _take(found, field[1], field[2])
        elif line.strip():
            said.append(line)
    refused = any(line.startswith("! ") for line in said)
    if not version or refused or (listed and not found):
        words = "\n".join(line.removeprefix("! ") for line in said)
        raise refusal(words) or wrong(_SOURCE, words or text, "docker's answer")
    containers = (_container(fields, *listed.get(str(fields["id"])[:12], ("", ""))) for fields in found[:_CONTAINERS])
    return ContainerEngine(
        engine="podman" if "podman" in version.lower() else "docker",
        version=next(iter(re.findall(r"\d[\w.+-]{0,40}", version)), None),
        containers=tuple(item for item in containers if item is not None),
    )


def _take(found: list[_Fields], name: str, text: str) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # cut at the longest line that travels
        value = None
    if name == "id":
        found.append({"id": value, "env": []})
    elif found and name == "E":
        if isinstance(value, str) and len(found[-1]["env"]) < _ENTRIES:
            found[-1]["env"].append(value)
    elif found:
        found[-1][name] = value


def _container(fields: _Fields, status: str, command: str) -> Container | None:
    identity, name = _text(fields, "id"), _text(fields, "name")
    if not identity or not name:
        return None
    state, health = _text(fields, "state"), _HEALTH.search(status)
    return Container(
        id=identity,
        name=name.lstrip("/"),
        image=_text(fields, "image"),
        command=clean_line(command.strip('"'), 60) or None,
        image_digest=_text(fields, "digest"),
        state=state,
        health=health[1] if health else None,
        exit_code=_integer(fields, "exit"),
        oom_killed=_truth(fields, "oom"),
        error=_text(fields, "error"),
        pid=_integer(fields, "pid") or None,
        started_at=_time(fields, "started"),
        finished_at=_time(fields, "finished"),
        restart_count=_integer(fields, "restarts"),
        memlock_bytes=_memlock(fields.get("limits")),
        shm_bytes=_integer(fields, "shm"),
        memory_limit_bytes=_integer(fields, "memory"),
        network=_text(fields, "network"),
        devices=_devices(fields.get("devices")),
        privileged=_truth(fields, "privileged"),
        log_driver=_text(fields, "driver"),
        env=_environment(fields["env"]),
    )


def _text(fields: _Fields, name: str) -> str | None:
    value = fields.get(name)
    return one_line(value)[:_TEXT] or None if isinstance(value, str) else None


def _integer(fields: _Fields, name: str) -> int | None:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


def _truth(fields: _Fields, name: str) -> bool | None:
    value = fields.get(name)
    return value if isinstance(value, bool) else None


def _time(fields: _Fields, name: str) -> float | None:
    value = fields.get(name)
    return parse_stamp(value) if isinstance(value, str) else None


def _memlock(limits: object) -> int | None:
    """Soft limit in bytes, as it was asked of docker; -1 is no limit."""
    for limit in limits if isinstance(limits, list) else ():
        if isinstance(limit, dict) and str(limit.get("Name")).lower().removeprefix("rlimit_") == "memlock":
            soft = _integer(limit, "Soft")
            return -1 if soft is not None and soft >= (1 << 63) - 1 else soft
    return None


def _devices(devices: object) -> tuple[str, ...]:
    paths = [item.get("PathOnHost") for item in devices if isinstance(item, dict)] if isinstance(devices, list) else []
    return tuple(one_line(path)[:_TEXT] for path in paths[:_DEVICES] if isinstance(path, str))


def _environment(entries: list[str]) -> dict[str, str]:
    """The node has filtered already; it is done again here, so that no error there lets a secret in."""
    pairs = (entry.partition("=") for entry in entries)
    return {
        name: one_line(value)[:_TEXT]
        for name, _, value in pairs
        if _ALLOWED.fullmatch(name) and not _SECRET.search(name) and "@" not in value
    }
