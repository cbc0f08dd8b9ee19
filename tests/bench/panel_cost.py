"""What the panel costs the operator's machine: first frame, live data, CPU, memory, bytes to the terminal."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.report import Row
from tests.bench.terminal import terminal

PANEL = [sys.executable, "-m", "dsv41_tui"]
BARE = [sys.executable, "-m", "tests.bench.bare_app"]
GPU = b"106."
"""What the GPU holds on a sandbox node, in GiB: on the screen only when a reading is."""
SETTLE_S = 8.0


@contextmanager
def sandbox(*arguments: str) -> Iterator[str]:
    """A sandbox cluster in a process of its own; gives its configuration file."""
    import json

    argv = [sys.executable, "-m", "dsv41_tui.sandbox", *arguments]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        ready: dict[str, Any] = json.loads(process.stdout.readline())
        try:
            yield str(ready["config"])
        finally:
            process.stdin.close()
            process.wait(20)


def first_frame(rounds: int) -> Row:
    """Panel and bare app in turn, each in a fresh process; medians."""
    ours, bare = [], []
    with sandbox("--scenario", "healthy", "--nodes", "2") as config:
        for _ in range(rounds):
            with terminal(BARE) as peer:
                bare.append(peer.seconds_until(b"widget-7"))
            with terminal([*PANEL, "--config", config]) as panel:
                ours.append(panel.seconds_until(b"Memory", b"NFS"))
    return Row.ratio("first frame", "s", statistics.median(ours), statistics.median(bare), "bare Textual app", 1.5)


def live_data(rounds: int) -> Row:
    """From the start of the process to a reading of a node on the screen; sandbox already running."""
    seconds = []
    with sandbox("--scenario", "healthy", "--nodes", "2") as config:
        for _ in range(rounds):
            with terminal([*PANEL, "--config", config]) as panel:
                seconds.append(panel.seconds_until(GPU))
    return Row("live data from two nodes", "s", statistics.median(seconds), limit=1.5)


def _peer_cpu(window_s: float) -> float:
    """CPU of the bare app with its eight changing widgets, percent of a core: what this machine asks for so little."""
    with terminal(BARE) as peer:
        peer.seconds_until(b"widget-7")
        time.sleep(SETTLE_S / 2)
        cpu, began = peer.cpu_s(), time.monotonic()
        time.sleep(window_s)
        return (peer.cpu_s() - cpu) / (time.monotonic() - began) * 100


def steady(nodes: int, window_s: float) -> list[Row]:
    """CPU, memory and terminal bytes at 1 Hz."""
    with (
        sandbox("--scenario", "healthy", "--nodes", str(nodes)) as config,
        terminal([*PANEL, "--config", config]) as panel,
    ):
        panel.seconds_until(f"{nodes + 1} of {nodes + 1}".encode(), limit_s=60)
        time.sleep(SETTLE_S)
        cpu, written, began = panel.cpu_s(), len(panel.written), time.monotonic()
        time.sleep(window_s)
        elapsed = time.monotonic() - began
        share = (panel.cpu_s() - cpu) / elapsed * 100
        rate = (len(panel.written) - written) / elapsed
        memory = panel.process.memory_info().rss / (1 << 20)
    budget_cpu, peer = (1.5 if nodes <= 2 else 30.0), _peer_cpu(window_s)
    name = "eight changing widgets"
    rows = [Row.floor(f"panel CPU, {nodes} nodes at 1 Hz", "% of a core", share, peer, name, budget_cpu)]
    rows.append(Row(f"bytes to the terminal, {nodes} nodes", "B/s", rate, limit=2048 if nodes <= 2 else None))
    rows.append(Row(f"panel memory, {nodes} nodes", "MiB", memory, limit=80 if nodes <= 2 else None))
    return rows


def still(window_s: float, folder: Path) -> Row:
    """Bytes when nothing changes: one node that is not there, so that only the clock and its age move."""
    config = folder / "still.toml"
    config.write_text('[[node]]\nname = "spark1"\nrole = "head"\nhost = "127.0.0.1"\nport = 1\nssh_config = ""\n')
    with terminal([*PANEL, "--config", str(config)]) as panel:
        panel.seconds_until(b"spark1")
        time.sleep(SETTLE_S)
        written, began = len(panel.written), time.monotonic()
        time.sleep(window_s)
        rate = (len(panel.written) - written) / (time.monotonic() - began)
    return Row("bytes to the terminal, nothing changes", "B/s", rate, limit=300)
