"""What the followers of one node's logs share: the readers by source, the followed containers, what is unread."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.events import Event, LogsUnreadable
from dsv41_tui.core.facts import Fact
from dsv41_tui.core.log import LogKind, LogSource
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.runtime.logs.choose import Chosen, Target, choose
from dsv41_tui.runtime.logs.container_log import ContainerLog
from dsv41_tui.runtime.logs.failures import FailureWatch
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.reader import LogReader

Batches = Callable[[], Awaitable[list[str] | None]]
TURN_LINES = 256
"""Lines that are understood before the others on the loop get their turn: some 3 ms."""
LIVE_S = 3.0
"""A line that is no older is of now."""
LAST_START_S = 86400.0
"""Of a start that failed longer ago than this, the launcher's log is history."""
RECENT_S = 120.0
"""Kernel lines older than this, before the panel and without a service, tell of no failure of now."""


class Shelf:
    """Outlives the connections: a log that is opened again goes on where it was left."""

    def __init__(
        self,
        config: NodeConfig,
        recipes: Sequence[Recipe],
        hub: LogHub,
        state: Callable[[], NodeState],
        dispatch: Callable[[Event], None],
        facts: Callable[[], Mapping[str, Fact]] = dict,
    ) -> None:
        self.config = config
        self.hub = hub
        self.failures = FailureWatch(config.name, state, dispatch, facts)
        self.readers: dict[str, LogReader] = {}
        self.line_at = 0.0
        """Monotonic second of the last batch of a container's or the kernel's log."""
        self._recipes = tuple(recipes)
        self._state = state
        self._dispatch = dispatch
        self._logs: dict[str, ContainerLog] = {}
        """By container id."""
        self._unread: dict[str, str] = {}
        self._unfollowed: frozenset[str] = frozenset()

    def engine(self) -> ContainerEngine | None:
        """The newest reading of docker."""
        return self._state().containers.value

    def choose(self, engine: ContainerEngine) -> Chosen:
        return choose(self.config, self._recipes, engine.containers)

    def follower(self, target: Target, tail: int) -> ContainerLog:
        """The log of this container as it was left; of another one with that name, a new one."""
        known = self._logs.get(target.container.id)
        if known is None:
            reader = self.reader(target.source.name, target.source.kind, target.source)
            known = ContainerLog(target, reader, tail)
            self._logs = {key: item for key, item in self._logs.items() if item.target.source.id != target.source.id}
            self._logs[target.container.id] = known
        self.unreadable(target.source.id, None)
        return known

    def reader(self, name: str, kind: LogKind, source: LogSource | None = None) -> LogReader:
        """The reader of a source of this node, made at the first call."""
        source = source or LogSource(id=f"{self.config.name}/{name}", node=self.config.name, kind=kind, name=name)
        reader = self.readers.get(source.id)
        if reader is None or reader.source != source:
            reader = self.readers[source.id] = LogReader(source, self.hub, self.failures, self._dispatch)
        return reader

    def unreadable(self, source: str, why: str | None) -> None:
        """Say it once, and once that it is over."""
        if self._unread.get(source) == why:
            return
        if why is None:
            del self._unread[source]
        else:
            self._unread[source] = why
        self._dispatch(LogsUnreadable(at=time.monotonic(), node=self.config.name, source=source, why=why))

    def say_unfollowed(self, chosen: Chosen) -> None:
        """Further ranks of this node are watched by docker alone."""
        now = frozenset(source.id for source in chosen.unfollowed)
        for source in self._unfollowed - now:
            self.unreadable(source, None)
        for source in now:
            assert chosen.rank is not None
            self.unreadable(source, t("streams.one-rank", name=chosen.rank.source.name))
        self._unfollowed = now

    def came(self, newest: float | None) -> None:
        """Lines came, the newest of them with this stamp; those of the past are waited for, a flood of now is not."""
        if newest is None or newest < self.now() - LIVE_S:
            self.line_at = time.monotonic()

    def now(self) -> float:
        """Unix seconds on the node's clock."""
        clock = self._state().clock.value
        return time.time() + (clock.offset_s if clock else 0.0)

    def start_failed(self, written_at: float) -> bool:
        """Whether a launcher's log that was last written then tells of a start that left no container that runs."""
        engine = self.engine()
        if engine is None or not 0 <= self.now() - written_at < LAST_START_S:
            return False
        rank = self.choose(engine).rank
        if rank is None:
            return True
        return rank.container.state != "running" and (rank.container.started_at or 0.0) < written_at

    async def pump(
        self, follower: ContainerLog, batches: Batches, wait: Callable[[], Awaitable[int | None]]
    ) -> int | None:
        """Read a log to its end; its exit code."""
        while (lines := await batches()) is not None:
            for start in range(0, len(lines), TURN_LINES):
                follower.take(lines[start : start + TURN_LINES])
                self.came(follower.newest)
                await self.hub.settle()
        return await wait()

    def service_started(self) -> float | None:
        """Kernel lines from before the rank's container count for no failure of this service."""
        engine = self.engine()
        chosen = self.choose(engine) if engine is not None else None
        started = chosen.rank.container.started_at if chosen is not None and chosen.rank is not None else None
        return started if started is not None else self.now() - RECENT_S
