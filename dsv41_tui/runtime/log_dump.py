"""Lines that the operator wants in a file: plain text, owner only, under the state folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from dsv41_tui import paths


def write(lines: Iterable[str]) -> tuple[Path, int]:
    """A new file with these lines; gives its path and how many there are. Raises OSError."""
    folder = paths.state_dir() / "exports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _free(folder)
    count = 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
        file.flush()
        _drop_cache(file.fileno())
    return path, count


def _free(folder: Path) -> Path:
    """A name that is not taken: two dumps can fall in one second."""
    base = f"log-{time.strftime('%Y%m%dT%H%M%S')}"
    names = (folder / f"{base}{suffix}.txt" for suffix in ("", *(f"-{number}" for number in range(2, 100))))
    return next((name for name in names if not name.exists()), folder / f"{base}-{os.getpid()}.txt")


def _drop_cache(descriptor: int) -> None:
    """The panel often runs on a node whose free memory the driver needs."""
    os.fsync(descriptor)
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
