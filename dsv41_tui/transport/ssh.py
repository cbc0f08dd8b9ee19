"""One asyncssh connection to a node, and the words for what stands in its way.

Law 1: host keys are strict; nothing is accepted that the operator's known_hosts does not hold.
Law 2: only keys and agent; no prompt can block. Law 3: every foreign error leaves here as a LinkError.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Any

import asyncssh

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, Refused, TimedOut, Unreachable
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line
from dsv41_tui.transport.channel import ChannelsExhausted, Process
from dsv41_tui.transport.hostkeys import KnownKeys, untrusted
from dsv41_tui.transport.scripts import quote
from dsv41_tui.transport.target import KEEPALIVE_COUNT, KEEPALIVE_S, Target, resolve

LOGIN_TIMEOUT_S = 20.0
OPEN_TIMEOUT_S = 20.0
"""The first channel waits for PAM: 13 s were seen on a busy machine."""


class _Client(asyncssh.SSHClient):
    """Remembers the key that a server showed and why the connection ended."""

    def __init__(self) -> None:
        self.shown_key: asyncssh.SSHKey | None = None
        self.lost: Exception | None = None
        self.ended = False

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.shown_key = key
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = exc
        self.ended = True


class SshProcess:
    """A session channel that runs one command; bytes both ways."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process = process

    async def read(self, size: int) -> bytes:
        try:
            return await self._process.stdout.read(size)
        except (asyncssh.Error, ConnectionError, BrokenPipeError):
            return b""

    def write(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self._process.stdin.write(data)

    async def drain(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionError, asyncssh.Error):
            await self._process.stdin.drain()

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self._process.stdin.write_eof()

    def kill(self) -> None:
        self._process.close()

    async def wait(self) -> int | None:
        with contextlib.suppress(asyncssh.Error, ConnectionError):
            await self._process.wait_closed()
        return self._process.returncode


class SshNode:
    """A node behind one connection and one login, and behind the connections to its jump hosts."""

    def __init__(self, target: Target, connection: asyncssh.SSHClientConnection, client: _Client) -> None:
        self.target = target
        self.hops: tuple[SshNode, ...] = ()
        """Jump hosts, the first one from here first."""
        self._connection = connection
        self._client = client
        self._late: set[asyncio.Task[asyncssh.SSHClientProcess[bytes]]] = set()

    async def open(self, command: str) -> Process:
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                process = await self._create(command)
        except asyncssh.ChannelOpenError as error:
            if self._is_ended(error):
                raise Unreachable(t("link.gone")) from error
            raise ChannelsExhausted(t("link.no-session", why=clean_line(error.reason))) from error
        except TimeoutError:
            raise TimedOut(t("link.no-channel", place=self.target, limit=round(OPEN_TIMEOUT_S))) from None
        except (asyncssh.Error, OSError) as error:
            raise Unreachable(t("link.lost", why=clean_line(str(error)))) from error
        return SshProcess(process)

    async def _create(self, command: str) -> asyncssh.SSHClientProcess[bytes]:
        """Ask for a channel. An open that nobody waits for any more is closed when it comes, else sshd keeps it."""
        opening = asyncio.ensure_future(
            self._connection.create_process(command, encoding=None, stderr=asyncssh.STDOUT, env={}, request_pty=False)
        )
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._late.add(opening)
            opening.add_done_callback(self._came_late)
            raise

    def _came_late(self, opening: asyncio.Task[asyncssh.SSHClientProcess[bytes]]) -> None:
        self._late.discard(opening)
        if not opening.cancelled() and opening.exception() is None:
            opening.result().close()

    def _is_ended(self, error: asyncssh.ChannelOpenError) -> bool:
        """sshd refuses with the code that asyncssh itself gives on a dead connection; only the words differ."""
        return self._client.ended or self._connection.is_closed() or error.reason == "SSH connection closed"

    async def wait_closed(self) -> None:
        await self._connection.wait_closed()
        await self._close_hops()
        lost = self._client.lost
        if lost is None:
            raise Unreachable(t("link.closed"))
        if "eepalive" in str(lost):
            raise TimedOut(t("link.silent", limit=KEEPALIVE_S * KEEPALIVE_COUNT)) from lost
        raise Unreachable(t("link.lost", why=clean_line(str(lost)))) from lost

    async def close(self) -> None:
        self._connection.close()
        try:
            async with asyncio.timeout(1.0):
                await self._connection.wait_closed()
        except TimeoutError:
            self._connection.abort()
        finally:
            await self._close_hops()

    async def _close_hops(self) -> None:
        """Innermost first: a connection goes before the one that carries it."""
        hops, self.hops = self.hops, ()
        for hop in reversed(hops):
            await hop.close()

    def wire_bytes(self) -> int | None:
        """From the kernel's TCP_INFO (`tcpi_bytes_acked` and `tcpi_bytes_received`, Linux 4.1 and later)."""
        sock = self._connection.get_extra_info("socket")
        if sock is None or not hasattr(socket, "TCP_INFO"):
            return None
        try:
            info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
            acked, received = struct.unpack_from("=QQ", info, 120)
        except (OSError, struct.error):
            return None
        return int(acked) + int(received)


async def connect(node: NodeConfig, target: Target | None = None) -> SshNode:
    """Log in to `node`, over its jump hosts if it has any. LinkError with the reason and the fix."""
    target = target or await resolve(node)
    opened: list[SshNode] = []
    try:
        tunnel: asyncssh.SSHClientConnection | None = None
        for jump in target.jumps:
            hop = await resolve(_jump_node(node, jump))
            opened.append(await _connect_one(hop, tunnel, via=str(target)))
            tunnel = opened[-1]._connection
        connected = await _connect_one(target, tunnel, via=None)
    except BaseException:
        for hop_node in reversed(opened):
            hop_node._connection.abort()
        raise
    connected.hops = tuple(opened)
    return connected


def _jump_node(node: NodeConfig, jump: str) -> NodeConfig:
    """`[user@]host[:port]` of a ProxyJump, to be looked up in the same ssh_config."""
    user, _, place = jump.rpartition("@")
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.startswith("[")):
        host, port = place, ""
    try:
        return NodeConfig(
            name=f"{node.name} (jump host)",
            ssh=host.strip("[]"),
            user=user or None,
            port=int(port) if port else None,
            ssh_config=node.ssh_config,
            known_hosts=node.known_hosts,
        )
    except ValueError as error:
        raise Refused(t("link.bad-jump", node=node.name, jump=clean_line(jump))) from error


