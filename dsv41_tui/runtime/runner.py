"""Rare and risky readings of one node: jobs that run apart on the node, each under its own time limit."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass, field

from dsv41_tui.core.errors import LinkError, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.transport.channel import Channel, Node
from dsv41_tui.transport.scripts import start_command

OUTPUT_LIMIT = 1 << 20
"""Characters kept of one job's answer."""


@dataclass(frozen=True)
class JobResult:
    """How a job ended: its exit code (124 or 137 when the limit struck) and its output, both streams."""

    code: int
    text: str


@dataclass
class _Waiting:
    done: asyncio.Future[JobResult]
    lines: list[str] = field(default_factory=list)
    size: int = 0


class Runner:
    """Owns the runner's channel; jobs run side by side, answers are told apart by their number."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._prefix = f"@{nonce} "
        self._sequence = 0
        self._waiting: dict[str, _Waiting] = {}
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, node: Node) -> Runner:
        """Open the channel and start the script. LinkError when that cannot be done."""
        nonce = secrets.token_hex(6)
        runner = cls(await Channel.start(node, start_command(), "runner", nonce), nonce)
        runner._reader = asyncio.create_task(runner._read())
        return runner

    async def run(self, command: str, limit_s: int) -> JobResult:
        """Run shell text that is one line. Waits as long as the job lives: a job in D state outlives its limit.

        Raises Unreachable when the channel ends before the job does.
        """
        return await self._ask(f"J {{}} {limit_s} {command}")

    async def probe(self, command: str, limit_s: int) -> JobResult:
        """Run one external command without a shell between; three forks on the node."""
        return await self._ask(f"P {{}} {limit_s} {command}")

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids on the node that are ours."""
        return self._channel.pids

    async def _ask(self, template: str) -> JobResult:
        if self._reader is None or self._reader.done():
            raise Unreachable(t("link.script-ended"))
        self._sequence += 1
        number = str(self._sequence)
        waiting = _Waiting(asyncio.get_running_loop().create_future())
        self._waiting[number] = waiting
        try:
            self._channel.send(template.replace("{}", number, 1))
            return await waiting.done
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        error: LinkError = Unreachable(t("link.script-ended"))
        try:
            while (line := await self._channel.line()) is not None:
                if line.startswith(self._prefix):
                    self._take(line[len(self._prefix) :])
        except LinkError as failed:
            error = failed
        finally:
            for waiting in self._waiting.values():
                if not waiting.done.done():
                    waiting.done.set_exception(error)

    def _take(self, line: str) -> None:
        tag, _, rest = line.partition(" ")
        waiting = self._waiting.get(tag.rstrip("!"))
        if waiting is None or waiting.done.done():
            return
        if tag.endswith("!"):
            code = int(rest) if rest.isdigit() else 255
            waiting.done.set_result(JobResult(code, "\n".join(waiting.lines)))
        elif waiting.size < OUTPUT_LIMIT:
            waiting.lines.append(rest)
            waiting.size += len(rest)

    async def wait_ended(self) -> None:
        """Return when the script's stream has ended."""
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def close(self) -> None:
        await self._channel.close()
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
