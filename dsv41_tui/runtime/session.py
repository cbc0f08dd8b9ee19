"""One node, held for the whole run: connect, watch, reconnect for ever.

Law 1: one connection and one login at a time. Law 2: a refusal is retried slowly, so that no login storm locks an
account; everything else with jittered back-off. Law 3: what goes wrong is an event, never an exception to the panel.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, Refused, Unreachable
from dsv41_tui.core.events import ChannelsChanged, Event, LinkChanged, ReadingTaken
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import LinkPhase, NodeState
from dsv41_tui.core.text import clean_line
from dsv41_tui.runtime.budget import Budget
from dsv41_tui.runtime.collector import Collector
from dsv41_tui.runtime.containers import ContainerWatch, watch_clock
from dsv41_tui.runtime.cost import Cost
from dsv41_tui.runtime.logs.node import Channels, NodeLogs
from dsv41_tui.runtime.runner import Runner
from dsv41_tui.runtime.sampler import Sampler
from dsv41_tui.runtime.sources import GPU_PERIOD_S, job_sources
from dsv41_tui.runtime.watchers import RETRY_S, Probes, watch_gpu, watch_job
from dsv41_tui.transport.channel import ChannelsExhausted, Node
from dsv41_tui.transport.nodes import open_node
from dsv41_tui.transport.scripts import LEASE_S

BACKOFF_FIRST_S = 1.0
BACKOFF_LAST_S = 30.0
REFUSED_PAUSE_S = 60.0
REFUSED_LEAST_S = 5.0
LEAST_S = 1.0
"""Between two attempts also when the operator asks for one now: held down, a key must make no login storm."""
STEADY_S = 30.0
"""A connection that held so long starts the back-off anew."""

FIRST_RETRY_S = 1.0
RUNNER_LEASE_S = LEASE_S * 0.6
"""Not at the same moment as the collector's renewal: on MaxSessions 2 each needs the place that it just gave up."""
LOGS_FIRST_S = 8.0
"""So long the GPU's stream leaves the logs the first choice of a channel."""
PROBES_AND_JOBS = "NFS probes, docker, logind, GPU"
"""What hangs on the second channel."""

log = logging.getLogger(__name__)


