"""The containers of a node, as its docker or podman tells, read rarely and at once when something happened to one.

Secrets stay on the node: of a container's environment only the names below leave it, and none whose name or value
looks like a secret; commands and labels, which hold secrets too, are not asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import ParseError, TimedOut
from dsv41_tui.core.events import Event, ReadingTaken
from dsv41_tui.core.messages import t
from dsv41_tui.core.readings import ClockOffset
from dsv41_tui.parsers.docker_containers import parse_docker_containers
from dsv41_tui.parsers.probe import TIMED_OUT
from dsv41_tui.runtime.runner import Runner

PERIOD_S = 30.0
HEARD_PERIOD_S = 60.0
"""While docker's own events tell of each change; each reading costs the node some 0.1 s of CPU."""
LIMIT_S = 10
LEAST_S = 0.3
"""Between two readings, however much happens to the containers."""
AFTER_S = 1.0
"""A second look after an event: docker tells that a container died a moment before it knows all of it."""

_FIELDS = {
    "name": ".Name",
    "image": ".Config.Image",
    "digest": ".Image",
    "state": ".State.Status",
    "exit": ".State.ExitCode",
    "oom": ".State.OOMKilled",
    "error": ".State.Error",
    "pid": ".State.Pid",
    "started": ".State.StartedAt",
    "finished": ".State.FinishedAt",
    "restarts": ".RestartCount",
    "limits": ".HostConfig.Ulimits",
    "shm": ".HostConfig.ShmSize",
    "memory": ".HostConfig.Memory",
    "network": ".HostConfig.NetworkMode",
    "devices": ".HostConfig.Devices",
    "privileged": ".HostConfig.Privileged",
    "driver": ".HostConfig.LogConfig.Type",
}
_TEMPLATE = (
    'id "{{.Id}}"{{println}}'
    + "".join(f"{name} {{{{json {path}}}}}{{{{println}}}}" for name, path in _FIELDS.items())
    + "{{range .Config.Env}}E {{json .}}{{println}}{{end}}"
)
_ENV = (
    "(NCCL|TORCH_NCCL|GLOO|UCX|VLLM|SGLANG|SGL|TP_SOCKET|OMPI_MCA|RAY|PYTORCH)_[A-Z0-9_]*|CUDA_VISIBLE_DEVICES|"
    "CUDA_DEVICE_MAX_CONNECTIONS|CUDA_LAUNCH_BLOCKING|PYTHONUNBUFFERED|OMP_NUM_THREADS|MASTER_ADDR|MASTER_PORT|"
    "NODE_RANK|RANK|WORLD_SIZE|HF_HUB_OFFLINE"
)
_SECRETS = '^E "[^=]*(KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH)[^=]*=|^E .*@'
CONTAINERS_COMMAND = (
    "e=docker; command -v docker >/dev/null 2>&1 || { command -v podman >/dev/null 2>&1 && e=podman; }; "
    'v=$($e --version 2>/dev/null) || { $e --version 2>&1; exit 1; }; echo "V $v"; '
    "p=$($e ps -a --format '{{.ID}}|{{.Status}}|{{.Command}}' 2>/dev/null) || "
    '{ $e ps -a 2>&1 >/dev/null | sed "s/^/! /"; exit 1; }; '
    '[ -z "$p" ] && exit 0; printf "%s\\n" "$p" | sed "s/^/P /"; '
    f"$e container inspect --format '{_TEMPLATE}' $(printf '%s\\n' \"$p\" | cut -d'|' -f1) 2>&1 "
    f"| grep -E '^[^E]|^E[^ ]|^E \"({_ENV})=' | grep -Eiv '{_SECRETS}'"
)
"""What `parsers.docker_containers` reads; `! ` heads what the client said when it refused."""


class ContainerWatch:
    """Reads the containers each 30 or 60 s, and soon after `poke`."""

    def __init__(self, config: NodeConfig, dispatch: Callable[[Event], None]) -> None:
        self._config = config
        self._dispatch = dispatch
        self._wake = asyncio.Event()
        self._read_anew = asyncio.Event()
        self._again = False
        self._period_s = PERIOD_S

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """While docker's events are followed, changes are poked and the rest is read more rarely."""
        self._period_s = HEARD_PERIOD_S
        try:
            yield
        finally:
            self._period_s = PERIOD_S

    def poke(self) -> None:
        """Something happened to a container: read now, and once more a moment later."""
        self._again = True
        self._wake.set()

    async def next(self) -> None:
        """Return after the next reading."""
        await self._read_anew.wait()

    async def loop(self, runner: Runner) -> None:
        """Read until the runner ends (LinkError)."""
        self._wake.set()
        while True:
            wait = AFTER_S if self._again else self._period_s
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            if not self._wake.is_set():
                self._again = False
            self._wake.clear()
            await self._read(runner)
            await asyncio.sleep(LEAST_S)

    async def _read(self, runner: Runner) -> None:
        value: object = None
        error: str | None = None
        try:
            result = await runner.run(CONTAINERS_COMMAND, LIMIT_S)
            if result.code in TIMED_OUT:
                error = t("link.no-answer", limit=LIMIT_S)
            else:
                value = parse_docker_containers(result.text)
        except (ParseError, TimedOut) as failed:
            error = failed.message
        self._dispatch(
            ReadingTaken(
                at=time.monotonic(),
                node=self._config.name,
                name="containers",
                period_s=self._period_s,
                value=value,
                error=error,
            )
        )
        self._read_anew.set()
        self._read_anew.clear()


CLOCK_PERIOD_S = 300.0
CLOCK_TRIES = 3


async def watch_clock(config: NodeConfig, runner: Runner, out: Callable[[Event], None]) -> None:
    """The node's wall clock against ours, each five minutes: of three readings the one with the shortest round trip."""
    while True:
        error: str | None = None
        best: ClockOffset | None = None
        try:
            for _ in range(CLOCK_TRIES):
                found = await _clock_once(runner)
                if best is None or found.uncertainty_s < best.uncertainty_s:
                    best = found
        except (ParseError, TimedOut) as failed:
            error = failed.message
        out(
            ReadingTaken(
                at=time.monotonic(),
                node=config.name,
                name="clock",
                period_s=CLOCK_PERIOD_S,
                value=best,
                error=error if best is None else None,
            )
        )
        await asyncio.sleep(CLOCK_PERIOD_S)


async def _clock_once(runner: Runner) -> ClockOffset:
    before = time.time()
    result = await runner.run("date +%s.%N", 5)
    after = time.time()
    whole, _, fraction = result.text.strip().partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) < 13):
        raise ParseError(t("streams.no-clock"))
    exact = fraction.isascii() and fraction.isdigit()  # busybox leaves %N out
    theirs = float(f"{whole}.{fraction[:9]}") if exact else float(whole) + 0.5
    return ClockOffset(
        offset_s=theirs - (before + after) / 2, uncertainty_s=(after - before) / 2 + (0.0 if exact else 0.5)
    )
