"""What the stand-in for `docker` knows of a node: volumes and containers as `docker inspect` would print them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from dsv41_tui.sandbox.infiniband import gb10_hcas
from dsv41_tui.sandbox.mounts import EXPORT, VOLUME, VOLUME_OPTIONS, VOLUME_POINT
from dsv41_tui.sandbox.scenario import Scenario

_IMAGE = "dsv41-exl3:sandbox"
_ENGRAM = "dsv41-exl3-engram"
PID = 481_120
"""First process of a rank's container while it runs."""


def docker_state(scenario: Scenario, node: int, home: str, started_at: datetime) -> dict[str, Any]:
    """`volumes` and `containers`, each a list of inspect objects; `home` is the login user's folder on the node."""
    return {
        "volumes": [] if node == 1 else _volumes(home, started_at),
        "containers": [_container(scenario, node, started_at)],
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


def _container(scenario: Scenario, node: int, now: datetime) -> dict[str, Any]:
    """The rank's container: up since a day before the sandbox, or ended a minute before it."""
    running = scenario.containers == "running"
    name = "dsv41-exl3-head" if node == 1 else "dsv41-exl3-worker"
    started = now - timedelta(days=1)
    ended = "0001-01-01T00:00:00Z" if running else _stamp(now - timedelta(minutes=1))
    return {
        "Id": hashlib.sha256(f"{name} {node} {scenario.seed}".encode()).hexdigest(),
        "Created": _stamp(started),
        "Path": "/bin/bash",
        "Args": ["/start.sh"],
        "Name": f"/{name}",
        "RestartCount": 0,
        "Config": {"Image": _IMAGE, "Cmd": ["/bin/bash", "/start.sh"], "Labels": {}, "Env": _environment(node)},
        "Image": "sha256:" + hashlib.sha256(_IMAGE.encode()).hexdigest(),
        "HostConfig": {
            "NetworkMode": "host",
            "IpcMode": "host",
            "RestartPolicy": {"Name": "no"},
            "Ulimits": [{"Name": "memlock", "Soft": -1, "Hard": -1}],
            "ShmSize": 64 << 20,
            "Memory": 0,
            "Devices": [{"PathOnHost": "/dev/infiniband", "PathInContainer": "/dev/infiniband"}],
            "Privileged": False,
            "LogConfig": {"Type": "json-file", "Config": {}},
        },
        "State": {
            "Status": "running" if running else "exited",
            "Running": running,
            "Paused": False,
            "Restarting": False,
            "OOMKilled": False,
            "Dead": False,
            "Pid": PID if running else 0,
            "ExitCode": 0 if running else 1,
            "Error": "",
            "StartedAt": _stamp(started),
            "FinishedAt": ended,
        },
    }


def _environment(node: int) -> list[str]:
    """What the launcher gives the rank of the fabric."""
    ports = [hca for hca in gb10_hcas(node) if hca.active]
    return [
        "NCCL_NET=IB",
        "NCCL_IB_DISABLE=0",
        f"NCCL_IB_HCA={','.join(hca.device for hca in ports)}",
        f"NCCL_IB_GID_INDEX={ports[0].index + 1}",
        f"NCCL_SOCKET_IFNAME={ports[0].netdev}",
        f"GLOO_SOCKET_IFNAME={ports[0].netdev}",
        f"VLLM_HOST_IP={ports[0].address}",
    ]


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
