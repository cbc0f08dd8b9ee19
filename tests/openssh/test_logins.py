"""Keys: host keys that are unknown or changed, logins that are refused, and the operator's own ssh settings."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from dsv41_tui.config import NodeConfig
from tests.bed.panel import Panel, panel
from tests.bed.sshd import SshBed, make_key

pytestmark = pytest.mark.openssh


def _fingerprint(key: Path) -> str:
    listed = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True, text=True)
    return listed.stdout.split()[1]


async def _do(commands: tuple[str, ...], folder: Path) -> None:
    """Do exactly what the panel told the operator to, and answer ssh's question with yes."""
    yes = folder / "yes"
    yes.write_text("#!/bin/sh\necho yes\n")
    yes.chmod(0o755)
    environment = os.environ | {"SSH_ASKPASS": str(yes), "SSH_ASKPASS_REQUIRE": "force"}
    for command in commands:
        process = await asyncio.create_subprocess_exec(*shlex.split(command), env=environment, stdin=subprocess.DEVNULL)
        assert await asyncio.wait_for(process.wait(), 20) == 0, command


async def _refused(watched: Panel) -> str:
    await watched.until(lambda: watched.finding("link-refused", "node"))
    return watched.node().link.why or ""


async def test_an_unknown_host_key_is_shown_and_accepted_by_the_operator_alone(bed: SshBed) -> None:
    server = bed.server(trusted=False)
    async with panel(bed.client.node(server)) as watched:
        why = await _refused(watched)
        assert _fingerprint(server.host_key) in why
        assert bed.client.known_hosts.read_text() == "" and server.logins() == 0
        found = watched.finding("link-refused", "node")
        assert found is not None and [cause.cause_id for cause in found.causes] == ["ssh_hostkey_unknown"]
        await _do(watched.node().link.fix, bed.client.folder)
        watched.cluster.refresh()
        await watched.until_up()


async def test_a_changed_host_key_is_refused_until_the_operator_takes_the_old_one_out(bed: SshBed) -> None:
    server = bed.server()
    before = _fingerprint(server.host_key)
    async with panel(bed.client.node(server)) as watched:
        await watched.until_up()
        known = bed.client.known_hosts.read_text()
        server.change_host_key()
        await watched.until(lambda: watched.node().link.kind == "refused")
        why = watched.node().link.why or ""
        assert before in why and _fingerprint(server.host_key) in why
        assert bed.client.known_hosts.read_text() == known
        found = watched.finding("link-refused", "node")
        assert found is not None and [cause.cause_id for cause in found.causes] == ["ssh_hostkey_changed"]
        assert len(watched.node().link.fix) == 2
        await _do(watched.node().link.fix, bed.client.folder)
        watched.cluster.refresh()
        await watched.until_up()


async def test_a_refused_key_is_said_and_tried_slowly(bed: SshBed) -> None:
    server = bed.server()
    server.authorize("")
    async with panel(bed.client.node(server)) as watched:
        why = await _refused(watched)
        assert f"{server.user}@127.0.0.1:{server.port}" in why
        assert any("ssh-copy-id" in command for command in watched.node().link.fix)
        wait = (watched.node().link.retry_at or 0.0) - watched.cluster.store.now()
        assert wait > 30
        await asyncio.sleep(3)
        assert len(re.findall(r"Connection from", server.log.read_text())) == 2  # ours, and the bed's own greeting
        server.authorize(bed.client.public_key)
        watched.cluster.refresh()
        await watched.until_up()


async def test_a_server_that_would_ask_for_a_password_is_not_waited_for(bed: SshBed) -> None:
    server = bed.server("PasswordAuthentication yes", "KbdInteractiveAuthentication yes")
    server.authorize("")
    async with panel(bed.client.node(server)) as watched:
        await _refused(watched)
        assert watched.finding("link-timed-out") is None


async def test_a_key_with_a_passphrase_says_what_to_do(bed: SshBed) -> None:
    server = bed.server()
    locked = make_key(bed.client.folder / "locked", passphrase="secret words")
    server.authorize(locked.with_suffix(".pub").read_text())
    async with panel(bed.client.node(server, identity_file=str(locked))) as watched:
        why = await _refused(watched)
        assert str(locked) in why
        assert watched.node().link.fix[0] == f"ssh-add {locked}"


async def test_an_agent_holds_the_key(bed: SshBed, monkeypatch: pytest.MonkeyPatch) -> None:
    server = bed.server()
    socket = bed.client.folder / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        while not socket.exists():
            await asyncio.sleep(0.02)
        subprocess.run(["ssh-add", "-q", str(bed.client.key)], check=True)
        bed.client.ssh_config.write_text(_host(bed, server.port, server.user, key=False))
        async with panel(_alias(bed)) as watched:
            await watched.until_up()
    finally:
        agent.terminate()
        agent.wait()


def _host(bed: SshBed, port: int, user: str, name: str = "spark1", key: bool = True) -> str:
    lines = [
        f"Host {name}",
        "  HostName 127.0.0.1",
        f"  Port {port}",
        f"  User {user}",
        f"  UserKnownHostsFile {bed.client.known_hosts}",
        *([f"  IdentityFile {bed.client.key}"] if key else []),
    ]
    return "\n".join(lines) + "\n"


def _alias(bed: SshBed, name: str = "spark1") -> NodeConfig:
    """A node that is an alias of the operator's ssh_config and nothing else."""
    return NodeConfig(name="node", ssh=name, ssh_config=str(bed.client.ssh_config))


async def test_an_alias_of_the_ssh_config(bed: SshBed) -> None:
    server = bed.server()
    bed.client.ssh_config.write_text(_host(bed, server.port, server.user))
    async with panel(_alias(bed)) as watched:
        await watched.until_up()


async def test_an_ssh_config_that_only_openssh_understands(bed: SshBed) -> None:
    """asyncssh does not parse every file that ssh does; then ssh itself is asked."""
    server = bed.server()
    odd = 'Match exec "test 1 = 1" host spark1\n  Port 1\n'
    bed.client.ssh_config.write_text(_host(bed, server.port, server.user) + odd + "Include no-such-file*\n")
    async with panel(_alias(bed)) as watched:
        await watched.until_up()


async def test_a_jump_host(bed: SshBed) -> None:
    inner, gate = bed.server(), bed.server()
    text = _host(bed, inner.port, inner.user) + "  ProxyJump gate\n" + _host(bed, gate.port, gate.user, name="gate")
    bed.client.ssh_config.write_text(text)
    async with panel(_alias(bed)) as watched:
        await watched.until_up()
        assert gate.logins() == 1 and inner.logins() == 1
        gate.cut_connections()
        await watched.until(lambda: watched.node().link.logins == 2)
        await watched.until_up()


async def test_a_jump_host_with_an_unknown_key_is_named(bed: SshBed) -> None:
    inner, gate = bed.server(), bed.server(trusted=False)
    text = _host(bed, inner.port, inner.user) + "  ProxyJump gate\n" + _host(bed, gate.port, gate.user, name="gate")
    bed.client.ssh_config.write_text(text)
    async with panel(_alias(bed)) as watched:
        assert _fingerprint(gate.host_key) in await _refused(watched)
        await _do(watched.node().link.fix, bed.client.folder)
        watched.cluster.refresh()
        await watched.until_up()
