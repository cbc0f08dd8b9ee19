"""`python -m dsv41_tui.sandbox`: the cluster as a process of its own, which ends with its standard input."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.language import load_language
from dsv41_tui.sandbox.plan import MOST_NODES
from dsv41_tui.sandbox.scenario import Scenario, load_scenario, names


def main(words: Sequence[str] | None = None) -> int:
    """Run until standard input ends or a signal comes; 2 for a wrong call, with one line on stderr."""
    load_language()
    call = _arguments(words)
    try:
        if not 1 <= call.nodes <= MOST_NODES:
            raise ConfigError(t("sandbox.error.nodes", count=call.nodes, most=MOST_NODES))
        asyncio.run(_run(load_scenario(call.scenario), call))
    except ConfigError as error:
        sys.stderr.write(f"{error.message}\n")
        return 2
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m dsv41_tui.sandbox", description=t("sandbox.help"))
    parser.add_argument("--scenario", default="healthy", help=t("sandbox.help-scenario", known=", ".join(names())))
    parser.add_argument("--nodes", type=int, default=2, help=t("sandbox.help-nodes", most=MOST_NODES))
    parser.add_argument("--nas", action=argparse.BooleanOptionalAction, default=True, help=t("sandbox.help-nas"))
    parser.add_argument("--told", action="store_true", help=t("sandbox.help-told"))
    parser.add_argument("--dir", type=Path, metavar="DIR", help=t("sandbox.help-dir"))
    return parser.parse_args(words)


async def _run(scenario: Scenario, call: argparse.Namespace) -> None:
    from dsv41_tui.sandbox.cluster import Sandbox

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    # A thread, since standard input can be a pipe, a terminal or a file, and not all of them can be polled.
    threading.Thread(target=_wait_for_end_of_input, args=(loop, stop), daemon=True).start()
    sandbox = Sandbox(scenario, call.nodes, nas=call.nas, ahead_s=scenario.told_s if call.told else 0.0)
    try:
        ready = await sandbox.start(call.dir)
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await sandbox.run(stop)
    finally:
        await sandbox.stop()


def _wait_for_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    try:
        loop.call_soon_threadsafe(stop.set)
    except RuntimeError:
        pass  # the loop is closed: a signal was first


if __name__ == "__main__":
    sys.exit(main())