class NodeSession:
    """Runs one node; `run` ends only when it is cancelled."""

    def __init__(
        self,
        config: NodeConfig,
        state: Callable[[], NodeState],
        dispatch: Callable[[Event], None],
        opener: Callable[[NodeConfig], Awaitable[Node]] = open_node,
        logs: NodeLogs | None = None,
    ) -> None:
        self._config = config
        self._state = state
        self._dispatch = dispatch
        self._opener = opener
        self._logs = logs
        self._sampler: Sampler | None = None
        self._retry = asyncio.Event()
        self._wake_jobs = asyncio.Event()
        self._containers = ContainerWatch(config, dispatch)
        self._unwatched: dict[str, str] = {}

    def refresh(self) -> None:
        """Read everything now; when waiting to reconnect, try now."""
        self._retry.set()
        if self._sampler is not None:
            self._sampler.refresh()
        self._wake_jobs.set()
        self._wake_jobs.clear()
        self._containers.poke()

    async def run(self) -> None:
        failures = 0
        while True:
            began = time.monotonic()
            self._link("connecting")
            error = await self._hold()
            failures = 1 if time.monotonic() - began > STEADY_S else failures + 1
            await self._pause(error, failures)

    async def _hold(self) -> LinkError:
        """Connect and watch until something essential fails; returns what did."""
        try:
            node = await self._opener(self._config)
        except LinkError as error:
            return error
        except Exception as error:
            return _internal(error)
        try:
            await self._serve(node)
            return Unreachable(t("link.closed"))
        except LinkError as error:
            return error
        except Exception as error:
            return _internal(error)
        finally:
            with contextlib.suppress(LinkError, OSError):
                await node.close()

    def _link(self, phase: LinkPhase, error: LinkError | None = None, retry_at: float | None = None) -> None:
        self._dispatch(
            LinkChanged(
                at=time.monotonic(),
                node=self._config.name,
                phase=phase,
                kind=error.kind if error else None,
                why=error.message if error else None,
                reason=error.reason if error else "",
                fix=error.fix if error else (),
                retry_at=retry_at,
            )
        )

    async def _pause(self, error: LinkError, failures: int) -> None:
        """Wait before the next attempt: full jitter below a doubling bound; a minute and more after a refusal."""
        bound = min(BACKOFF_LAST_S, BACKOFF_FIRST_S * 2 ** (failures - 1))
        wait = bound * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, keeps no secret
        if isinstance(error, Refused):
            wait += REFUSED_PAUSE_S
        self._link("waiting", error, time.monotonic() + wait)
        least = REFUSED_LEAST_S if isinstance(error, Refused) else LEAST_S
        self._retry.clear()
        await asyncio.sleep(min(least, wait))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, wait - least)):
                await self._retry.wait()

    async def _serve(self, connection: Node) -> None:
        """Watch a connected node until something essential fails; raises the LinkError that says what."""
        node = Budget(connection)
        self._unwatched = {}
        collector = await Collector.start(node)
        cost = Cost(self._config, self._dispatch)
        cost.watch(collector.pids)
        self._sampler = Sampler(self._config, node, collector, cost, self._dispatch, state=self._state)
        self._link("up")
        self._tell_channels(node)
        try:
            await _first_failure(
                node.wait_closed(),
                self._sampler.loop(),
                self._keep_watching(node, self._sampler, cost),
                self._follow_logs(node, cost),
            )
        finally:
            sampler, self._sampler = self._sampler, None
            await sampler.close()

    async def _follow_logs(self, node: Budget, cost: Cost) -> None:
        """The logs of the node, where they are wanted; never ends by itself."""

        def watched(what: str, pids: tuple[int, ...]) -> None:
            cost.watch(pids)
            self._unwatched.pop(what, None)
            self._tell_channels(node)

        if self._logs is None:
            await asyncio.Event().wait()
            return
        channels = Channels(node, watched, lambda what, error: self._unwatch(node, what, error))
        await self._logs.run(channels, self._containers)

    async def _keep_watching(self, node: Budget, sampler: Sampler, cost: Cost) -> None:
        """The runner and what hangs on it, begun anew before its lease ends or when it failed."""
        pause = FIRST_RETRY_S
        while True:
            began = time.monotonic()
            try:
                async with asyncio.timeout(RUNNER_LEASE_S) as lease:
                    await self._watch(node, sampler, cost)
            except TimeoutError:
                if not lease.expired():
                    raise
                continue
            except LinkError as error:  # of this channel; that of the connection ends `_serve` by itself
                self._unwatch(node, PROBES_AND_JOBS, error)
            pause = FIRST_RETRY_S if time.monotonic() - began > STEADY_S else min(RETRY_S, pause * 2)
            await asyncio.sleep(pause)

    async def _watch(self, node: Budget, sampler: Sampler, cost: Cost) -> None:
        runner = await Runner.start(node)
        cost.watch(runner.pids)
        self._unwatched.pop(PROBES_AND_JOBS, None)
        self._tell_channels(node)
        jobs = [
            watch_job(self._config, source, runner, self._wake_jobs, self._dispatch)
            for source in job_sources(self._config)
        ]
        if self._config.role != "nas":
            jobs += [self._containers.loop(runner), watch_clock(self._config, runner, self._dispatch)]
        probes = Probes(self._config, self._state, runner, sampler, self._dispatch)
        try:
            await _first_failure(runner.wait_ended(), probes.loop(), self._keep_gpu(node, runner, cost), *jobs)
        finally:
            await runner.close()

    async def _keep_gpu(self, node: Budget, runner: Runner, cost: Cost) -> None:
        if self._config.role == "nas":
            await asyncio.Event().wait()
        if self._logs is not None:  # a log tells more of a service than the GPU's load does
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOGS_FIRST_S):
                    await self._logs.tried.wait()
        while True:
            try:
                await watch_gpu(
                    self._config,
                    node,
                    runner,
                    lambda channel: self._gpu_watched(node, cost, channel.pids),
                    self._dispatch,
                )
                await asyncio.sleep(LEASE_S)
            except LinkError as error:
                self._unwatch(node, "GPU", error)
                full = isinstance(error, ChannelsExhausted)
                self._dispatch(
                    ReadingTaken(
                        at=time.monotonic(),
                        node=self._config.name,
                        name="gpu",
                        period_s=GPU_PERIOD_S,
                        error=t("link.no-channel-left") if full else error.message,
                    )
                )
                await asyncio.sleep(RETRY_S * 2)

    def _gpu_watched(self, node: Budget, cost: Cost, pids: tuple[int, ...]) -> None:
        cost.watch(pids)
        self._unwatched.pop("GPU", None)
        self._tell_channels(node)

    def _unwatch(self, node: Budget, what: str, error: LinkError) -> None:
        self._unwatched[what] = error.message
        self._tell_channels(node)

    def _tell_channels(self, node: Budget) -> None:
        self._dispatch(
            ChannelsChanged(
                at=time.monotonic(),
                node=self._config.name,
                channels=node.open_channels,
                limit=node.limit,
                unwatched=tuple(f"{what}: {why}" for what, why in self._unwatched.items()),
            )
        )


def _internal(error: BaseException) -> Refused:
    """A fault of ours ends no session for good: it is said, noted, and tried again slowly."""
    log.error("a session failed", exc_info=error)
    return Refused(t("link.internal", why=clean_line(f"{type(error).__name__}: {error}")))


async def _first_failure(*works: Coroutine[Any, Any, None]) -> None:
    """Run works side by side until the first ends or fails; cancel the others; raise its LinkError."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        error = task.exception()
        if error is not None and not isinstance(error, LinkError):
            raise _internal(error) from error
        if error is not None:
            raise error
