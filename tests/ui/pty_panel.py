"""The panel in a terminal of its own, on a made-up cluster: run as a program by the tests that need a real pty.

`python -m tests.ui.pty_panel [--still] [--state NAME] [--fault] [--welcome] [--hostile] [--flood N]`
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui.run import run_panel
from dsv41_tui.ui.source import Cluster


async def ticking(name: str, *, still: bool, fault: bool, hostile: bool = False, flood: int = 0) -> Cluster:
    """A cluster on the real clock; each node's readings change once a second unless it is still."""
    from tests.ui import moving

    if fault:
        raise ZeroDivisionError("a fault on purpose")
    return moving.MovingCluster(name, still=still, hostile=hostile, flood=flood)


class NoActions:
    """A welcome that does nothing."""

    async def demo(self) -> Path | str:
        return Path("demo")

    async def this_machine(self) -> Path | str:
        return "this machine cannot be read: no /proc"

    async def hosts(self, names: list[str]) -> Path | str:
        await asyncio.sleep(0)
        return f"no such hosts: {', '.join(names)}"

    async def env_file(self, path: str) -> Path | str:
        return f"{path}: not found"


def main() -> int:
    load_language()
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", default="healthy")
    for flag in ("--still", "--fault", "--welcome", "--blocked", "--hostile"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--flood", type=int, default=0, help="log lines a second")
    chosen = parser.parse_args()
    welcome = NoActions() if chosen.welcome else None

    async def open_cluster(path: Path | None) -> Cluster:
        if chosen.blocked:
            await asyncio.sleep(1.0)
            print("\x1b]0;blocked\x07", end="", file=sys.__stdout__, flush=True)
            while True:
                time.sleep(1.0)
        return await ticking(
            chosen.state, still=chosen.still, fault=chosen.fault, hostile=chosen.hostile, flood=chosen.flood
        )

    return run_panel(open_cluster, welcome=welcome)


if __name__ == "__main__":
    sys.exit(main())
