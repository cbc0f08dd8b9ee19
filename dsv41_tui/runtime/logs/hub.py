"""Where all log lines of all nodes come together: numbered, held in memory for the screen, recorded on disk.

For the screen: `first`, `end` and `lines(first, end)` are the ring of the newest lines, numbered in the order in which
they came; `folder` is where the record lies that has every line of this run; `older(first, end)` reads lines that the
ring has let go from it; `counts` has lines by level and source; `on_change` tells that lines came, at most every
50 ms. Order by corrected time is the reader's: `LogLine.at` is the node's own clock, `NodeState.clock` its offset.

For those who read logs: `add` takes a batch of one source, `settle` waits until the record has room.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count, repeat
from pathlib import Path

from dsv41_tui.core.log import Level, LogLine, LogSource
from dsv41_tui.runtime.logs.record import Record
from dsv41_tui.runtime.logs.ring import Ring

SOON_S = 0.05


class LogHub:
    """All on the event loop; a batch is the unit everywhere, never a line."""

    def __init__(self, record: Record | None = None, ring: Ring | None = None) -> None:
        self._ring = ring or Ring()
        self._record = record
        self._listeners: list[Callable[[], None]] = []
        self._handle: asyncio.TimerHandle | None = None
        self.sources: dict[str, LogSource] = {}
        """By id; one is here from its first line or failure on."""
        self.counts: dict[str, Counter[Level]] = {}
        """Lines by level, by source id, since the start."""

    @property
    def first(self) -> int:
        """Number of the oldest line that is still in memory."""
        return self._ring.first

    @property
    def end(self) -> int:
        """Number that the next line will have."""
        return self._ring.end

    def lines(self, first: int, end: int) -> Sequence[LogLine]:
        """Those of the lines numbered `first` to `end - 1` that are in memory, in order."""
        return self._ring.lines(first, end)

    @property
    def folder(self) -> Path | None:
        """Where the record lies that has every line; None where nothing is recorded."""
        return self._record.folder if self._record is not None else None

    @property
    def record_error(self) -> str | None:
        """Why the record lacks lines, in one line; None while it is whole."""
        return self._record.error if self._record is not None else None

    async def older(self, first: int, end: int) -> Sequence[LogLine]:
        """Lines by number from the record, also those that the ring has let go; empty where nothing is recorded."""
        if self._record is None:
            return ()
        return await self._record.lines(first, end)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on the loop soon after lines came; returns the way to stop that."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def open(self, source: LogSource) -> None:
        """Make a source known; again with the same id is no change."""
        self.sources.setdefault(source.id, source)
        self.counts.setdefault(source.id, Counter())

    def add(
        self, source: LogSource, at: Sequence[float | None], texts: Sequence[str], levels: Sequence[Level]
    ) -> list[LogLine]:
        """Number and keep a batch of cleaned and redacted lines; the three lists are of one length."""
        self.open(source)
        seen_at = time.time()
        batch = list(map(LogLine._make, zip(count(self.end), repeat(source.id), at, repeat(seen_at), levels, texts)))
        self._ring.add(batch)
        self.counts[source.id].update(levels)
        if self._record is not None:
            self._record.add(batch)
        if self._handle is None and self._listeners:
            self._handle = asyncio.get_running_loop().call_later(SOON_S, self._tell)
        return batch

    async def settle(self) -> None:
        """Give the others on the loop their turn, and the record time to write when it lags."""
        if self._record is None:
            await asyncio.sleep(0)
        else:
            await self._record.settle()

    async def close(self) -> None:
        """Write what is left."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._record is not None:
            await self._record.close()

    def _tell(self) -> None:
        self._handle = None
        for listener in tuple(self._listeners):
            listener()
