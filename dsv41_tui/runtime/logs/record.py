"""Every log line of a run on disk: plain text, owner only, bounded over all runs, never in the page cache for long.

A line is `NUMBER<tab>AT<tab>SEEN_AT<tab>SOURCE<tab>LEVEL<tab>TEXT`, times in Unix seconds, AT empty where the source
gave none. The panel often runs on a node with few GiB to spare, hence what is written is synced and its cache dropped
each 4 MiB. Writing happens in a thread of its own, because a home folder may hang on NFS.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, cast

from dsv41_tui.core.log import Level, LogLine
from dsv41_tui.core.messages import t

TOTAL_BYTES = 256 << 20
SEGMENT_BYTES = 16 << 20
DROP_BYTES = 4 << 20
BACKLOG_LINES = 20_000
"""Lines that wait for the disk; above this the readers wait, and with them the node's own pipe."""


@dataclass
class _Segment:
    path: Path
    first: int
    size: int = 0
    places: list[tuple[int, int]] = field(default_factory=list)
    """Number and offset of the first line of each write."""


class _Write(NamedTuple):
    """One batch, ready for the disk."""

    first: int
    lines: int
    data: bytes


class Record:
    """Takes batches on the loop, writes them elsewhere, reads them back by number."""

    def __init__(
        self, parent: Path, name: str, total_bytes: int = TOTAL_BYTES, segment_bytes: int = SEGMENT_BYTES
    ) -> None:
        self._parent = parent
        self.folder = parent / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{_plain(name)}"
        self.error: str | None = None
        """Why lines are missing from it; the panel goes on without."""
        self._total = total_bytes
        self._segment_bytes = segment_bytes
        self._segments: list[_Segment] = []
        self._file: int | None = None
        self._undropped = 0
        self._pending: list[_Write] = []
        self._waiting = 0
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "log-record")

    def add(self, lines: list[LogLine]) -> None:
        """Queue a batch; it is on disk soon."""
        if self.error is not None or not lines:
            return
        # Made into text here, a batch at a time: a thread that formats holds up the loop for its whole time slice.
        self._pending.append(_Write(lines[0].number, len(lines), "".join(map(_row, lines)).encode("utf-8", "replace")))
        self._waiting += len(lines)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())

    async def settle(self) -> None:
        """Return when few lines wait for the disk; at once, but for one turn of the loop, when it keeps up."""
        await asyncio.sleep(0)
        if self._waiting > BACKLOG_LINES and self._writer is not None:
            await asyncio.wait([self._writer])

    async def lines(self, first: int, end: int) -> list[LogLine]:
        """Lines `first` to `end - 1` as far as they are still there."""
        await self._flush()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, first, end)

    async def close(self) -> None:
        """Write what waits, drop its cache, end the thread."""
        if self._writer is not None:
            await asyncio.wait([self._writer])
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_file)
        self._thread.shutdown(wait=False)

    async def _write_all(self) -> None:
        while self._pending:
            await self._flush()

    async def _flush(self) -> None:
        """Write what waits now; the one thread keeps the order of those who ask."""
        writes, self._pending = self._pending, []
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, writes)
        except OSError as error:
            self.error = t("streams.no-record", folder=self.folder, why=error.strerror or str(error))
            self._pending = []
        finally:
            self._waiting -= sum(write.lines for write in writes)

    def _write(self, writes: list[_Write]) -> None:
        for write in writes:
            segment = self._segment_for(write.first, len(write.data))
            segment.places.append((write.first, segment.size))
            assert self._file is not None
            view = memoryview(write.data)
            while view:
                view = view[os.write(self._file, view) :]
            segment.size += len(write.data)
            self._undropped += len(write.data)
            if self._undropped >= DROP_BYTES:
                self._drop_cache()

    def _segment_for(self, number: int, size: int) -> _Segment:
        """The open file, or a new one when it is full."""
        if self._file is not None and self._segments[-1].size + size <= self._segment_bytes:
            return self._segments[-1]
        self._close_file()
        for folder in (self._parent, self.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        self._make_room()
        segment = _Segment(self.folder / f"{number:012d}.log", number)
        self._file = os.open(segment.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._segments.append(segment)
        return segment

    def _make_room(self) -> None:
        """Delete the oldest files, of whatever run, until one more segment fits in the bound."""
        files = []
        for path in self._parent.glob("*/*.log"):
            with contextlib.suppress(OSError):
                found = path.stat()
                files.append((found.st_mtime_ns, found.st_size, path))
        room = self._total - self._segment_bytes - sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if room >= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                room += size
            if path.parent != self.folder:
                with contextlib.suppress(OSError):
                    path.parent.rmdir()

    def _drop_cache(self) -> None:
        assert self._file is not None
        self._undropped = 0
        os.fdatasync(self._file)  # only clean pages can be dropped
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)

    def _close_file(self) -> None:
        if self._file is None:
            return
        try:
            self._drop_cache()
        finally:
            os.close(self._file)
            self._file = None

    def _read(self, first: int, end: int) -> list[LogLine]:
        found: list[LogLine] = []
        at = max(0, bisect_right(self._segments, first, key=lambda segment: segment.first) - 1)
        for segment in self._segments[at:]:
            if segment.first >= end:
                break
            found += _read_segment(segment, first, end)
        return found


def _read_segment(segment: _Segment, first: int, end: int) -> list[LogLine]:
    place = max(0, bisect_right(segment.places, first, key=lambda place: place[0]) - 1)
    try:
        with segment.path.open("rb") as file:
            file.seek(segment.places[place][1])
            found = [line for line in _parsed(file, end) if line.number >= first]
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:  # deleted for room
        return []
    return found


def _parsed(file: IO[bytes], end: int) -> Iterator[LogLine]:
    for row in file:
        number, at, seen_at, source, level, text = row.decode("utf-8").rstrip("\n").split("\t", 5)
        if int(number) >= end:
            return
        yield LogLine(int(number), source, float(at) if at else None, float(seen_at), cast(Level, level), text)


def _row(line: LogLine) -> str:
    at = "" if line.at is None else line.at
    return f"{line.number}\t{at}\t{line.seen_at}\t{line.source}\t{line.level}\t{line.text}\n"


def _plain(name: str) -> str:
    """A cluster's name as a part of a folder's name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:40] or "cluster"
