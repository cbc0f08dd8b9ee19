"""A program in a pseudo-terminal, with a count of what it writes and when."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Sequence

import psutil


class Terminal:
    """Runs `argv` in a terminal of `columns` x `rows`; a thread reads all that it writes."""

    def __init__(self, argv: Sequence[str], columns: int = 160, rows: int = 50, **environment: str) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        settings = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **environment}
        self.started = time.monotonic()
        self._process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=settings, start_new_session=True, close_fds=True
        )
        os.close(slave)
        self._master = master
        self.written = bytearray()
        self.process = psutil.Process(self._process.pid)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._master, 65536):
                self.written += data

    def seconds_until(self, *marks: bytes, limit_s: float = 30.0) -> float:
        """Seconds from the start until all marks were written; at one thousandth of a second."""
        while not all(mark in self.written for mark in marks):
            if time.monotonic() - self.started > limit_s:
                raise TimeoutError(f"{marks} not written within {limit_s} s: {bytes(self.written[-2000:])!r}")
            select.select([], [], [], 0.001)
        return time.monotonic() - self.started

    def send(self, data: bytes) -> None:
        """Press keys."""
        os.write(self._master, data)

    def cpu_s(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._master)


@contextlib.contextmanager
def terminal(argv: Sequence[str], columns: int = 160, rows: int = 50, **environment: str) -> Iterator[Terminal]:
    """A `Terminal` that is closed at the end."""
    opened = Terminal(argv, columns, rows, **environment)
    try:
        yield opened
    finally:
        opened.close()