async def _connect_one(target: Target, tunnel: asyncssh.SSHClientConnection | None, via: str | None) -> SshNode:
    known = await asyncio.to_thread(KnownKeys.load, target)
    client = _Client()
    options: dict[str, Any] = {"known_hosts": known.trusted, "client_factory": lambda: client, "tunnel": tunnel}
    try:
        async with asyncio.timeout(LOGIN_TIMEOUT_S):
            connection = await asyncssh.connect(
                target.host, target.port, options=target.options, config=None, **options
            )
    except asyncssh.HostKeyNotVerifiable as error:
        raise untrusted(target, known, client.shown_key) from error
    except Exception as error:  # asyncssh lets errors of its libraries through: idna, PKCS#11, the key formats
        raise _explain(error, target, via) from error
    return SshNode(target, connection, client)


def _explain(error: Exception, target: Target, via: str | None) -> LinkError:
    """Map a foreign error to one of the three kinds, in words that say what to do."""
    place = t("link.jump", jump=target, place=via) if via else str(target)
    text = clean_line(str(error), 200)
    if isinstance(error, asyncssh.PermissionDenied):
        return _login_refused(target, place, text)
    if isinstance(error, asyncssh.KeyExchangeFailed):
        return Refused(t("link.no-cipher", place=place, why=text))
    if isinstance(error, TimeoutError) or "timeout" in text.lower() or "timed out" in text.lower():
        return TimedOut(t("link.no-greeting", place=place))
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(t("link.refused", place=place), fix=(f"{target.ssh_command} true",), reason="port-closed")
    if isinstance(error, socket.gaierror):
        return Unreachable(
            t("link.no-name", place=place), fix=(f"getent hosts {quote(target.host)}",), reason="no-name"
        )
    if isinstance(error, OSError) and error.strerror:
        return Unreachable(f"{place}: {error.strerror}")
    if isinstance(error, UnicodeError):
        return Refused(t("link.bad-name", place=place))
    if isinstance(error, ValueError):
        return Refused(t("link.settings", name=place, why=text))
    if isinstance(error, asyncssh.Error | OSError):
        return Unreachable(t("link.closed-early", place=place, why=text))
    return Unreachable(t("link.unforeseen", place=place, why=f"{type(error).__name__}: {text}"))


def _login_refused(target: Target, place: str, text: str) -> Refused:
    locked = [path for path in target.identity_files if _has_passphrase(path)]
    if locked:
        return Refused(
            t("link.passphrase", place=place, key=locked[0]),
            fix=(f"ssh-add {quote(str(locked[0]))}", f"{target.ssh_command} true"),
            reason="passphrase",
        )
    return Refused(
        t("link.no-key", place=place),
        fix=(target.ssh_command.replace("ssh ", "ssh-copy-id ", 1), f"{target.ssh_command} true"),
        reason="no-key",
    )


def _has_passphrase(path: Any) -> bool:
    try:
        asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        return str(error).startswith("Passphrase")
    except OSError:
        return False
    return False
