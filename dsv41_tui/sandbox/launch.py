"""Start the sandbox cluster in a process of its own, for `--demo`, the tests and the bench.

The process ends when our end of its standard input closes, so also when we are killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from dsv41_tui import paths
from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line
from dsv41_tui.sandbox.plan import MOST_NODES, PREFIX
from dsv41_tui.sandbox.scenario import load_scenario

READY_S = 30.0
"""A loaded machine of two cores has needed 3 s for 64 nodes."""
_END_S = 6.0
_KEPT = 4096


class SandboxHandle:
    """A running sandbox. `stop` ends it; so does the end of our own process."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any], errors: asyncio.Task[bytes]) -> None:
        self._process = process
        self._errors = errors
        self.config = Path(ready["config"])
        """The configuration to open."""
        self.folder = Path(ready["dir"])
        """Its private folder; it is gone after `stop`."""
        self._folders = (self.folder, Path(ready["quick"]))
        self.nodes: list[dict[str, Any]] = ready["nodes"]
        """For each node its name, role, host, port and root."""

    @property
    def pid(self) -> int:
        return self._process.pid

    async def stop(self) -> None:
        """End the process and see that its folders are gone; safe to call twice."""
        await _end(self._process)
        self._errors.cancel()
        # It removes its folders itself; this is for one that was killed.
        for folder in self._folders:
            if folder.name.startswith(PREFIX):
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def start_sandbox(
    scenario: str = "healthy", nodes: int = 2, nas: bool = True, base: Path | None = None, told: bool = False
) -> SandboxHandle:
    """Start it and wait until it is ready; `told` begins where the scenario shows what it is about.

    ConfigError for a wrong scenario or number, PanelError if it fails.
    """
    load_scenario(scenario)
    if not 1 <= nodes <= MOST_NODES:
        raise ConfigError(t("sandbox.error.nodes", count=nodes, most=MOST_NODES))
    argv = [sys.executable, "-m", "dsv41_tui.sandbox", f"--scenario={scenario}", f"--nodes={nodes}"]
    argv += ["--nas" if nas else "--no-nas"] + ([f"--dir={base}"] if base is not None else [])
    argv += ["--told"] if told else []
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    errors = asyncio.create_task(_tail(process.stderr))
    try:
        async with asyncio.timeout(READY_S):
            line = await process.stdout.readline()
        if not line:
            said = (await errors).decode("utf-8", "replace").strip().rpartition("\n")[2]
            why = clean_line(said) or f"exit code {await process.wait()}"
            raise PanelError(t("sandbox.error.died", why=why))
        return SandboxHandle(process, json.loads(line), errors)
    except TimeoutError:
        await _end(process)
        raise PanelError(t("sandbox.error.late", seconds=int(READY_S))) from None
    except BaseException:
        await asyncio.shield(_end(process))
        raise


def _environment() -> dict[str, str]:
    """Ours, with the package findable also where it is not installed."""
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(paths.PACKAGE.parent), *([known] if known else [])])}


async def _tail(stream: asyncio.StreamReader) -> bytes:
    """Read to the end, so that the sandbox never waits for us, and keep the last of it."""
    kept = b""
    while data := await stream.read(_KEPT):
        kept = (kept + data)[-_KEPT:]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, then ask, then kill."""
    if process.stdin is not None:
        process.stdin.close()
    for signal_it in (None, process.terminate, process.kill):
        try:
            if signal_it is not None:
                signal_it()
        except ProcessLookupError:
            pass
        try:
            async with asyncio.timeout(_END_S):
                await process.wait()
            return
        except TimeoutError:
            continue
