"""The fast readings of one node: ticks go out, frames come back, torn ones are told apart."""

from __future__ import annotations

import asyncio
import secrets

from dsv41_tui.core.errors import ParseError, TimedOut, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.parsers.frame import Frame, parse_frame
from dsv41_tui.transport.channel import Channel, Node
from dsv41_tui.transport.scripts import start_command

FRAME_TIMEOUT_S = 20.0
"""Long enough for a node that swaps; the keep-alive of the connection ends sooner when the link is cut."""


class Collector:
    """Owns the collector's channel. One tick at a time."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._nonce = nonce
        self._sequence = 0

    @classmethod
    async def start(cls, node: Node) -> Collector:
        """Open the channel and start the script. LinkError when that cannot be done."""
        nonce = secrets.token_hex(6)
        return cls(await Channel.start(node, start_command(), "collector", nonce), nonce)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids on the node that are ours."""
        return self._channel.pids

    async def tick(self, paths: list[str]) -> Frame:
        """Read files. ParseError for a torn frame, Unreachable when the script ended, TimedOut when it is silent."""
        return parse_frame(await self._ask(" ".join(paths)))

    async def _ask(self, paths: str) -> str:
        self._sequence += 1
        sequence = self._sequence
        self._channel.send(f"T {sequence} {paths}")
        try:
            async with asyncio.timeout(FRAME_TIMEOUT_S):
                begin = await self._channel.line()
                text = await self._channel.until(f"end {sequence}") if begin is not None else None
        except TimeoutError:
            raise TimedOut(t("link.no-frame", limit=round(FRAME_TIMEOUT_S))) from None
        if begin is None or text is None:
            raise Unreachable(t("link.script-ended"))
        if begin != f"@{self._nonce} begin {sequence}" or f"@{self._nonce} " in text:
            raise ParseError(t("link.torn"))
        return text

    async def close(self) -> None:
        await self._channel.close()
