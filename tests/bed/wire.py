"""A wire of our own on loopback: a TCP forwarder that delays, and that can be cut without either end being told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

CHUNK = 65536


class Wire:
    """Listens on `port` and leads to `target`, with `delay_s` each way.

    `cut` is a pulled cable: sockets stay open, nothing is delivered. `mend` delivers what waited, as TCP does after a
    short cut.
    """

    def __init__(self, target: int, delay_s: float) -> None:
        self.port = 0
        self.bytes = 0
        """Carried so far, both ways."""
        self._target = target
        self._delay_s = delay_s
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._whole.clear()

    def mend(self) -> None:
        self._whole.set()

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keep(asyncio.create_task(self._join(reader, writer)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far: asyncio.StreamWriter | None = None
        try:
            await self._whole.wait()
            far_reader, far = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(self._carry(reader, far), self._carry(far_reader, writer))
        except OSError:
            return
        finally:
            for end in (writer, far):
                if end is not None:
                    end.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read at once, deliver `delay_s` later: a delay, not a limit of the rate."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                await self._whole.wait()
                if not data:
                    with contextlib.suppress(OSError):
                        writer.write_eof()
                    return
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()

        delivery = asyncio.create_task(deliver())
        try:
            while True:
                data = await reader.read(CHUNK)
                queue.put_nowait((loop.time() + self._delay_s, data))
                if not data:
                    break
            await delivery
        finally:
            delivery.cancel()


@contextlib.asynccontextmanager
async def wire(target: int, delay_s: float = 0.0) -> AsyncIterator[Wire]:
    """A wire to a port of this machine."""
    made = Wire(target, delay_s)
    await made.start()
    try:
        yield made
    finally:
        await made.close()
