"""A flood of log lines: how long a key waits for its frame beside the same panel without it, and memory."""

from __future__ import annotations

import math
import sys
import time

from tests.bench.report import Row
from tests.bench.terminal import Terminal, terminal

PANEL = [sys.executable, "-m", "tests.ui.pty_panel", "--state", "healthy", "--still"]
LINES_PER_S = 20_000
SETTLE_S = 5.0
LIMIT_S = 10.0
PAUSE_S = 0.11
"""Between keys: no multiple of the panel's own ticks, so that keys fall everywhere between them."""


def flood(window_s: float) -> list[Row]:
    """p95 of key to frame in the log view, alone on the screen, while 20,000 lines a second come in."""
    calm, _, _ = _measure(200, window_s)
    delay, first, last = _measure(LINES_PER_S, window_s)
    name = "200 lines/s"
    return [
        Row.floor(f"key to frame p95, {LINES_PER_S:,} log lines/s", "ms", delay, calm, name, 50.0),
        Row.ratio("panel memory at the end of the flood", "MiB", last, first, "after its first seconds", 1.1),
    ]


def _measure(lines_per_s: int, window_s: float) -> tuple[float, float, float]:
    """Milliseconds, and MiB resident before and after."""
    with terminal([*PANEL, "--flood", str(lines_per_s)]) as panel:
        panel.seconds_until(b"WATCHING")
        for key in b"6z":
            panel.send(bytes([key]))
            time.sleep(PAUSE_S)
        panel.seconds_until(b"following")
        time.sleep(SETTLE_S)
        first = panel.process.memory_info().rss / (1 << 20)
        delays: list[float] = []
        end = time.monotonic() + window_s
        while time.monotonic() < end:
            for word in (b"paused", b"following"):
                delays.append(_to_frame(panel, word))
                time.sleep(PAUSE_S)
        last = panel.process.memory_info().rss / (1 << 20)
    delays.sort()
    return delays[math.ceil(0.95 * len(delays)) - 1] * 1000, first, last


def _to_frame(panel: Terminal, word: bytes) -> float:
    """From the key that stops the log, or lets it go on, until its title says so."""
    before, began = len(panel.written), time.monotonic()
    panel.send(b" ")
    while word not in panel.written[before:]:
        if time.monotonic() - began > LIMIT_S:
            raise TimeoutError(f"a key was not answered within {LIMIT_S} s")
        time.sleep(0.0005)
    return time.monotonic() - began
