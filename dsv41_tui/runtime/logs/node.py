"""The logs of one node: the rank's log on a channel of its own, all others on a second one.

Law 1: no fault of a log ends a session. Law 2: what is not followed is said, with the reason. Law 3: a channel is
asked for only while the collector and the runner hold theirs, since on few sessions they come first.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.errors import LinkError, Refused
from dsv41_tui.core.events import Event
from dsv41_tui.core.facts import Fact
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.core.text import clean_line
from dsv41_tui.runtime.budget import Budget
from dsv41_tui.runtime.containers import ContainerWatch
from dsv41_tui.runtime.logs import commands
from dsv41_tui.runtime.logs.choose import Chosen, Target
from dsv41_tui.runtime.logs.container_log import ContainerLog
from dsv41_tui.runtime.logs.feed_logs import FeedLogs
from dsv41_tui.runtime.logs.feeds import Feeds
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.shelf import Shelf
from dsv41_tui.transport.channel import Channel
from dsv41_tui.transport.scripts import LEASE_S, start_command

RANK_LOG = "rank log"
FEEDS = "docker events, kernel log, launcher log, proxy log"
"""What hangs on each of the two channels, as `Link.unwatched` names it."""
RENEW_S = LEASE_S * 0.8
ESSENTIAL = 2
PAUSE_S = 1.0
SETTLED_S = 1.0
"""A failure waits for what comes after its line, and is decided within this."""
NO_CHANNEL_S = 60.0
UNREADABLE_S = 120.0
TURN_S = 0.25
"""Between looks for failures that waited long enough for what comes after them."""
READERS_TURNS = 4

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
        facts: Callable[[], Mapping[str, Fact]] = dict,
    ) -> None:
        self._shelf = Shelf(config, recipes, hub, state, dispatch, facts)
        self._feeds = FeedLogs(self._shelf, folders if config.role == "head" else ())
        self.failures = self._shelf.failures
        self._state = state
        self.tried = asyncio.Event()
        """Set when the logs have got their channels, or have none to get: others come after."""
        self._rank_tried = asyncio.Event()

    @property
    def node(self) -> str:
        """Name of the node."""
        return self._shelf.config.name

    def settled(self) -> bool:
        """Whether all logs of the past were read: each is open, or cannot be, and brought nothing old for a moment."""
        return (
            self._rank_tried.is_set() and not self._feeds.waiting and time.monotonic() - self._shelf.line_at > SETTLED_S
        )

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
            _heed_cancel()
            self._rank_tried.set()
            if what == FEEDS:
                self.tried.set()
                self._feeds.waiting.clear()
            await asyncio.sleep(pause)

    async def _tick(self) -> None:
        for turn in itertools.count(1):
            await asyncio.sleep(TURN_S)
            self.failures.settle()
            if turn % READERS_TURNS == 0:
                for reader in self._shelf.readers.values():
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
        follower = self._shelf.follower(target, commands.RANK_TAIL)
        await channels.essential()
        nonce = secrets.token_hex(6)
        command = follower.open(target, engine)
        channel = await Channel.start(channels.node, start_command(), "stream", nonce, A=command)
        try:
            channels.watched(RANK_LOG, channel.pids)
            self._shelf.line_at = time.monotonic()
            self._rank_tried.set()
            async with asyncio.timeout(RENEW_S):
                code = await self._shelf.pump(follower, channel.batch, channel.wait)
        except TimeoutError:
            return
        finally:
            await channel.close()
        await self._after(follower, code, containers)

    async def _after(self, follower: ContainerLog, code: int | None, containers: ContainerWatch) -> None:
        """The log ended: the container did, or it cannot be read. Wait until it is another or runs anew."""
        source = follower.target.source
        if code:
            self._shelf.unreadable(source.id, follower.said or t("link.failed", code=code))
        before = follower.target.container
        containers.poke()
        deadline = time.monotonic() + UNREADABLE_S
        while time.monotonic() < deadline:
            await containers.next()
            engine = self._shelf.engine()
            chosen = self._shelf.choose(engine).rank if engine is not None else None
            if chosen is None or chosen.container.id != before.id:
                return
            again = chosen.container.state == "running" and not code
            if again or chosen.container.started_at != before.started_at:
                return

    def _say_guess(self, target: Target) -> None:
        """Say that the recipe's container is not there and which one is followed in its place."""
        key = f"{self._shelf.config.name}/recipe"
        self._shelf.unreadable(key, t("streams.guessed", name=target.source.name) if target.guessed else None)

    # all others

    async def _feeds_once(self, channels: Channels, containers: ContainerWatch) -> None:
        await self._rank_tried.wait()
        await channels.essential()
        feeds = await Feeds.start(channels.node)
        try:
            channels.watched(FEEDS, feeds.pids)
            self.tried.set()
            async with asyncio.timeout(RENEW_S):
                await self._feeds.run(feeds, containers)
        except TimeoutError:
            return
        finally:
            await feeds.close()

    async def _chosen(self, containers: ContainerWatch) -> tuple[ContainerEngine, Chosen]:
        """The newest reading, waited for if there is none yet."""
        while (engine := self._shelf.engine()) is None:
            if self._state().containers.error is not None:
                self._rank_tried.set()
            await containers.next()
        return engine, self._shelf.choose(engine)


def _heed_cancel() -> None:
    """A task group that fails while it is cancelled tells only why it failed (until Python 3.13): end all the same."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
