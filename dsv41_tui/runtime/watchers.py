"""What is watched beside the collector: probes of mounts, rare commands, the GPU's stream."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, ParseError, TimedOut
from dsv41_tui.core.events import Event, ProbeEnded, ProbeStarted, ReadingTaken
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NfsMount, NodeState, ProbeOutcome
from dsv41_tui.core.reduce_nfs import PROOF_S
from dsv41_tui.parsers.gpu import parse_gpu
from dsv41_tui.parsers.probe import TIMED_OUT, parse_probe
from dsv41_tui.runtime.runner import LOST_S, Job, Runner
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
from dsv41_tui.transport.scripts import LEASE_S, quote, start_command

PROBE_GRACE_S = 1.5
"""After this much above its limit a probe counts as timed out though its process still stands in D state."""
BUSY_PROBE_PERIOD_S = 10.0
"""A mount that delivers is probed less often: its reads prove more than a probe."""
BLOCKED_PROBE_PERIOD_S = 60.0
AT_ONCE = 4
"""Young probes at one time on a node, however many mounts it has."""
QUICK_S = 0.3
"""A healthy server has answered by then."""
SLEPT_S = 1.0
"""So late a timer fires only where this machine slept or stood still."""
RETRY_S = 30.0

Dispatch = Callable[[Event], None]


class Probes:
    """At most one probe outstanding per superblock; the next one only after the last has ended on the node.

    Several mounts of one superblock (bind mounts, docker volumes) share their connections and so their verdict.
    """

    def __init__(
        self, config: NodeConfig, state: Callable[[], NodeState], runner: Runner, sampler: Sampler, dispatch: Dispatch
    ) -> None:
        self._config = config
        self._state = state
        self._runner = runner
        self._sampler = sampler
        self._dispatch = dispatch
        self._outstanding: dict[str, asyncio.Task[None]] = {}
        self._fresh: set[str] = set()
        """Mounts whose probe is young; those that hang for long do not count against `AT_ONCE`."""

    async def loop(self) -> None:
        """Send probes as they fall due, the longest waiting first."""
        try:
            while True:
                due = [mount for mount in _one_a_superblock(self._state().nfs) if self._due(mount)]
                due.sort(key=lambda mount: mount.probe.started_at if mount.probe else 0.0)
                for mount in due[: max(0, AT_ONCE - len(self._fresh))]:
                    self._outstanding[mount.mount_point] = asyncio.create_task(self._probe(mount.mount_point))
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
        if mount.last_probe is not None and mount.last_probe.outcome in ("blocked", "unusable"):
            period = BLOCKED_PROBE_PERIOD_S
        else:
            period = BUSY_PROBE_PERIOD_S if mount.state == "fine" else PROBE_PERIOD_S
        return time.monotonic() - mount.probe.started_at >= period - 0.05

    async def _probe(self, place: str) -> None:
        try:
            command = probe_command(self._config.root, place)
        except ValueError:
            return  # a line break in a mount point: not probed, its state stays unknown
        job = self._runner.begin("P", command, PROBE_LIMIT_S)
        self._fresh.add(place)
        try:
            async with asyncio.timeout(PROBE_LIMIT_S + PROBE_GRACE_S):
                await job.begun.wait()
            started = time.monotonic()
            self._dispatch(ProbeStarted(at=started, node=self._config.name, mount_point=place))
            await asyncio.wait([job.done], timeout=QUICK_S)
            if not job.done.done():  # only now is a baseline of receives wanted, which costs a tick
                await self._sampler.fresh_mountstats(PROBE_LIMIT_S)
            await self._await(job, place, started)
        except (LinkError, TimeoutError):
            pass  # the runner ended or did not take the job: nothing is proved
        finally:
            self._fresh.discard(place)
            self._runner.forget(job)

    async def _await(self, job: Job, place: str, started: float) -> None:
        """Wait for the end; after the limit say that it hangs, then go on waiting while its process stands."""
        planned = started + PROBE_LIMIT_S + PROBE_GRACE_S
        await asyncio.wait([job.done], timeout=max(0.0, planned - time.monotonic()))
        await asyncio.sleep(0)
        if time.monotonic() - planned > SLEPT_S:
            return  # this machine slept: what came meanwhile was not read in time
        if not job.done.done():
            await self._ended(place, started, "timeout", "still waits in the kernel")
            self._fresh.discard(place)
            while not job.done.done() and await self._still_hangs():
                await asyncio.wait([job.done], timeout=LOST_S)
            return
        result = job.done.result()
        outcome = parse_probe(result.code, result.text)
        if outcome == "denied" and not await self._can_enter(place):
            outcome = "blocked"
        await self._ended(place, started, outcome, result.text)

    async def _still_hangs(self) -> bool:
        """Whether a `stat` of anybody stands in D state; if none does, the end of ours was lost."""
        result = await self._runner.run("cat /proc/[0-9]*/stat 2>/dev/null | grep -c '(stat) D'", PROBE_LIMIT_S)
        return result.text.strip() not in ("", "0")

    async def _can_enter(self, place: str) -> bool:
        """Whether our login can reach the folder at all: docker's own are closed to ordinary users."""
        parent = quote((self._config.root + place).rpartition("/")[0] or "/")
        return (await self._runner.run(f"[ -x {parent} ]", PROBE_LIMIT_S)).code == 0

    async def _ended(self, place: str, started: float, outcome: ProbeOutcome, text: str) -> None:
        took = time.monotonic() - started
        if outcome in ("timeout", "error"):
            await asyncio.sleep(max(0.0, PROOF_S - took))
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


def _one_a_superblock(mounts: tuple[NfsMount, ...]) -> list[NfsMount]:
    """Of the mounts of one device, the first that our login can probe."""
    chosen: dict[str, NfsMount] = {}
    for mount in mounts:
        key = mount.device or mount.mount_point
        known = chosen.get(key)
        if mount.mounted and (known is None or (known.last_probe and known.last_probe.outcome == "blocked")):
            chosen[key] = mount
    return list(chosen.values())


async def watch_job(config: NodeConfig, source: JobSource, runner: Runner, wake: asyncio.Event, out: Dispatch) -> None:
    """One rare reading, each `period_s` or when `wake` is set. Ends with the runner."""
    while True:
        value: object = None
        error: str | None = None
        try:
            result = await runner.run(job_command(source, config.root), source.limit_s)
            if result.code in TIMED_OUT:
                error = t("link.no-answer", limit=source.limit_s)
            elif result.code != 0 and not result.text.strip():
                error = t("link.failed", code=result.code)
            else:
                value = source.parse(result.text)
        except (ParseError, TimedOut) as failed:
            error = failed.message
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
