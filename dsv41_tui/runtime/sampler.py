"""The collector's loop: which files are due at this tick, and what their frame says, as events."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from typing import Any

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, ParseError, TimedOut
from dsv41_tui.core.events import Event, ReadingTaken
from dsv41_tui.core.model import NodeState
from dsv41_tui.parsers.frame import Frame
from dsv41_tui.parsers.uptime import parse_uptime
from dsv41_tui.runtime.collector import Collector
from dsv41_tui.runtime.cost import Cost
from dsv41_tui.runtime.sources import UPTIME, FileSource, file_sources, parse_source, process_source
from dsv41_tui.transport.channel import ChannelsExhausted, Node
from dsv41_tui.transport.scripts import LEASE_S

TICK_S = 1.0
EARLY_S = 0.3
"""A source that is due within this much of a tick is read now rather than a whole tick late."""
COST_PERIOD_S = 10.0
COST_FIRST_S = 4.0
"""So long after the start the cost is read at every tick, so that one look has a figure."""
TORN_PAUSE_S = 30.0
"""Longest pause before a new collector after torn frames; the pause doubles with each."""
RENEW_TRIES = 20


@lru_cache
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for the paths that the shell makes of these patterns."""
    return re.compile("|".join(translate(pattern) for pattern in patterns))


class Sampler:
    """Feeds one node's collector. `loop` runs until the channel fails for good."""

    def __init__(
        self,
        config: NodeConfig,
        node: Node,
        collector: Collector,
        cost: Cost,
        dispatch: Callable[[Event], None],
        clock: Callable[[], float] = time.monotonic,
        state: Callable[[], NodeState] | None = None,
    ) -> None:
        self._config = config
        self._node = node
        self._collector = collector
        self._cost = cost
        self._dispatch = dispatch
        self._clock = clock
        self._sources = file_sources(config)
        self._state = state
        self._due: dict[str, float] = {source.name: 0.0 for source in self._sources}
        self._slow: dict[str, dict[str, str]] = {}
        self._slow_due: dict[str, float] = {}
        self._cost_due = 0.0
        self._began = clock()
        self._torn = 0
        self._mounts: set[str] = set()
        self._renew_at = clock() + LEASE_S * 0.8
        self._wake = asyncio.Event()
        self._waiters: list[asyncio.Future[None]] = []

    async def loop(self) -> None:
        """Tick once a second, or at once when woken. LinkError ends it."""
        while True:
            await self._tick()
            now = self._clock()
            if now > self._renew_at:
                await self._renew()
            self._wake.clear()
            if self._waiters:
                continue
            wait = TICK_S - now % TICK_S
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def refresh(self) -> None:
        """Make every source due now."""
        self._due = dict.fromkeys(self._due, 0.0)
        self._slow_due.clear()
        self._wake.set()

    async def fresh_mountstats(self, limit_s: float) -> None:
        """Return after mountstats has been read anew, or after `limit_s`."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._due["mountstats"] = 0.0
        self._wake.set()
        try:
            async with asyncio.timeout(limit_s):
                await waiter
        except TimeoutError:
            pass
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    async def _tick(self) -> None:
        now = self._clock()
        due = [source for source in self._all_sources() if self._due.get(source.name, 0.0) <= now + EARLY_S]
        for source in due:
            self._due[source.name] = now + source.period_s
        slow = [source for source in due if source.slow and self._slow_due.get(source.name, 0.0) <= now + EARLY_S]
        for source in slow:
            self._slow_due[source.name] = now + source.slow_period_s
        waiters, self._waiters = self._waiters, []
        try:
            frame = await self._collector.tick(self._paths(due, slow, now))
        except (ParseError, TimedOut) as error:
            for source in due:
                self._failed(source, error.message)
            self._slow_due.clear()
            self._torn += 1
            await asyncio.sleep(min(TORN_PAUSE_S, 2.0**self._torn - 1))
            await self._renew()
            return
        self._torn = 0
        self._take(frame, due, slow)
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _all_sources(self) -> list[FileSource]:
        """Those of the role, and what the containers of this moment ask for."""
        process = process_source(self._state()) if self._state is not None else None
        return [*self._sources, process] if process is not None else list(self._sources)

    def _paths(self, due: list[FileSource], slow: list[FileSource], now: float) -> list[str]:
        root = self._config.root
        paths = [root + UPTIME] + [root + path for source in due for path in source.paths]
        paths += [root + path for source in slow for path in source.slow]
        if self._cost_due <= now:
            self._cost_due = now + (0.0 if now - self._began < COST_FIRST_S else COST_PERIOD_S)
            paths += self._cost.paths()
        return paths

    def _take(self, frame: Frame, due: list[FileSource], slow: list[FileSource]) -> None:
        """Turn one frame into events; one source that cannot be understood spoils no other."""
        at, root = self._clock(), self._config.root
        self._cost.take(frame.files, at, self._node.wire_bytes())
        files = {path.removeprefix(root): text for path, text in frame.files.items()}
        errors = {path.removeprefix(root): reason for path, reason in frame.errors.items()}
        for source in slow:
            fits = _matcher(source.slow)
            self._slow[source.name] = {path: text for path, text in files.items() if fits.match(path)}
        try:
            uptime = parse_uptime(files.get(UPTIME, ""))
        except ParseError:
            uptime = None
        for source in due:
            try:
                value = parse_source(source, {**self._slow.get(source.name, {}), **files}, errors)
            except ParseError as error:
                self._failed(source, error.message)
                continue
            if source.name == "mountstats":
                self._look_for_changed_mounts(value)
            self._dispatch(
                ReadingTaken.model_construct(
                    at=at,
                    node=self._config.name,
                    name=source.name,
                    period_s=source.period_s,
                    uptime_s=uptime,
                    value=value,
                    error=None,
                )
            )

    def _look_for_changed_mounts(self, blocks: Any) -> None:
        """A mount that came or went: mountinfo, which is read rarely, is due at the next tick."""
        mounts = {block.mount_point for block in blocks}
        if mounts != self._mounts:
            self._mounts = mounts
            self._due["mountinfo"] = 0.0

    def _failed(self, source: FileSource, why: str) -> None:
        self._dispatch(
            ReadingTaken(
                at=self._clock(), node=self._config.name, name=source.name, period_s=source.period_s, error=why
            )
        )

    async def _renew(self) -> None:
        """A new collector before the lease of the old one ends, or after a frame that cannot be trusted."""
        await self._collector.close()
        for attempt in range(RENEW_TRIES):
            try:
                self._collector = await Collector.start(self._node)
                break
            except ChannelsExhausted:  # sshd has not let go of the old session yet
                if attempt == RENEW_TRIES - 1:
                    raise
                await asyncio.sleep(1.0)
        self._cost.watch(self._collector.pids)
        self._renew_at = self._clock() + LEASE_S * 0.8

    async def close(self) -> None:
        try:
            await self._collector.close()
        except LinkError:
            pass
