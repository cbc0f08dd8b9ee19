"""The logs that share one channel of a node: docker's events, kernel, launcher, proxies, the recipe's helpers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.errors import LinkError
from dsv41_tui.core.messages import t
from dsv41_tui.parsers.logline import parse_logline
from dsv41_tui.runtime.containers import ContainerWatch
from dsv41_tui.runtime.logs import commands
from dsv41_tui.runtime.logs.choose import Target
from dsv41_tui.runtime.logs.feeds import Feeds
from dsv41_tui.runtime.logs.position import Position, Tail
from dsv41_tui.runtime.logs.shelf import Shelf

AGAIN_S = 5.0
KERNEL_S = 120.0
"""Before a kernel log that ended or is not allowed is tried again."""
QUIET_S = 3.0
"""A kernel log that has brought nothing by then has nothing."""
LAUNCHER_S = 30.0
"""Between looks for a new file of the launcher."""


class FeedLogs:
    """Knows where each of these logs stands, over all connections."""

    def __init__(self, shelf: Shelf, folders: Sequence[str]) -> None:
        self._shelf = shelf
        self._folders = tuple(folders)
        """Recipe folders on the head."""
        self._kernel = Position()
        self.kernel_tried = asyncio.Event()
        """Set once the kernel log has been read as far as it went, or gives nothing."""
        self._files: dict[str, Tail] = {}

    async def run(self, feeds: Feeds, containers: ContainerWatch) -> None:
        """Follow until the channel ends (LinkError)."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(feeds.wait_ended())
                group.create_task(self._events(feeds, containers))
                group.create_task(self._kernel_log(feeds))
                group.create_task(self._others(feeds, containers))
                for folder in self._folders:
                    group.create_task(self._launcher(feeds, folder))
        except* LinkError as errors:
            raise _first(errors) from None

    async def _events(self, feeds: Feeds, containers: ContainerWatch) -> None:
        """What happens to containers: each is a line, and a reason to read them at once."""
        reader = self._shelf.reader("events", "events")
        reader.open()
        while True:
            engine = self._shelf.engine()
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
                    await self._shelf.hub.settle()
            await asyncio.sleep(AGAIN_S)

    async def _kernel_log(self, feeds: Feeds) -> None:
        reader = self._shelf.reader("kernel", "kernel")
        reader.open()
        while True:
            feed = feeds.follow(commands.kernel_log(self._shelf.config.root, self._kernel.resume()))
            asyncio.get_running_loop().call_later(QUIET_S, self.kernel_tried.set)
            while (lines := await feed.batch()) is not None:
                self._shelf.unreadable(reader.source.id, None)
                times = [parse_logline(line, "kernel").at for line in lines]
                fresh = self._kernel.fresh(times, lines)
                reader.started_at = self._shelf.service_started()
                reader.take([lines[place] for place in fresh], [times[place] for place in fresh])
                self._shelf.line_at = time.monotonic()
                self.kernel_tried.set()
                await self._shelf.hub.settle()
            self.kernel_tried.set()
            if feed.code:
                denied = feed.code == commands.UNREADABLE
                why = t("streams.kernel-closed") if denied else t("link.failed", code=feed.code)
                self._shelf.unreadable(reader.source.id, why)
            await asyncio.sleep(KERNEL_S)

    async def _others(self, feeds: Feeds, containers: ContainerWatch) -> None:
        """Proxies and helpers: one task a container, begun as they appear."""
        followed: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                engine = self._shelf.engine()
                for target in self._shelf.choose(engine).others if engine is not None else ():
                    assert engine is not None
                    task = followed.get(target.container.id)
                    if task is None or (task.done() and target.container.state == "running"):
                        one = self._other(feeds, target, engine)
                        followed[target.container.id] = group.create_task(one)
                await containers.next()

    async def _other(self, feeds: Feeds, target: Target, engine: ContainerEngine) -> None:
        follower = self._shelf.follower(target, commands.OTHER_TAIL)
        feed = feeds.follow("exec " + follower.open(target, engine))

        async def code() -> int | None:
            return feed.code

        ended = await self._shelf.pump(follower, feed.batch, code)
        if ended:
            self._shelf.unreadable(target.source.id, follower.said or t("link.failed", code=ended))
        await asyncio.sleep(AGAIN_S)

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
        reader = self._shelf.reader(path.rpartition("/")[2], "launcher")
        reader.open()
        tail = self._files.setdefault(path, Tail())
        known = tail.resume()
        feed = feeds.follow(commands.launcher_log(path))
        while (lines := await feed.batch()) is not None:
            reader.take(tail.fresh(lines), scan=known)
            known = True  # what stood there before tells of an earlier start, or of nothing that is new
            await self._shelf.hub.settle()


def _first(errors: BaseExceptionGroup[LinkError]) -> LinkError:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
