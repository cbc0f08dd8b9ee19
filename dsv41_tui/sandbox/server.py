"""One SSH server per node: a real asyncssh server that runs what it is asked to by `/bin/sh -c`, as sshd would."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path

import asyncssh

from dsv41_tui.sandbox.children import Child, Children

ADDRESS = "127.0.0.1"
"""The only address that is listened on."""
USER = "dsv"
"""The only user that can log in."""


class _Login(asyncssh.SSHServer):
    """Lets in the one user with the one key."""

    def __init__(self, key: asyncssh.SSHKey) -> None:
        self._key = key

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USER and key == self._key


class NodeServer:
    """The sshd of one node."""

    def __init__(self, children: Children, environment: Mapping[str, str], home: Path) -> None:
        self._children = children
        self._environment = environment
        self._home = home
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self.port = 0
        """Known after `start`."""

    async def start(self, host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey) -> None:
        """Listen on a free port of the loopback address; `client_key` is the public one."""
        self._acceptor = await asyncssh.listen(
            ADDRESS,
            0,
            server_factory=lambda: _Login(client_key),
            process_factory=self._run,
            server_host_keys=[host_key],
            encoding=None,
            compression_algs=["zlib@openssh.com", "none"],
            agent_forwarding=False,
            allow_pty=False,
            line_editor=False,
            gss_host=None,
            config=[],
        )
        self.port = self._acceptor.get_port()

    def close(self) -> None:
        """Take no more connections; those that stand end with the sandbox's process."""
        if self._acceptor is not None:
            self._acceptor.close()

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run the command of one channel; no command gives a shell that reads standard input."""
        argv = ["/bin/sh"] if process.command is None else ["/bin/sh", "-c", process.command]
        child = self._children.start(argv, self._environment, self._home)
        pipes = child.process
        try:
            await process.redirect(stdin=pipes.stdin, stdout=pipes.stdout, stderr=pipes.stderr)
            finished = asyncio.ensure_future(_finish(process, child))
            closed = asyncio.ensure_future(process.wait_closed())
            await asyncio.wait({finished, closed}, return_when=asyncio.FIRST_COMPLETED)
            finished.cancel()
        finally:
            self._children.end(child)


async def _finish(process: asyncssh.SSHServerProcess[bytes], child: Child) -> None:
    """Send the exit code once the command has ended and all of its output is on its way."""
    code = await child.exit_code
    await process.stdout.drain()
    await process.stderr.drain()
    if code < 0:
        process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
    else:
        process.exit(code)
