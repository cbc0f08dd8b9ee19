"""What a panel leaves behind, nothing, and whom it talks to, the configured hosts alone."""

from __future__ import annotations

import asyncio
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsv41_tui.transport import scripts
from tests.bed.panel import panel
from tests.bed.sshd import SshBed
from tests.bed.users import Users, pids_of
from tests.bed.wire import wire

pytestmark = pytest.mark.openssh

ENDS_WITHIN_S = 10.0


async def _gone(user: str, limit_s: float = ENDS_WITHIN_S) -> None:
    for _ in range(int(limit_s / 0.1)):
        if not pids_of(user):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"processes of {user} live on: {[_command(pid) for pid in pids_of(user)]}")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return "ended"


@pytest.fixture(scope="module", params=["bash", "dash", "ash"])
def account(request: pytest.FixtureRequest, users: Users, bed_folder: Path) -> str:
    """Its processes are those of one test."""
    kind = str(request.param)
    shell = {"bash": "/bin/bash", "dash": "/bin/dash"}.get(kind)
    if shell is None:
        link = bed_folder / "traces" / "ash"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to("/bin/busybox")
        shell = str(link)
    return users.add(f"traces{kind}", shell=shell)


DOCKER = """#!/bin/sh
case $1 in
  --version) echo 'Docker version 28.2.2, build bed' ;;
  ps) echo 'abc|Up 2 hours|"vllm serve"' ;;
  container) printf 'id "abc"\\nname "/vllm"\\nimage "vllm:1"\\nstate "running"\\nstarted "2026-01-01T00:00:00Z"\\n' ;;
  logs) echo '2026-01-01T00:00:01.000000000Z hello'; exec sleep 4001 ;;
  events) exec sleep 4002 ;;
  *) exit 1 ;;
esac
"""
"""Followers that wait for ever: they notice no end by themselves."""


@pytest.fixture(scope="module")
def docker_path(bed_folder: Path) -> str:
    """A line of sshd_config that puts a docker with one running container on the path."""
    program = bed_folder / "traces-bin" / "docker"
    program.parent.mkdir()
    program.write_text(DOCKER)
    program.chmod(0o755)
    return f"SetEnv PATH={program.parent}:/usr/local/bin:/usr/bin:/bin"


async def _followed(user: str) -> None:
    """Wait until the log and the events of the containers are followed."""
    for _ in range(200):
        commands = [_command(pid) for pid in pids_of(user)]
        if all(any(wanted in command for command in commands) for wanted in ("sleep 4001", "sleep 4002")):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not followed: {commands}")


async def test_nothing_lives_on_after_quit(bed: SshBed, account: str, docker_path: str) -> None:
    server = bed.server(docker_path, user=account)
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await _followed(account)
        await watched.until(lambda: watched.cluster.logs.end > 1)
        assert len(pids_of(account)) >= 4
    await _gone(account)


async def test_nothing_lives_on_after_the_panel_is_killed(
    bed: SshBed, account: str, docker_path: str, tmp_path: Path
) -> None:
    server = bed.server(docker_path, user=account)
    node = bed.client.node(server, role="head")
    program = tmp_path / "panel.py"
    program.write_text(
        textwrap.dedent(f"""
        import asyncio
        from dsv41_tui.config import Config, NodeConfig
        from dsv41_tui.runtime.cluster import Cluster

        async def main():
            cluster = Cluster(Config(node=(NodeConfig.model_validate_json({node.model_dump_json()!r}),)))
            await cluster.start()
            while cluster.store.state.nodes[0].shm.value is None:
                await asyncio.sleep(0.05)
            print("up", flush=True)
            await asyncio.sleep(600)

        asyncio.run(main())
        """)
    )
    process = await asyncio.create_subprocess_exec(sys.executable, str(program), stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 30) == b"up\n"
    await _followed(account)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await _gone(account)


async def test_nothing_lives_on_behind_a_cut_cable(
    bed: SshBed, account: str, docker_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd never learns of the cut; the lease of each script ends it. Here the lease is 8 s instead of 15 minutes."""
    lease_s = 8
    assert f" {scripts.LEASE_S} " in scripts._BOOTSTRAP
    monkeypatch.setattr(scripts, "_BOOTSTRAP", scripts._BOOTSTRAP.replace(f" {scripts.LEASE_S} ", f" {lease_s} "))
    server = bed.server(docker_path, user=account)
    async with wire(server.port) as cable:
        bed.client.trust(server, cable.port)
        async with panel(bed.client.node(server, port=cable.port, role="head")) as watched:
            await watched.until_up()
            await _followed(account)
            cable.cut()
        assert _scripts(account)
        end = asyncio.get_running_loop().time() + lease_s + ENDS_WITHIN_S
        while _scripts(account):
            assert asyncio.get_running_loop().time() < end, [_command(pid) for pid in pids_of(account)]
            await asyncio.sleep(0.1)


def _scripts(account: str) -> list[int]:
    """All but the sshd of the connection, which waits for the cable as any sshd does."""
    return [pid for pid in pids_of(account) if not _command(pid).startswith("sshd")]


@pytest.fixture
def contacted() -> Iterator[set[tuple[object, ...]]]:
    """Every address that this process connects or sends to, or looks up."""
    seen: set[tuple[object, ...]] = set()
    listening = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
            seen.add(arguments[1][:2])
        if listening and event in ("socket.getaddrinfo", "socket.gethostbyname"):
            seen.add((arguments[0], "looked up"))

    sys.addaudithook(hook)  # cannot be taken out again; it is deaf after the test
    yield seen
    listening = False


async def test_only_configured_hosts_are_contacted(bed: SshBed, contacted: set[tuple[object, ...]]) -> None:
    server, other = bed.server(), bed.server()
    contacted.clear()
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await watched.until(lambda: watched.node().shm.value is not None)
        server.cut_connections()
        await watched.until(lambda: watched.node().link.logins == 2)
    assert contacted <= {("127.0.0.1", server.port), ("127.0.0.1", "looked up")}
    assert other.logins() == 0
