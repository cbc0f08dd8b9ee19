"""What docker (or podman) says of a node's containers, and what the kernel says of their processes."""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.value import Value

UNLIMITED = -1
"""A limit that is not set, as docker writes it."""


class Container(Value):
    """One container as `docker container inspect` shows it; its environment by an allow-list, never a secret."""

    id: str
    name: str
    image: str | None = None
    """The name that it was started by."""
    command: str | None = None
    """Its beginning, as `docker ps` cuts it; enough to tell an engine by."""
    image_digest: str | None = None
    """`sha256:...` of the image itself: the same bytes on both nodes or not."""
    state: str | None = None
    """created, running, paused, restarting, removing, exited, dead."""
    health: str | None = None
    exit_code: int | None = None
    """Meaningful once it ended; 137 is SIGKILL, whoever sent it."""
    oom_killed: bool | None = None
    """A kill by the OOM killer inside its cgroup: of its own limit, and with cgroup v2 also of the whole node."""
    error: str | None = None
    """Why a start failed, in docker's words."""
    pid: int | None = None
    """Process id on the node while it runs."""
    started_at: float | None = None
    """Unix seconds; None when it never was."""
    finished_at: float | None = None
    restart_count: int | None = None
    """Restarts by policy, not by hand."""
    memlock_bytes: int | None = None
    """Asked of docker; `UNLIMITED` where it is. The limit of the running process is `ProcessLimits`."""
    shm_bytes: int | None = None
    memory_limit_bytes: int | None = None
    """Of the cgroup; 0 where there is none."""
    network: str | None = None
    devices: tuple[str, ...] = ()
    """Host paths, such as /dev/infiniband."""
    privileged: bool | None = None
    log_driver: str | None = None
    env: dict[str, str] = {}
    """What the allow-list lets through: NCCL_*, GLOO_*, VLLM_HOST_IP and their like."""


class ContainerEngine(Value):
    """What docker (or podman) answered on one node."""

    engine: Literal["docker", "podman"] = "docker"
    version: str | None = None
    containers: tuple[Container, ...] = ()


class ProcessLimits(Value):
    """Limits of a running process, of `/proc/PID/limits`, and its state, of `/proc/PID/stat`."""

    pid: int
    container: str
    memlock_bytes: int | None = None
    """Soft limit; `UNLIMITED` where it is."""
    state: str | None = None
    """R, S, D, T (stopped), Z."""
    state_since: float | None = None
    """Since when the panel has seen this state, on its monotonic clock; the reducer keeps it."""
