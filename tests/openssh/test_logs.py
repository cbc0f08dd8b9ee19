"""A followed log over a lost link, through a real sshd: every line once, in order."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.bed.panel import Panel, panel
from tests.bed.sshd import SshBed

pytestmark = pytest.mark.openssh

DOCKER = """#!/bin/sh
case $1 in
  --version) echo 'Docker version 28.2.2, build bed' ;;
  ps) echo 'abc|Up 2 hours|"vllm serve"' ;;
  container) printf 'id "abc"\\nname "/vllm"\\nimage "vllm:1"\\nstate "running"\\nstarted "2026-01-01T00:00:00Z"\\n' ;;
  events) exec sleep 4002 ;;
  logs)
    since=0
    while [ $# -gt 0 ]; do [ "$1" = --since ] && since=${2%Z}; shift; done
    tail -n +1 -F LOG | while read -r at text; do [ "$at" \\< "$since" ] || echo "$at $text"; done ;;
  *) exit 1 ;;
esac
"""
"""A docker that has the log of one container in a file, and begins at `--since` as the real one does, inclusive."""
CUTS = 2


@pytest.fixture
def log(bed_folder: Path) -> Path:
    folder = bed_folder / "logs-bin"
    folder.mkdir(exist_ok=True)
    file = folder / "log"
    file.write_text("")
    file.chmod(0o644)
    program = folder / "docker"
    program.write_text(DOCKER.replace("LOG", str(file)))
    program.chmod(0o755)
    return file


async def _write(file: Path, written: list[str]) -> None:
    """Some 300 numbered lines a second, several of one instant among them, until cancelled."""
    with file.open("a", buffering=1) as log:
        while True:
            at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"
            for _ in range(3):
                written.append(f"line {len(written) + 1}")
                log.write(f"{at} {written[-1]}\n")
            await asyncio.sleep(0.01)


def _texts(watched: Panel) -> list[str]:
    hub = watched.cluster.logs
    return [line.text for line in hub.lines(hub.first, hub.end) if line.source == "node/vllm"]


async def test_a_cut_link_leaves_no_gap_and_no_repeat(bed: SshBed, log: Path) -> None:
    server = bed.server(f"SetEnv PATH={log.parent}:/usr/local/bin:/usr/bin:/bin")
    written: list[str] = []
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        writing = asyncio.create_task(_write(log, written))
        for cut in range(1, CUTS + 1):
            before = len(written)
            await watched.until(lambda before=before: len(_texts(watched)) > before + 100)
            server.cut_connections()
            await watched.until(lambda cut=cut: watched.node().link.logins == cut + 1)
        before = len(written)
        await watched.until(lambda: len(_texts(watched)) > before + 100)
        writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writing
        await watched.until(lambda: len(_texts(watched)) >= len(written))
        await asyncio.sleep(1.0)  # what would be repeated comes by then
        assert _texts(watched) == written
