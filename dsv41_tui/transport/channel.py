"""A channel: a running command on a node with its standard input and output, over SSH or as a local process."""

from __future__ import annotations

import asyncio
from typing import Protocol

from dsv41_tui.core.errors import Refused, TimedOut
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_bytes, clean_line
from dsv41_tui.transport.scripts import feed

HELLO_TIMEOUT_S = 10.0
NOISE_LIMIT = 64 * 1024
"""Bytes that a login shell may print before our script says hello."""
LINE_LIMIT = 1 << 20
"""Bytes of one line, at most; a node that sends longer ones is not speaking our protocol."""


class Process(Protocol):
    """What a transport gives: bytes in, bytes out, an end."""

    async def read(self, size: int) -> bytes: ...

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None:
        """End standard input; the scripts end with it."""

    def kill(self) -> None: ...

    async def wait(self) -> int | None:
        """Exit code, or None when it is not known."""


class Node(Protocol):
    """A node that can run commands: an SSH connection or this machine."""

    async def open(self, command: str) -> Process:
        """Start a command; LinkError when it cannot be started, ChannelsExhausted when sshd allows no more."""

    async def wait_closed(self) -> None:
        """Return when the connection is gone; raises the LinkError that says why."""

    async def close(self) -> None: ...

    def wire_bytes(self) -> int | None:
        """Bytes sent and received on the wire so far, None where nobody counts them."""


class ChannelsExhausted(Refused):
    """sshd refused one more session on this connection (MaxSessions)."""


class Channel:
    """Lines to and from one of our scripts. Remote text is cleaned here, once."""

    def __init__(self, process: Process, nonce: str) -> None:
        self._process = process
        self._prefix = f"@{nonce} "
        self._buffer = b""
        self._closed = False
        self.pids: tuple[int, ...] = ()
        """Process ids on the node: the script's shell, and the sshd that serves it."""

    @classmethod
    async def start(cls, node: Node, command: str, script: str, nonce: str, **variables: str) -> Channel:
        """Open a channel, feed `script`, and wait for its hello; what the login shell prints before is dropped."""
        process = await node.open(command)
        channel = cls(process, nonce)
        try:
            process.write(feed(script, nonce, **variables).encode())
            async with asyncio.timeout(HELLO_TIMEOUT_S):
                await process.drain()
                await channel._hello()
        except TimeoutError:
            process.kill()
            raise TimedOut(t("link.no-shell", limit=round(HELLO_TIMEOUT_S))) from None
        except BaseException:
            process.kill()
            raise
        return channel

    async def _hello(self) -> None:
        noise = 0
        while True:
            line = await self.line()
            if line is None:
                code = await self._process.wait()
                raise Refused(t("link.shell-ended", code="?" if code is None else code))
            _, found, rest = line.partition(f"{self._prefix}hello")
            if found:
                self.pids = tuple(int(pid) for pid in rest.split() if pid.isdigit() and int(pid) > 1)
                return
            noise += len(line)
            if noise > NOISE_LIMIT:
                raise Refused(t("link.shell-prints", text=clean_line(line, 80)))

    async def line(self) -> str | None:
        """The next line, cleaned, without its line feed; None at the end of the stream."""
        while b"\n" not in self._buffer:
            if len(self._buffer) > LINE_LIMIT:
                raise Refused(t("link.endless"))
            data = await self._process.read(65536)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return clean_bytes(line)

    async def until(self, end: str) -> str | None:
        """Text up to the line `end` (with our prefix), cleaned; None when the stream ends first."""
        mark = f"\n{self._prefix}{end}\n".encode()
        while (at := self._buffer.find(mark)) < 0:
            if len(self._buffer) > LINE_LIMIT:
                raise Refused(t("link.endless"))
            data = await self._process.read(65536)
            if not data:
                return None
            self._buffer += data
        body, self._buffer = self._buffer[:at], self._buffer[at + len(mark) :]
        return clean_bytes(body)

    def send(self, line: str) -> None:
        """One request; it must not hold a line break."""
        if "\n" in line:
            raise ValueError("a request is one line")
        self._process.write(line.encode() + b"\n")

    async def close(self) -> int | None:
        """End the script by ending its input; returns its exit code if it comes within two seconds."""
        if self._closed:
            return None
        self._closed = True
        self._process.close()
        try:
            async with asyncio.timeout(2.0):
                return await self._process.wait()
        except TimeoutError:
            self._process.kill()
            return None

    async def wait(self) -> int | None:
        """Exit code of the script after its stream ended."""
        return await self._process.wait()
