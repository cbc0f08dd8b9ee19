"""What the stand-in for `docker` knows of a node: volumes and containers as `docker inspect` would print them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from dsv41_tui.sandbox.infiniband import gb10_hcas
from dsv41_tui.sandbox.mounts import EXPORT, VOLUME, VOLUME_OPTIONS, VOLUME_POINT
from dsv41_tui.sandbox.scenario import Scenario
from dsv41_tui.sandbox.simulate import scene_of
from dsv41_tui.sandbox.story import ContainerScene, ContainerTurn

_IMAGE = "dsv41-exl3:sandbox"
_ENGRAM = "dsv41-exl3-engram"
_NEVER = "0001-01-01T00:00:00Z"
PID = 481_120
"""First process of a rank's container after its first start."""


def container_id(scenario: Scenario, node: int) -> str:
    """Of the rank's container on that node."""
    return hashlib.sha256(f"{container_name(node)} {node} {scenario.seed}".encode()).hexdigest()


def container_name(node: int) -> str:
    return "dsv41-exl3-head" if node == 1 else "dsv41-exl3-worker"


def pid(scene: ContainerScene, t: float) -> int:
    """First process of the rank's container, another one after each start; 0 while it does not run."""
    starts = sum(turn.what == "starts" for turn in scene.past(t))
    return PID + 7 * (starts - 1) if scene.running(t) else 0


def docker_state(scenario: Scenario, node: int, home: str, began: datetime, t: float) -> dict[str, Any]:
    """`volumes`, `containers` and `events` `t` seconds after the sandbox began, as docker would print each of them.

    `home` is the login user's folder on the node.
    """
    scene = scene_of(scenario, node).container
    return {
        "volumes": [] if node == 1 else _volumes(home, began),
        "containers": [_container(scenario, node, scene, began, t)],
        "events": [event for turn in scene.past(t) for event in _events(scenario, node, turn, began)],
    }


def _volumes(home: str, now: datetime) -> list[dict[str, Any]]:
    created = (now - timedelta(days=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
    local = {"device": f"{home}/engram-src", "o": "bind", "type": "none"}
    nas = {"device": f":{EXPORT}", "o": VOLUME_OPTIONS, "type": "nfs"}
    return [
        {
            "CreatedAt": created,
            "Driver": "local",
            "Labels": None,
            "Mountpoint": VOLUME_POINT.replace(VOLUME, name),
            "Name": name,
            "Options": options,
            "Scope": "local",
        }
        for name, options in ((_ENGRAM, local), (VOLUME, nas))
    ]


def _container(scenario: Scenario, node: int, scene: ContainerScene, began: datetime, t: float) -> dict[str, Any]:
    created = began + timedelta(seconds=scene.turn[0].at_s - 0.4)
    return {
        "Id": container_id(scenario, node),
        "Created": _stamp(created),
        "Path": "/bin/bash",
        "Args": ["/start.sh"],
        "Name": f"/{container_name(node)}",
        "RestartCount": 0,
        "Config": {
            "Image": _IMAGE,
            "Cmd": ["/bin/bash", "/start.sh"],
            "Labels": {},
            "Env": _environment(node, scene),
        },
        "Image": "sha256:" + hashlib.sha256(_IMAGE.encode()).hexdigest(),
        "HostConfig": {
            "NetworkMode": "host",
            "IpcMode": "host",
            "RestartPolicy": {"Name": "no"},
            "Ulimits": [{"Name": "memlock", "Soft": scene.memlock_bytes, "Hard": scene.memlock_bytes}],
            "ShmSize": 64 << 20,
            "Memory": 0,
            "Devices": [{"PathOnHost": path, "PathInContainer": path} for path in scene.devices],
            "Privileged": False,
            "LogConfig": {"Type": "json-file", "Config": {}},
        },
        "State": _state(scene, began, t),
    }


def _state(scene: ContainerScene, began: datetime, t: float) -> dict[str, Any]:
    past = scene.past(t)
    running = scene.running(t)
    started = next((turn for turn in reversed(past) if turn.what == "starts"), None)
    ended = next((turn for turn in reversed(past) if turn.what == "dies"), None)
    return {
        "Status": "running" if running else "exited" if past else "created",
        "Running": running,
        "Paused": False,
        "Restarting": False,
        "OOMKilled": bool(ended and ended.oom_killed and not running),
        "Dead": False,
        "Pid": pid(scene, t),
        "ExitCode": ended.exit_code if ended and not running else 0,
        "Error": "",
        "StartedAt": _stamp(began + timedelta(seconds=started.at_s)) if started else _NEVER,
        "FinishedAt": _stamp(began + timedelta(seconds=ended.at_s)) if ended else _NEVER,
    }


def _events(scenario: Scenario, node: int, turn: ContainerTurn, began: datetime) -> list[dict[str, Any]]:
    """What `docker events` tells of one turn."""
    actions: list[tuple[str, dict[str, str]]] = [("start", {})]
    if turn.what == "dies":
        actions = [("oom", {})] if turn.oom_killed else []
        actions.append(("die", {"execDuration": "1500", "exitCode": str(turn.exit_code)}))
    moment = began + timedelta(seconds=turn.at_s)
    identity = container_id(scenario, node)
    return [
        {
            "status": action,
            "id": identity,
            "from": _IMAGE,
            "Type": "container",
            "Action": action,
            "Actor": {"ID": identity, "Attributes": {**extra, "image": _IMAGE, "name": container_name(node)}},
            "scope": "local",
            "time": int(moment.timestamp()),
            "timeNano": int(moment.timestamp() * 1_000_000) * 1000,
        }
        for action, extra in actions
    ]


def _environment(node: int, scene: ContainerScene) -> list[str]:
    """What the launcher gives the rank of the fabric, changed as the scenario says."""
    ports = [hca for hca in gb10_hcas(node) if hca.active]
    given = {
        "NCCL_NET": "IB",
        "NCCL_IB_DISABLE": "0",
        "NCCL_IB_HCA": ",".join(hca.device for hca in ports),
        "NCCL_IB_GID_INDEX": str(ports[0].index + 1),
        "NCCL_SOCKET_IFNAME": ports[0].netdev,
        "GLOO_SOCKET_IFNAME": ports[0].netdev,
        "VLLM_HOST_IP": str(ports[0].address),
    } | scene.env
    return [f"{name}={value}" for name, value in given.items() if name not in scene.unset]


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
