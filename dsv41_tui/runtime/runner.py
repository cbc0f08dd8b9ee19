"""Rare and risky readings of one node: jobs that run apart on the node, each under its own time limit."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Literal

from dsv41_tui.core.errors import LinkError, Refused, TimedOut, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.transport.channel import Channel, Node
from dsv41_tui.transport.scripts import start_command

OUTPUT_LIMIT = 1 << 20
"""Characters of one job's answer, and of text that belongs to none; the script on the node cuts far below."""
LOST_S = 30.0
"""A job that is so long over its limit was killed in D state, or its end will never be said."""


@dataclass(frozen=True)
class JobResult:
    """How a job ended: its exit code (124 or 137 when the limit struck) and its output, both streams."""

    code: int
    text: str


@dataclass
class Job:
    """A job under way on the node."""

    begun: asyncio.Event
    """Set when the node said that it began; a probe's time counts from there."""
    done: asyncio.Future[JobResult]
    lines: list[str] = field(default_factory=list)
    size: int = 0


class Runner:
    """Owns the runner's channel; jobs run side by side, answers are told apart by their number."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._prefix = f"@{nonce} "
        self._sequence = 0
        self._jobs: dict[str, Job] = {}
        self._strange = 0
        self._error: LinkError = Unreachable(t("link.script-ended"))
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, node: Node) -> Runner:
        """Open the channel and start the script. LinkError when that cannot be done."""
        nonce = secrets.token_hex(6)
        runner = cls(await Channel.start(node, start_command(), "runner", nonce), nonce)
        runner._reader = asyncio.create_task(runner._read())
        return runner

    async def run(self, command: str, limit_s: int) -> JobResult:
        """Run shell text that is one line, and wait for its end.

        TimedOut when nothing is heard long after the limit, Unreachable when the channel ends before the job does.
        """
        job = self.begin("J", command, limit_s)
        try:
            async with asyncio.timeout(limit_s + LOST_S):
                return await job.done
        except TimeoutError:
            raise TimedOut(t("link.no-answer", limit=limit_s)) from None
        finally:
            self.forget(job)

    def begin(self, kind: Literal["J", "P"], command: str, limit_s: int) -> Job:
        """Start a job: J is shell text, P one external command without a shell between. The caller forgets it."""
        if self._reader is None or self._reader.done():
            raise Unreachable(t("link.script-ended"))
        self._sequence += 1
        job = Job(asyncio.Event(), asyncio.get_running_loop().create_future())
        self._jobs[str(self._sequence)] = job
        self._channel.send(f"{kind} {self._sequence} {limit_s} {command}")
        return job

    def forget(self, job: Job) -> None:
        """Nobody waits for this job any more."""
        self._jobs = {number: other for number, other in self._jobs.items() if other is not job}
        job.done.cancel()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids on the node that are ours."""
        return self._channel.pids

    async def _read(self) -> None:
        try:
            while (line := await self._channel.line()) is not None:
                self._take(line)
        except LinkError as failed:
            self._error = failed
        finally:
            for job in self._jobs.values():
                if not job.done.done():
                    job.done.set_exception(self._error)
                    job.done.exception()  # whoever waits is told; nobody waiting is no fault

    def _take(self, line: str) -> None:
        tag, _, rest = line.removeprefix(self._prefix).partition(" ")
        job = self._jobs.get(tag.rstrip("!?")) if line.startswith(self._prefix) else None
        if job is None or job.done.done():
            self._count_strange(len(line) + 1)
        elif tag.endswith("?"):
            job.begun.set()
        elif tag.endswith("!"):
            code = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 4 else 255
            job.done.set_result(JobResult(code, "\n".join(job.lines)))
        else:
            job.lines.append(rest)
            job.size += len(rest) + 1
            if job.size > OUTPUT_LIMIT:
                raise Refused(t("link.endless"))

    def _count_strange(self, size: int) -> None:
        """Late ends of forgotten jobs are few; a flood that belongs to no job ends the channel."""
        self._strange += size
        if self._strange > OUTPUT_LIMIT:
            raise Refused(t("link.endless"))

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
