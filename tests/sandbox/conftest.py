"""A sandbox in a process of its own, and what its processes are."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh
import psutil
import pytest
import pytest_asyncio

from dsv41_tui.sandbox.launch import SandboxHandle, start_sandbox
from dsv41_tui.sandbox.server import USER

Start = Callable[..., Awaitable[SandboxHandle]]

NODE = """
gpu = { percent = 96, watts = 62, celsius = 68, sm_mhz = 2411 }
memory = [{ at_s = 0, gpu_gib = 106.2, anon_gib = 5.0, shmem_gib = 2.6, cache_gib = 1.6 }]
"""


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """`start_sandbox` whose sandboxes end with the test."""
    handles: list[SandboxHandle] = []

    async def begin(*arguments: Any, **options: Any) -> SandboxHandle:
        handles.append(await start_sandbox(*arguments, **options))
        return handles[-1]

    yield begin
    for handle in handles:
        await handle.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[SandboxHandle]:
    """One healthy pair for the tests of a module that change nothing."""
    handle = await start_sandbox("healthy")
    yield handle
    await handle.stop()


def outage(folder: Path, stops: float, returns: float | None = None) -> str:
    """A scenario of one's own: node 2 reads, the NAS goes, and returns if it does."""
    text = f"[head]{NODE}[worker]{NODE}[[read]]\nnode = 2\nduration_s = 900\nmib_per_s = 600\n"
    text += f'[[event]]\nat_s = {stops}\nwhat = "nas-stops"\n'
    if returns is not None:
        text += f'[[event]]\nat_s = {returns}\nwhat = "nas-returns"\n'
    file = folder / "outage.toml"
    file.write_text(text)
    return str(file)


def login(sandbox: SandboxHandle, name: str, **changes: Any) -> Any:
    """Options and context of an asyncssh connection to a node, as its configuration says."""
    node = next(node for node in sandbox.nodes if node["name"] == name)
    options: dict[str, Any] = {
        "host": node["host"],
        "port": node["port"],
        "username": USER,
        "client_keys": [str(sandbox.folder / "id_ed25519")],
        "known_hosts": str(sandbox.folder / "known_hosts"),
        "config": [],
        "agent_path": None,
    }
    return asyncssh.connect(**{**options, **changes})


async def said(connection: asyncssh.SSHClientConnection, command: str) -> str:
    """Standard output of a command that must succeed."""
    return str((await connection.run(command, check=True)).stdout)


def belonging_to(folder: Path) -> list[int]:
    """Processes that were started on a node of this sandbox, by their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and str(folder) in process.environ().get(
                "DSV41_SANDBOX_ROOT", ""
            ):
                found.append(process.pid)
    return found


async def until(condition: Callable[[], object], limit_s: float = 15.0) -> None:
    """Wait until it holds; the limit is only there so that a test that fails ends."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "did not come about"
        await asyncio.sleep(0.05)
