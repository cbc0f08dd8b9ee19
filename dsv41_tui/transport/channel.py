"""A channel: a running command on a node with its standard input and output, over SSH or as a local process."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from dsv41_tui.core.errors import Refused, TimedOut, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_bytes, clean_line
from dsv41_tui.transport.lines import LineCutter
from dsv41_tui.transport.scripts import feed

HELLO_TIMEOUT_S = 10.0
NOISE_LIMIT = 64 * 1024
"""Bytes that a login shell may print before our script says hello."""
LINE_LIMIT = 1 << 20
"""Bytes of one line, at most; a node that sends longer ones is not speaking our protocol."""
FRAME_LIMIT = 8 << 20
"""Bytes of one frame, at most: thousands of mounts fit."""
BREATH_LINES = 200
"""After so many lines the others on the event loop get their turn, also while more lines wait in the buffer."""
_PID_DIGITS = 9


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
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        """What came after the last line feed."""
        self._cutter: LineCutter | None = None
        """Of a channel that is read in batches."""
        self._taken = 0
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
                if code is None:  # every shell that ends leaves a code, or the signal that ended it
                    raise Unreachable(t("link.gone"))
                raise Refused(t("link.shell-ended", code=code))
            _, found, rest = line.partition(f"{self._prefix}hello")
            if found:
                self.pids = tuple(int(word) for word in rest.split() if _is_pid(word))
                return
            noise += len(line) + 1
            if noise > NOISE_LIMIT:
                raise Refused(t("link.shell-prints", text=clean_line(line, 80)))

    async def line(self) -> str | None:
        """The next line, cleaned, without its line feed; None at the end of the stream."""
        line = await self._next()
        return None if line is None else clean_bytes(line)

    async def until(self, end: str) -> str | None:
        """Text up to the line `end` (with our prefix), cleaned; None when the stream ends first."""
        mark = f"{self._prefix}{end}".encode()
        body: list[bytes] = []
        size = 0
        while (line := await self._next()) != mark:
            if line is None:
                return None
            size += len(line) + 1
            if size > FRAME_LIMIT:
                raise Refused(t("link.endless"))
            body.append(line)
        return clean_bytes(b"\n".join(body))

    async def batch(self) -> list[str] | None:
        """The lines of one read, cleaned, of bounded length; maybe none, and None at the end of the stream.

        For logs: an unfinished line at the end counts, one of megabytes is cut. After it, `line` and `until` give none.
        """
        if self._cutter is None:
            self._cutter = LineCutter()
            before = b"".join(line + b"\n" for line in self._lines) + bytes(self._rest)
            self._lines.clear()
            self._rest.clear()
            if before:
                return self._cutter.feed(before)
        data = await self._process.read(65536)
        if data:
            return self._cutter.feed(data)
        return self._cutter.rest() or None

    async def _next(self) -> bytes | None:
        """The next line as it came; None at the end of the stream, where an unfinished line is dropped."""
        while not self._lines:
            if not await self._fill():
                return None
        self._taken += 1
        if self._taken % BREATH_LINES == 0:
            await asyncio.sleep(0)
        return self._lines.popleft()

    async def _fill(self) -> bool:
        """Read once and split what came, each byte once; False at the end of the stream."""
        if len(self._rest) > LINE_LIMIT:
            raise Refused(t("link.endless"))
        data = await self._process.read(65536)
        first, *others = data.split(b"\n")
        self._rest += first
        if others:
            self._lines.append(bytes(self._rest))
            self._lines.extend(others[:-1])
            self._rest = bytearray(others[-1])
        return bool(data)

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
        except BaseException:  # cancelled while it waits: the channel's place is given back all the same
            self._process.kill()
            raise

    async def wait(self) -> int | None:
        """Exit code of the script after its stream ended."""
        return await self._process.wait()


def _is_pid(word: str) -> bool:
    """Remote text: digits of other scripts and numbers beyond every pid_max are no process ids."""
    return word.isascii() and word.isdigit() and len(word) <= _PID_DIGITS and int(word) > 1
