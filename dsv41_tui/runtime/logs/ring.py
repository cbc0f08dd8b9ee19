"""The newest log lines in memory, bounded by bytes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from dsv41_tui.core.log import LogLine

LIMIT_BYTES = 8 << 20
BATCH_LINES = 512
BATCH_BYTES = 256 << 10
"""Small batches are joined up to these, so that a quiet log makes no list a line; whole batches are let go."""
LINE_BYTES = 240
"""What a line costs beside its text on CPython 3.11: tuple, number, time, the string's header."""

_text = itemgetter(LogLine._fields.index("text"))


@dataclass
class _Batch:
    first: int
    lines: list[LogLine]
    size: int


class Ring:
    """Lines by number without a gap, the oldest let go a batch at a time."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._joined = min(BATCH_BYTES, limit_bytes // 2)
        self._batches: list[_Batch] = []
        self._size = 0
        self.end = 1

    @property
    def first(self) -> int:
        return self._batches[0].first if self._batches else self.end

    def add(self, lines: list[LogLine]) -> None:
        """Append lines numbered from `end` on."""
        if not lines:
            return
        # A character beyond Latin-1 costs two or four bytes; such lines are few, and the bound is one of order.
        size = sum(map(len, map(_text, lines))) + LINE_BYTES * len(lines)
        last = self._batches[-1] if self._batches else None
        if last is not None and len(last.lines) + len(lines) <= BATCH_LINES and last.size + size <= self._joined:
            last.lines.extend(lines)
            last.size += size
        else:
            self._batches.append(_Batch(self.end, lines[:], size))
        self.end += len(lines)
        self._size += size
        while self._size > self._limit and len(self._batches) > 1:
            self._size -= self._batches.pop(0).size

    def lines(self, first: int, end: int) -> list[LogLine]:
        """Those of `first` to `end - 1` that are here, in order."""
        first, end = max(first, self.first), min(end, self.end)
        if first >= end:
            return []
        found: list[LogLine] = []
        at = bisect_right(self._batches, first, key=lambda batch: batch.first) - 1
        while first < end:
            batch = self._batches[at]
            found += batch.lines[first - batch.first : end - batch.first]
            first = batch.first + len(batch.lines)
            at += 1
        return found
