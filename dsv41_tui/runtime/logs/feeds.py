"""Several logs of low rate over one channel of a node: `transport/feeds.sh` tags their lines, here they are sorted."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from dsv41_tui.core.errors import LinkError, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.transport.channel import Channel, Node
from dsv41_tui.transport.scripts import start_command

WAITING = 16
"""Batches of one feed that may wait; above, the whole channel waits, and with it the commands on the node."""


class Feed:
    """One command's output: batches of lines, then its exit code."""

    def __init__(self) -> None:
        self._batches: asyncio.Queue[list[str] | None] = asyncio.Queue(WAITING)
        self.code: int | None = None
        """Exit code after the last batch; None when the channel ended first."""

    async def batch(self) -> list[str] | None:
        """The next lines; None at the end of the command or of the channel."""
        return await self._batches.get()

    async def put(self, lines: list[str] | None) -> None:
        await self._batches.put(lines)


class Feeds:
    """Owns the channel; feeds are told apart by their number."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._prefix = f"@{nonce} "
        self._sequence = 0
        self._feeds: dict[str, Feed] = {}
        self._error: LinkError = Unreachable(t("link.script-ended"))
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, node: Node) -> Feeds:
        """Open the channel and start the script. LinkError when that cannot be done."""
        nonce = secrets.token_hex(6)
        feeds = cls(await Channel.start(node, start_command(), "feeds", nonce), nonce)
        feeds._reader = asyncio.create_task(feeds._read())
        return feeds

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids on the node that are ours."""
        return self._channel.pids

    def follow(self, command: str) -> Feed:
        """Start shell text that is one line; it runs until it ends by itself or the channel does."""
        self._sequence += 1
        feed = Feed()
        self._feeds[str(self._sequence)] = feed
        self._channel.send(f"F {self._sequence} {command}")
        return feed

    async def _read(self) -> None:
        try:
            while (lines := await self._channel.batch()) is not None:
                await self._sort(lines)
        except LinkError as failed:
            self._error = failed
        finally:
            for feed in self._feeds.values():
                with contextlib.suppress(asyncio.QueueFull):
                    feed._batches.put_nowait(None)

    async def _sort(self, lines: list[str]) -> None:
        groups: dict[str, list[str]] = {}
        for line in lines:
            tag, _, rest = line.removeprefix(self._prefix).partition(" ")
            if not line.startswith(self._prefix):
                continue
            if not tag.endswith("!"):
                groups.setdefault(tag, []).append(rest)
            elif (feed := self._feeds.pop(tag[:-1], None)) is not None:
                if waiting := groups.pop(tag[:-1], None):
                    await feed.put(waiting)
                feed.code = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 4 else 255
                await feed.put(None)
        for tag, waiting in groups.items():
            if (feed := self._feeds.get(tag)) is not None:
                await feed.put(waiting)

    async def wait_ended(self) -> None:
        """Wait for the end of the script's stream; raises what ended it."""
        if self._reader is not None:
            await asyncio.wait([self._reader])
        raise self._error

    async def close(self) -> None:
        await self._channel.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait([self._reader])  # not awaited itself: its end must not hide that we are cancelled
