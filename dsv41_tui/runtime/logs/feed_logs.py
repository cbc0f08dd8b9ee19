"""The logs that share one channel of a node: docker's events, kernel, launcher, proxies, the recipe's helpers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.errors import LinkError
from dsv41_tui.core.messages import t
from dsv41_tui.parsers.logline import parse_logline
from dsv41_tui.runtime.containers import ContainerWatch
from dsv41_tui.runtime.logs import commands
from dsv41_tui.runtime.logs.choose import Chosen, Target
from dsv41_tui.runtime.logs.feeds import Feed, Feeds
from dsv41_tui.runtime.logs.position import Position, Tail
from dsv41_tui.runtime.logs.shelf import Shelf

AGAIN_S = 5.0
KERNEL_S = 120.0
"""Before a kernel log that ended or is not allowed is tried again."""
KERNEL = "kernel"
QUIET_S = 3.0
"""A log that has brought nothing by then has nothing."""
LAUNCHER_S = 30.0
"""Between looks for a new file of the launcher."""


class FeedLogs:
    """Knows where each of these logs stands, over all connections."""

    def __init__(self, shelf: Shelf, folders: Sequence[str]) -> None:
        self._shelf = shelf
        self._folders = tuple(folders)
        """Recipe folders on the head."""
        self._kernel = Position()
        self.waiting = {KERNEL, *folders}
        """Logs of the past that were not yet read as far as they went, and may give something."""
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

    def _give_up_after(self, seconds: float, name: str) -> None:
        asyncio.get_running_loop().call_later(seconds, self.waiting.discard, name)

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
            with containers.heard():
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
            self._give_up_after(QUIET_S, KERNEL)
            while (lines := await feed.batch()) is not None:
                self._shelf.unreadable(reader.source.id, None)
                times = [parse_logline(line, "kernel").at for line in lines]
                fresh = self._kernel.fresh(times, lines)
                reader.started_at = self._shelf.service_started()
                reader.take([lines[place] for place in fresh], [times[place] for place in fresh])
                self._shelf.came(self._kernel.newest)
                self.waiting.discard(KERNEL)
                await self._shelf.hub.settle()
            self.waiting.discard(KERNEL)
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
                chosen = self._shelf.choose(engine) if engine is not None else Chosen(None, ())
                self._shelf.say_unfollowed(chosen)
                for target in chosen.others:
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
                    for line in lines:
                        second, _, path = line.partition(" ")
                        if path.startswith("/") and path not in followed and second.isdecimal() and len(second) < 13:
                            followed[path] = group.create_task(self._launcher_file(feeds, folder, path, float(second)))
                if not followed:
                    self.waiting.discard(folder)
                await asyncio.sleep(LAUNCHER_S)

    async def _launcher_file(self, feeds: Feeds, folder: str, path: str, written_at: float) -> None:
        reader = self._shelf.reader(path.rpartition("/")[2], "launcher")
        reader.open()
        tail = self._files.setdefault(path, Tail())
        known = tail.resume()
        feed = feeds.follow(commands.launcher_log(path))
        past, more = await _past(feed)
        fresh = tail.fresh(past)
        if known:
            reader.take(fresh)
        else:  # of a start that goes on, or went well, the container's own log tells more
            reader.take(fresh, _times(fresh, written_at), scan=self._shelf.start_failed(written_at))
        self.waiting.discard(folder)
        lines: Sequence[str] | None = more
        while lines is not None:
            reader.take(tail.fresh(lines))
            await self._shelf.hub.settle()
            lines = await feed.batch()


async def _past(feed: Feed) -> tuple[list[str], list[str]]:
    """The lines that stood in a file when it was opened, and what was added to it meanwhile."""
    found: list[str] = []
    wanted: int | None = None
    with contextlib.suppress(TimeoutError):  # a line that was dropped on the way is not waited for
        while wanted is None or len(found) < wanted:
            async with asyncio.timeout(QUIET_S):
                lines = await feed.batch()
            if lines is None:
                break
            found += lines
            if wanted is None and found:
                first = found.pop(0)
                wanted = int(first) if first.isdecimal() and len(first) < 7 else 0
    return found[:wanted], found[wanted or 0 :] if wanted is not None else []


def _times(lines: Sequence[str], written_at: float) -> list[float]:
    """Of lines of the past; where one has no stamp of its own, it is as old as the file."""
    stamps = [parse_logline(line, "launcher").at for line in lines]
    return [written_at if at is None else at for at in stamps]


def _first(errors: BaseExceptionGroup[LinkError]) -> LinkError:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
