"""One connection, without the panel: what it leaves at the server, and the kind of each error."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncssh
import pytest

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, Refused, Unreachable
from dsv41_tui.transport import ssh
from dsv41_tui.transport.channel import ChannelsExhausted
from tests.bed.sshd import SshBed, SshServer
from tests.bed.wire import wire

pytestmark = pytest.mark.openssh


async def _left(server: SshServer, count: int) -> bool:
    """Whether `server` comes to have `count` connections."""
    for _ in range(100):
        if len(server.connections()) == count:
            return True
        await asyncio.sleep(0.05)
    return False


def _behind_gate(bed: SshBed, inner: SshServer, gate: SshServer) -> NodeConfig:
    lines = [
        f"Host {name}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n"
        f"  IdentityFile {bed.client.key}\n"
        for name, server in (("inner", inner), ("gate", gate))
    ]
    bed.client.ssh_config.write_text("".join(lines))
    files = {"known_hosts": str(bed.client.known_hosts), "ssh_config": str(bed.client.ssh_config)}
    return NodeConfig(name="node", ssh="inner", proxy_jump="gate", **files)


async def test_the_jump_connection_ends_with_the_node(bed: SshBed) -> None:
    inner, gate = bed.server(), bed.server()
    node = await ssh.connect(_behind_gate(bed, inner, gate))
    assert await _left(gate, 1)
    await node.close()
    assert await _left(gate, 0) and await _left(inner, 0)


async def test_the_jump_connection_ends_when_the_node_is_lost(bed: SshBed) -> None:
    inner, gate = bed.server(), bed.server()
    node = await ssh.connect(_behind_gate(bed, inner, gate))
    inner.cut_connections()
    with pytest.raises(Unreachable):
        await node.wait_closed()
    assert await _left(gate, 0)


async def test_a_channel_that_comes_too_late_is_closed(bed: SshBed, monkeypatch: pytest.MonkeyPatch) -> None:
    server = bed.server("MaxSessions 1")
    async with wire(server.port) as cable:
        bed.client.trust(server, cable.port)
        node = await ssh.connect(bed.client.node(server, port=cable.port))
        with monkeypatch.context() as hasty:
            hasty.setattr(ssh, "OPEN_TIMEOUT_S", 0.3)
            cable.cut()
            with pytest.raises(LinkError, match="no channel within"):
                await node.open("cat")
            cable.mend()
        assert await _free(node)
        await node.close()


async def _free(node: ssh.SshNode) -> bool:
    """Whether the one session of this connection comes free."""
    for _ in range(40):
        try:
            return await (await node.open("true")).wait() == 0
        except ChannelsExhausted:
            await asyncio.sleep(0.1)
    return False


async def test_sessions_that_sshd_refuses_are_told_from_a_lost_connection(bed: SshBed) -> None:
    server = bed.server("MaxSessions 1")
    node = await ssh.connect(bed.client.node(server))
    await node.open("cat")
    with pytest.raises(ChannelsExhausted):
        await node.open("cat")
    server.freeze()  # so that the open waits for its answer when the connection goes
    opening = asyncio.create_task(node.open("cat"))
    await asyncio.sleep(0.2)
    server.stop()
    with pytest.raises(Unreachable, match="connection was lost"):
        await opening
    with pytest.raises(Unreachable, match="connection was lost"):
        await node.open("cat")
    await node.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  HostName a..b\n", "no host name"),
        ("  HostName 127.0.0.1\n  PKCS11Provider /nonexistent.so\n", "PKCS"),
        ("  HostName 127.0.0.1\n  ProxyJump gate:99999\n", "gate:99999"),
    ],
)
async def test_settings_that_cannot_work_are_refused_in_one_line(bed: SshBed, text: str, words: str) -> None:
    server = bed.server()
    bed.client.ssh_config.write_text(f"Host spark\n  Port {server.port}\n  User {server.user}\n{text}")
    files = {"known_hosts": str(bed.client.known_hosts), "ssh_config": str(bed.client.ssh_config)}
    with pytest.raises(Refused, match=words) as caught:
        await ssh.connect(NodeConfig(name="node", ssh="spark", **files))
    assert "\n" not in caught.value.message


async def test_an_error_that_nobody_foresaw_is_one_line(bed: SshBed, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*args: Any, **options: Any) -> None:
        raise IndexError("out of\nrange")

    server = bed.server()
    monkeypatch.setattr(asyncssh, "connect", broken)
    with pytest.raises(LinkError, match="IndexError") as caught:
        await ssh.connect(bed.client.node(server))
    assert "\n" not in caught.value.message
