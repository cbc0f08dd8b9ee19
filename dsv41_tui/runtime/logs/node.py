"""The logs of one node: the rank's log on a channel of its own, all others on a second one.

Law 1: no fault of a log ends a session. Law 2: what is not followed is said, with the reason. Law 3: a channel is
asked for only while the collector and the runner hold theirs, since on few sessions they come first.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.errors import LinkError, Refused
from dsv41_tui.core.events import Event, LogsUnreadable
from dsv41_tui.core.log import LogKind, LogSource
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers.logline import parse_logline
from dsv41_tui.runtime.budget import Budget
from dsv41_tui.runtime.containers import ContainerWatch
from dsv41_tui.runtime.logs import commands
from dsv41_tui.runtime.logs.choose import Chosen, Target, choose
from dsv41_tui.runtime.logs.container_log import ContainerLog
from dsv41_tui.runtime.logs.failures import FailureWatch
from dsv41_tui.runtime.logs.feeds import Feeds
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.position import Position, Tail
from dsv41_tui.runtime.logs.reader import LogReader
from dsv41_tui.transport.channel import Channel
from dsv41_tui.transport.scripts import LEASE_S, start_command

RANK_LOG = "rank log"
FEEDS = "docker events, kernel log, launcher log, proxy log"
"""What hangs on each of the two channels, as `Link.unwatched` names it."""
RENEW_S = LEASE_S * 0.8
ESSENTIAL = 2
PAUSE_S = 1.0
SETTLED_S = 0.5
NO_CHANNEL_S = 60.0
UNREADABLE_S = 120.0
LAUNCHER_S = 30.0

log = logging.getLogger(__name__)
Batches = Callable[[], Awaitable[list[str] | None]]


class Channels:
    """What the session does for the logs: open channels are counted, and what has none is said."""

    def __init__(
        self,
        node: Budget,
        watched: Callable[[str, tuple[int, ...]], None],
        unwatched: Callable[[str, LinkError], None],
    ) -> None:
        self.node = node
        self.watched = watched
        self.unwatched = unwatched

    async def essential(self) -> None:
        """Return while collector and runner hold their channels."""
        while self.node.open_channels < ESSENTIAL:  # noqa: ASYNC110 - it changes a few times an hour
            await asyncio.sleep(PAUSE_S / 2)


class NodeLogs:
    """Follows the logs of one node over all its connections; what was read is known also after a lost link."""

    def __init__(
        self,
        config: NodeConfig,
        recipes: Sequence[Recipe],
        folders: Sequence[str],
        hub: LogHub,
        state: Callable[[], NodeState],
        dispatch: Callable[[Event], None],
    ) -> None:
        self.failures = FailureWatch(config.name, state, dispatch)
        self._config = config
        self._recipes = tuple(recipes)
        self._folders = tuple(folders)
        """Recipe folders on the head."""
        self._hub = hub
        self._state = state
        self._dispatch = dispatch
        self._readers: dict[str, LogReader] = {}
        self._logs: dict[str, ContainerLog] = {}
        """By container id."""
        self._kernel = Position()
        self._files: dict[str, Tail] = {}
        self._unread: dict[str, str] = {}
        self.tried = asyncio.Event()
        """Set when the logs have got their channels, or have none to get: others come after."""
        self._rank_tried = asyncio.Event()
        self._line_at = 0.0

    @property
    def node(self) -> str:
        """Name of the node."""
        return self._config.name

    def settled(self) -> bool:
        """Whether the log of the rank is open, or cannot be, and brought nothing for a moment."""
        return self._rank_tried.is_set() and time.monotonic() - self._line_at > SETTLED_S

    async def run(self, channels: Channels, containers: ContainerWatch) -> None:
        """Follow until cancelled."""
        self.tried.clear()
        self._rank_tried.clear()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._guarded(RANK_LOG, channels, lambda: self._rank_once(channels, containers)))
                group.create_task(self._guarded(FEEDS, channels, lambda: self._feeds_once(channels, containers)))
                group.create_task(self._tick())
        finally:
            self.tried.set()

    async def _guarded(self, what: str, channels: Channels, once: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run one of the two channels for ever; a fault of ours is noted, and tried again slowly."""
        while True:
            pause = PAUSE_S
            try:
                await once()
            except LinkError as error:
                channels.unwatched(what, error)
                pause = NO_CHANNEL_S if isinstance(error, Refused) else PAUSE_S * 5
            except Exception as error:
                log.exception("a log follower failed")
                why = clean_line(f"{type(error).__name__}: {error}")
                channels.unwatched(what, Refused(t("link.internal", why=why)))
                pause = NO_CHANNEL_S
            self._rank_tried.set()
            if what == FEEDS:
                self.tried.set()
            await asyncio.sleep(pause)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self.failures.settle()
            for reader in self._readers.values():
                reader.tick()

    # the rank's log

    async def _rank_once(self, channels: Channels, containers: ContainerWatch) -> None:
        """Attach once, read until the log ends or the lease is near, then wait until there is more to read."""
        engine, chosen = await self._chosen(containers)
        if chosen.rank is None:
            self._rank_tried.set()
            await containers.next()
            return
        target = chosen.rank
        self._say_guess(target)
        follower = self._follower(target, commands.RANK_TAIL)
        await channels.essential()
        nonce = secrets.token_hex(6)
        command = follower.open(target, engine)
        channel = await Channel.start(channels.node, start_command(), "stream", nonce, A=command)
        try:
            channels.watched(RANK_LOG, channel.pids)
            self._line_at = time.monotonic()
            self._rank_tried.set()
            async with asyncio.timeout(RENEW_S):
                code = await self._pump(follower, channel.batch, channel.wait)
        except TimeoutError:
            return
        finally:
            await channel.close()
        await self._after(follower, code, containers)

    async def _pump(
        self, follower: ContainerLog, batches: Batches, wait: Callable[[], Awaitable[int | None]]
    ) -> int | None:
        while (lines := await batches()) is not None:
            if lines:
                follower.take(lines)
                self._line_at = time.monotonic()
                await self._hub.settle()
        return await wait()

    async def _after(self, follower: ContainerLog, code: int | None, containers: ContainerWatch) -> None:
        """The log ended: the container did, or it cannot be read. Wait until it is another or runs anew."""
        source = follower.target.source
        if code:
            self._unreadable(source.id, follower.said or t("link.failed", code=code))
        before = follower.target.container
        containers.poke()
        deadline = time.monotonic() + UNREADABLE_S
        while time.monotonic() < deadline:
            await containers.next()
            engine = self._state().containers.value
            now = next((item for item in engine.containers if item.id == before.id), None) if engine else None
            again = now is not None and now.state == "running"
            if now is None or (again and not code) or now.started_at != before.started_at:
                return

    def _say_guess(self, target: Target) -> None:
        """Say that the recipe's container is not there and which one is followed in its place."""
        key = f"{self._config.name}/recipe"
        self._unreadable(key, t("streams.guessed", name=target.source.name) if target.guessed else None)

    # all others

    async def _feeds_once(self, channels: Channels, containers: ContainerWatch) -> None:
        await self._rank_tried.wait()
        await channels.essential()
        feeds = await Feeds.start(channels.node)
        try:
            channels.watched(FEEDS, feeds.pids)
            self.tried.set()
            async with asyncio.timeout(RENEW_S):
                await self._all_feeds(feeds, containers)
        except TimeoutError:
            return
        finally:
            await feeds.close()

    async def _all_feeds(self, feeds: Feeds, containers: ContainerWatch) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(feeds.wait_ended())
                group.create_task(self._events(feeds, containers))
                group.create_task(self._kernel_log(feeds))
                group.create_task(self._others(feeds, containers))
                if self._config.role == "head":
                    for folder in self._folders:
                        group.create_task(self._launcher(feeds, folder))
        except* LinkError as errors:
            raise _first(errors) from None

    async def _events(self, feeds: Feeds, containers: ContainerWatch) -> None:
        """What happens to containers: each is a line, and a reason to read them at once."""
        reader = self._reader("events", "events")
        reader.open()
        while True:
            engine = self._state().containers.value
            if engine is None:
                await containers.next()
                continue
            feed = feeds.follow(commands.events(engine.engine))
            containers.poke()  # what happened while nobody listened
            while (lines := await feed.batch()) is not None:
                known = [line for line in lines if parse_logline(line, "events").at is not None]
                if known:
                    containers.poke()
                    reader.take(known)
                    await self._hub.settle()
            await asyncio.sleep(PAUSE_S * 5)

    async def _kernel_log(self, feeds: Feeds) -> None:
        reader = self._reader("kernel", "kernel")
        reader.open()
        while True:
            feed = feeds.follow(commands.kernel_log(self._config.root, self._kernel.resume()))
            while (lines := await feed.batch()) is not None:
                self._unreadable(reader.source.id, None)
                times = [parse_logline(line, "kernel").at for line in lines]
                fresh = self._kernel.fresh(times, lines)
                reader.started_at = self._service_started()
                reader.take([lines[place] for place in fresh], [times[place] for place in fresh])
                await self._hub.settle()
            if feed.code:
                denied = feed.code == commands.UNREADABLE
                why = t("streams.kernel-closed") if denied else t("link.failed", code=feed.code)
                self._unreadable(reader.source.id, why)
            await asyncio.sleep(UNREADABLE_S)

    def _service_started(self) -> float | None:
        """Kernel lines from before the rank's container count for no failure of this service."""
        engine = self._state().containers.value
        chosen = choose(self._config, self._recipes, engine.containers) if engine is not None else None
        started = chosen.rank.container.started_at if chosen is not None and chosen.rank is not None else None
        clock = self._state().clock.value
        return started if started is not None else time.time() + (clock.offset_s if clock else 0.0) - UNREADABLE_S

    async def _others(self, feeds: Feeds, containers: ContainerWatch) -> None:
        """Proxies and helpers: one task a container, begun as they appear."""
        followed: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                engine, chosen = await self._chosen(containers)
                for target in chosen.others:
                    task = followed.get(target.container.id)
                    if task is None or (task.done() and target.container.state == "running"):
                        one = self._other(feeds, target, engine)
                        followed[target.container.id] = group.create_task(one)
                await containers.next()

    async def _other(self, feeds: Feeds, target: Target, engine: ContainerEngine) -> None:
        follower = self._follower(target, commands.OTHER_TAIL)
        feed = feeds.follow("exec " + follower.open(target, engine))

        async def code() -> int | None:
            return feed.code

        ended = await self._pump(follower, feed.batch, code)
        if ended:
            self._unreadable(target.source.id, follower.said or t("link.failed", code=ended))
        await asyncio.sleep(PAUSE_S * 5)

    async def _launcher(self, feeds: Feeds, folder: str) -> None:
        """The newest log file of the launcher; another one that appears is followed in its turn."""
        followed: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                look = feeds.follow(commands.launcher_files(folder))
                while (lines := await look.batch()) is not None:
                    for path in lines:
                        if path.startswith("/") and path not in followed:
                            followed[path] = group.create_task(self._launcher_file(feeds, path))
                await asyncio.sleep(LAUNCHER_S)

    async def _launcher_file(self, feeds: Feeds, path: str) -> None:
        reader = self._reader(path.rpartition("/")[2], "launcher")
        reader.open()
        tail = self._files.setdefault(path, Tail())
        known = tail.resume()
        feed = feeds.follow(commands.launcher_log(path))
        while (lines := await feed.batch()) is not None:
            reader.take(tail.fresh(lines), scan=known)
            known = True  # what stood there before tells of an earlier start, or of nothing that is new
            await self._hub.settle()

    # shared

    async def _chosen(self, containers: ContainerWatch) -> tuple[ContainerEngine, Chosen]:
        """The newest reading, waited for if there is none yet."""
        while (engine := self._state().containers.value) is None:
            if self._state().containers.error is not None:
                self._rank_tried.set()
            await containers.next()
        return engine, choose(self._config, self._recipes, engine.containers)

    def _follower(self, target: Target, tail: int) -> ContainerLog:
        known = self._logs.get(target.container.id)
        if known is None:
            reader = self._reader(target.source.name, target.source.kind, target.source)
            known = ContainerLog(target, reader, tail)
            self._logs = {key: item for key, item in self._logs.items() if item.target.source.id != target.source.id}
            self._logs[target.container.id] = known
        self._unreadable(target.source.id, None)
        return known

    def _reader(self, name: str, kind: LogKind, source: LogSource | None = None) -> LogReader:
        source = source or LogSource(id=f"{self._config.name}/{name}", node=self._config.name, kind=kind, name=name)
        reader = self._readers.get(source.id)
        if reader is None or reader.source != source:
            reader = self._readers[source.id] = LogReader(source, self._hub, self.failures, self._dispatch)
        return reader

    def _unreadable(self, source: str, why: str | None) -> None:
        """Say it once, and once that it is over."""
        if self._unread.get(source) == why:
            return
        if why is None:
            del self._unread[source]
        else:
            self._unread[source] = why
        self._dispatch(LogsUnreadable(at=time.monotonic(), node=self._config.name, source=source, why=why))


def _first(errors: BaseExceptionGroup[LinkError]) -> LinkError:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
