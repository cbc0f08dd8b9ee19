"""What is watched beside the collector: probes of mounts, rare commands, the GPU's stream."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, ParseError
from dsv41_tui.core.events import Event, ProbeEnded, ProbeStarted, ReadingTaken
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NfsMount, NodeState
from dsv41_tui.parsers.gpu import parse_gpu
from dsv41_tui.parsers.probe import Outcome, parse_probe
from dsv41_tui.runtime.runner import JobResult, Runner
from dsv41_tui.runtime.sampler import Sampler
from dsv41_tui.runtime.sources import (
    GPU_COMMAND,
    GPU_PERIOD_S,
    PROBE_LIMIT_S,
    PROBE_PERIOD_S,
    JobSource,
    job_command,
    probe_command,
)
from dsv41_tui.transport.channel import Channel, Node
from dsv41_tui.transport.scripts import LEASE_S, start_command

PROBE_GRACE_S = 1.5
"""After this much above its limit a probe counts as timed out though its process still stands in D state."""
BUSY_PROBE_PERIOD_S = 10.0
"""A mount that delivers is probed less often: its reads prove more than a probe."""
RETRY_S = 30.0

Dispatch = Callable[[Event], None]


class Probes:
    """At most one probe outstanding per mount; the next one only after the last has ended on the node."""

    def __init__(
        self, config: NodeConfig, state: Callable[[], NodeState], runner: Runner, sampler: Sampler, dispatch: Dispatch
    ) -> None:
        self._config = config
        self._state = state
        self._runner = runner
        self._sampler = sampler
        self._dispatch = dispatch
        self._outstanding: dict[str, asyncio.Task[None]] = {}

    async def loop(self) -> None:
        try:
            while True:
                for mount in self._state().nfs:
                    if mount.mounted and self._due(mount):
                        task = asyncio.create_task(self._probe(mount.mount_point))
                        self._outstanding[mount.mount_point] = task
                await asyncio.sleep(PROBE_PERIOD_S / 4)
        finally:
            for task in self._outstanding.values():
                task.cancel()

    def _due(self, mount: NfsMount) -> bool:
        task = self._outstanding.get(mount.mount_point)
        if task is not None and not task.done():
            return False
        if mount.probe is None:
            return True
        period = BUSY_PROBE_PERIOD_S if mount.state == "fine" else PROBE_PERIOD_S
        return time.monotonic() - mount.probe.started_at >= period - 0.05

    async def _probe(self, place: str) -> None:
        started = time.monotonic()
        try:
            command = probe_command(self._config.root, place)
        except ValueError:
            return  # a line break in a mount point: not probed, its state stays unknown
        self._dispatch(ProbeStarted(at=started, node=self._config.name, mount_point=place))
        job = asyncio.ensure_future(self._runner.probe(command, PROBE_LIMIT_S))
        try:
            await self._sampler.fresh_mountstats(PROBE_LIMIT_S)
            done, _ = await asyncio.wait([job], timeout=PROBE_LIMIT_S + PROBE_GRACE_S)
            if not done:
                await self._ended(place, started, "timeout", "still waits in the kernel")
            with contextlib.suppress(LinkError):
                result: JobResult = await job
                if done:
                    await self._ended(place, started, parse_probe(result.code, result.text), result.text)
        finally:
            job.cancel()

    async def _ended(self, place: str, started: float, outcome: Outcome, text: str) -> None:
        took = time.monotonic() - started
        if outcome != "ok":
            await self._sampler.fresh_mountstats(PROBE_LIMIT_S)
        self._dispatch(
            ProbeEnded(
                at=time.monotonic(),
                node=self._config.name,
                mount_point=place,
                outcome=outcome,
                took_s=took,
                text=text or None,
            )
        )


async def watch_job(config: NodeConfig, source: JobSource, runner: Runner, wake: asyncio.Event, out: Dispatch) -> None:
    """One rare reading, each `period_s` or when `wake` is set. Ends with the runner."""
    while True:
        value: object = None
        error: str | None = None
        try:
            async with asyncio.timeout(source.limit_s + 5):
                result = await runner.run(job_command(source, config.root), source.limit_s)
            value = source.parse(result.text)
        except ParseError as failed:
            error = failed.message
        except TimeoutError:
            error = t("link.no-answer", limit=source.limit_s)
        out(
            ReadingTaken(
                at=time.monotonic(),
                node=config.name,
                name=source.name,
                period_s=source.period_s,
                value=value,
                error=error,
            )
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(source.period_s):
                await wake.wait()


async def watch_gpu(
    config: NodeConfig, node: Node, runner: Runner, watch: Callable[[Channel], None], out: Dispatch
) -> None:
    """The long-lived `nvidia-smi -l`, where there is one. LinkError when no channel is left for it."""

    def taken(value: object, error: str | None) -> None:
        out(
            ReadingTaken(
                at=time.monotonic(), node=config.name, name="gpu", period_s=GPU_PERIOD_S, value=value, error=error
            )
        )

    if (await runner.run("command -v nvidia-smi", 5)).code != 0:
        taken(None, t("link.not-found", command="nvidia-smi"))
        return
    while True:
        nonce = secrets.token_hex(6)
        channel = await Channel.start(node, start_command(), "stream", nonce, A=GPU_COMMAND)
        watch(channel)
        renew_at = time.monotonic() + LEASE_S * 0.8
        try:
            while time.monotonic() < renew_at:
                line = await channel.line()
                if line is None:
                    taken(None, t("link.ended", command="nvidia-smi"))
                    break
                if line.strip():
                    try:
                        taken(parse_gpu(line), None)
                    except ParseError as error:
                        taken(None, error.message)
            else:
                continue
        finally:
            await channel.close()
        await asyncio.sleep(RETRY_S)
