"""This machine as a node: subprocesses instead of channels."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from dsv41_tui.core.errors import Refused
from dsv41_tui.core.messages import t
from dsv41_tui.transport.channel import Process


class LocalProcess:
    """A subprocess in a process group of its own, so that killing it takes its children along."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        self._stdin = process.stdin
        self._stdout = process.stdout

    async def read(self, size: int) -> bytes:
        return await self._stdout.read(size)

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    async def drain(self) -> None:
        with contextlib.suppress(ConnectionError):
            await self._stdin.drain()

    def close(self) -> None:
        self._stdin.close()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    async def discard(self) -> None:
        """Read what a killed process left in its pipe: asyncio sees the end of a process only behind that."""
        with contextlib.suppress(TimeoutError, RuntimeError):  # RuntimeError: its reader is at it already
            async with asyncio.timeout(1.0):
                while await self._stdout.read(1 << 16):
                    pass

    async def wait(self) -> int | None:
        return await self._process.wait()


class LocalNode:
    """This machine."""

    def __init__(self) -> None:
        self._closed = asyncio.Event()
        self._processes: list[LocalProcess] = []

    async def open(self, command: str) -> Process:
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise Refused(t("link.no-local-shell", why=error.strerror)) from error
        opened = LocalProcess(process)
        self._processes = [*(before for before in self._processes if not before.ended), opened]
        return opened

    async def wait_closed(self) -> None:
        await self._closed.wait()

    async def close(self) -> None:
        """End every process by ending its input; what has not ended within two seconds is killed."""
        self._closed.set()
        processes, self._processes = self._processes, []
        for process in processes:
            process.close()
        ends = [asyncio.ensure_future(process.wait()) for process in processes]
        if ends:
            await asyncio.wait(ends, timeout=2.0)
        for process, end in zip(processes, ends, strict=True):
            if not end.done():
                process.kill()
                await process.discard()
                end.cancel()

    def wire_bytes(self) -> int | None:
        return 0
