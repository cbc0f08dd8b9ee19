"""Logs as people have them: a file or standard input, packed or not, in any encoding, to batches of cleaned lines.

Bounded memory: blocks of a fixed size, lines of a bounded length. A file is read once and drops its page cache behind
itself, since on a node of 4 GiB to spare a 2 GiB log would take what the engine lives on.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line
from dsv41_tui.runtime.log_lines import Batch, Cutter, Records
from dsv41_tui.runtime.unpack import unpacked

BLOCK = 1 << 18
_DROP_EVERY = 8 << 20
STDIN = "-"

Report = Callable[[str], None]


def read_log(name: str, report: Report, year: int | None = None) -> Iterator[Batch]:
    """The lines of a file, or of standard input for `-`, in batches. `report` gets a line about what was not whole.

    `year` is taken for stamps without one. ConfigError, one line, where there is nothing to read.
    """
    shown = t("diagnose.input.stdin") if name == STDIN else clean_line(name)
    handle = _open(name, shown)
    with contextlib.closing(handle), _ended(_blocks(handle, shown, report)) as blocks:
        cutter, records = Cutter(), Records(year)
        for chunk in cutter.chunks(unpacked(blocks, shown, report)):
            yield records.batch(chunk)
        if cutter.cut_lines:
            report(t("diagnose.input.long", file=shown, count=cutter.cut_lines, bytes=cutter.longest))
        last = records.rest()
        if last.lines:
            yield last


@contextlib.contextmanager
def _ended(blocks: Generator[bytes, None, None]) -> Generator[Generator[bytes, None, None], None, None]:
    """`contextlib.closing`, also where the thread that feeds a program still waits for the next block."""
    try:
        yield blocks
    finally:
        with contextlib.suppress(ValueError):
            blocks.close()


def _open(name: str, shown: str) -> BinaryIO:
    """Unbuffered, for reading. A folder, a missing or an unreadable file is one line."""
    try:
        if name == STDIN:
            # A copy, so that closing it leaves the standard input of the process alone.
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
        return Path(name).expanduser().open("rb", buffering=0)
    except IsADirectoryError as error:
        raise ConfigError(t("diagnose.error.folder", file=shown)) from error
    except (OSError, ValueError, AttributeError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(t("diagnose.error.open", file=shown, why=why or clean_line(str(error), 120))) from error


def _blocks(handle: BinaryIO, shown: str, report: Report) -> Generator[bytes, None, None]:
    """What the file holds, block by block; a fault in the middle ends it with a line, and what came counts."""
    regular = stat.S_ISREG(os.fstat(handle.fileno()).st_mode)
    start = handle.tell() if regular else 0
    done = dropped = start
    try:
        while block := handle.read(BLOCK):
            done += len(block)
            yield block
            if regular and done - dropped >= _DROP_EVERY:
                _drop(handle, dropped, done)
                dropped = done
    except OSError as error:
        if done == start:
            raise ConfigError(t("diagnose.error.open", file=shown, why=error.strerror or str(error))) from error
        report(t("diagnose.input.broken", file=shown, bytes=done - start, why=error.strerror or str(error)))
    finally:
        if regular:
            _drop(handle, start, done)


def _drop(handle: BinaryIO, start: int, end: int) -> None:
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(handle.fileno(), start, end - start, os.POSIX_FADV_DONTNEED)
