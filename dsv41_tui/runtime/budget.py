"""Channels are scarce: sshd's MaxSessions is 10 by default and sometimes 2."""

from __future__ import annotations

import asyncio
import time

from dsv41_tui.core.messages import t
from dsv41_tui.transport.channel import ChannelsExhausted, Node, Process

START = 6
CLOSING_S = 3.0
"""sshd counts a session until its process is gone, which is a moment after we closed it."""
RETRIES = 3
RETRY_S = 0.5


class Budget:
    """Counts the open channels of one connection and halves the limit when sshd refuses one."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.limit = START
        self.open_channels = 0
        self._freed_at: float | None = None

    @property
    def exhausted(self) -> bool:
        return self.open_channels >= self.limit

    async def open(self, command: str) -> Process:
        """Open a channel within the limit; ChannelsExhausted when there is none left."""
        if self.exhausted:
            raise ChannelsExhausted(t("link.sessions-used", limit=self.limit))
        self.open_channels += 1
        try:
            process = await self._open(command)
        except ChannelsExhausted:
            self.open_channels -= 1
            self.limit = max(1, self.open_channels, self.limit // 2)
            raise
        except BaseException:
            self.open_channels -= 1
            raise
        return _Counted(process, self)

    async def _open(self, command: str) -> Process:
        """Ask sshd, and again when the place of a channel that was closed just now is not free there yet."""
        for _ in range(RETRIES if self._is_closing() else 0):
            try:
                return await self._node.open(command)
            except ChannelsExhausted:
                await asyncio.sleep(RETRY_S)
        return await self._node.open(command)

    def _is_closing(self) -> bool:
        return self._freed_at is not None and time.monotonic() - self._freed_at < CLOSING_S

    def give_back(self) -> None:
        """A channel has ended: its place is free."""
        self.open_channels -= 1
        self._freed_at = time.monotonic()

    async def wait_closed(self) -> None:
        await self._node.wait_closed()

    async def close(self) -> None:
        await self._node.close()

    def wire_bytes(self) -> int | None:
        return self._node.wire_bytes()


class _Counted:
    """A process that gives its place back when it has ended or was killed."""

    def __init__(self, process: Process, budget: Budget) -> None:
        self._process = process
        self._budget: Budget | None = budget

    def _release(self) -> None:
        if self._budget is not None:
            self._budget.give_back()
            self._budget = None

    async def read(self, size: int) -> bytes:
        return await self._process.read(size)

    def write(self, data: bytes) -> None:
        self._process.write(data)

    async def drain(self) -> None:
        await self._process.drain()

    def close(self) -> None:
        self._process.close()

    def kill(self) -> None:
        self._process.kill()
        self._release()

    async def wait(self) -> int | None:
        code = await self._process.wait()
        self._release()
        return code
