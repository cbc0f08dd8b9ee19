"""However the sandbox or its panel ends: no process and no folder is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.sandbox import launch
from tests.sandbox.conftest import Start, belonging_to, login, until

pytestmark = pytest.mark.sandbox

BUSY = (
    "setsid sleep 3000 & timeout 2900 sleep 2800 & (trap '' TERM HUP INT; sleep 2700) & "
    "nvidia-smi --query-gpu=name --format=csv,noheader,nounits -l 1 & sleep 2600"
)


async def busy(sandbox: launch.SandboxHandle) -> set[int]:
    """Start commands of every kind on a node; returns their processes."""
    connection = await login(sandbox, "spark1")
    process = await connection.create_process(BUSY)
    await process.stdout.readline()
    await until(lambda: len(belonging_to(sandbox.folder)) >= 7)
    return set(belonging_to(sandbox.folder))


def gone(pids: set[int]) -> bool:
    return not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)


async def test_stop_leaves_nothing(start: Start) -> None:
    sandbox = await start("healthy", nodes=1)
    pids = await busy(sandbox)
    await sandbox.stop()
    assert not psutil.pid_exists(sandbox.pid) and not sandbox.folder.exists()
    assert gone(pids) and not list(Path("/dev/shm").glob(f"{sandbox.folder.name}*"))
    await sandbox.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_leaves_nothing(start: Start, number: signal.Signals) -> None:
    sandbox = await start("healthy", nodes=1)
    pids = await busy(sandbox)
    quick = Path(sandbox.nodes[0]["root"], "proc").resolve().parent.parent
    os.kill(sandbox.pid, number)
    await until(lambda: not sandbox.folder.exists() and not quick.exists() and gone({*pids, sandbox.pid}))


async def test_after_kill_9_of_the_sandbox_stop_removes_its_folders(start: Start) -> None:
    sandbox = await start("healthy", nodes=1)
    quick = Path(sandbox.nodes[0]["root"], "proc").resolve().parent.parent
    os.kill(sandbox.pid, signal.SIGKILL)
    await until(lambda: gone({sandbox.pid}))
    assert sandbox.folder.exists() and quick.exists()
    await sandbox.stop()
    assert not sandbox.folder.exists() and not quick.exists()


PANEL = """
import asyncio, json
from dsv41_tui.sandbox.launch import start_sandbox
async def main():
    sandbox = await start_sandbox("healthy", nodes=1)
    print(json.dumps({"pid": sandbox.pid, "dir": str(sandbox.folder)}), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_it_dies_with_a_panel_that_is_killed() -> None:
    panel = await asyncio.create_subprocess_exec(sys.executable, "-c", PANEL, stdout=asyncio.subprocess.PIPE)
    assert panel.stdout is not None
    told = json.loads(await panel.stdout.readline())
    panel.kill()
    await panel.wait()
    await until(lambda: gone({told["pid"]}) and not Path(told["dir"]).exists())


async def test_what_a_channel_started_ends_with_it(start: Start) -> None:
    sandbox = await start("healthy", nodes=1, nas=False)
    async with login(sandbox, "spark1") as node:
        process = await node.create_process("timeout 900 sleep 800 & (trap '' TERM HUP; sleep 700) & echo x; sleep 600")
        await process.stdout.readline()
        await until(lambda: len(belonging_to(sandbox.folder)) >= 5)
        process.close()
        await until(lambda: not belonging_to(sandbox.folder))


async def test_what_a_lost_connection_started_ends_and_a_detached_job_stays(start: Start) -> None:
    sandbox = await start("healthy", nodes=1, nas=False)
    node = await login(sandbox, "spark1")
    process = await node.create_process("setsid sleep 900 >/dev/null 2>&1 </dev/null & echo x; sleep 600")
    await process.stdout.readline()
    await until(lambda: len(belonging_to(sandbox.folder)) == 3)
    node.abort()
    await until(lambda: len(belonging_to(sandbox.folder)) == 1)
    (job,) = belonging_to(sandbox.folder)
    assert psutil.Process(job).cmdline()[-2:] == ["sleep", "900"]
    await sandbox.stop()
    assert gone({job})


async def test_input_that_ends_at_once_ends_it() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dsv41_tui.sandbox", "--nodes", "1"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, err) == (0, b"")
    assert not Path(json.loads(out)["dir"]).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scenario", "nosuch"], "healthy"),
        (["--nodes", "0"], "1 to 64"),
        (["--dir", "/nonexistent/place"], "/nonexistent/place"),
        (["--dir", "/tmp/a b"], "a b"),
    ],
)
async def test_a_wrong_call_is_one_line(words: list[str], said: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dsv41_tui.sandbox", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, out) == (2, b"")
    assert said in err.decode() and err.count(b"\n") == 1


async def test_a_sandbox_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(PanelError) as caught:
        await launch.start_sandbox("healthy", base=tmp_path / "not-there")
    assert "not-there" in caught.value.message and not isinstance(caught.value, ConfigError)
