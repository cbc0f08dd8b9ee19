"""Named pipes between the sandbox and the stand-ins of one node.

A stand-in that waits for time or for the NAS opens a pipe and blocks. So it costs nothing, starts no other program,
ends at the first signal, and wakes when the sandbox writes or ends.
"""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from dsv41_tui.sandbox.files import CONTROL

_ABANDONED_S = 5.0


class Pipes:
    """The pipes below one node's control folder."""

    def __init__(self, root: Path) -> None:
        self._ticks = root / CONTROL / "ticks"
        self._gone = root / CONTROL / "nas-gone"
        self._writers: dict[Path, int] = {}

    def nas(self, *, down: bool) -> None:
        """While `down`, the stand-in `stat -f` waits below NFS mounts; afterwards every one that waits goes on."""
        there = self._gone.exists()
        if down and not there:
            os.mkfifo(self._gone)
        elif there and not down:
            # Opened for both ways, it never blocks and lets every waiting reader through.
            descriptor = os.open(self._gone, os.O_RDWR | os.O_NONBLOCK)
            self._gone.unlink()
            os.close(descriptor)

    def second(self) -> None:
        """Tell every waiting stand-in that a second has passed; forget those that ended."""
        for entry in os.scandir(self._ticks):
            path = Path(entry.path)
            try:
                if path not in self._writers:
                    self._writers[path] = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                os.write(self._writers[path], b"\n")
            except BlockingIOError:
                continue  # it is stopped, or busy printing to a full channel
            except OSError as error:
                opening = error.errno == errno.ENXIO and time.time() - entry.stat().st_mtime < _ABANDONED_S
                if not opening:
                    self._forget(path)

    def _forget(self, path: Path) -> None:
        descriptor = self._writers.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)
        path.unlink(missing_ok=True)
