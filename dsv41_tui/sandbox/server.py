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
_CHUNK = 1 << 16


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
        try:
            # The end of one output must not end the other; the channel's end is sent with the exit code.
            await process.redirect(stdout=child.process.stdout, stderr=child.process.stderr, send_eof=False)
            tasks = [asyncio.ensure_future(work) for work in (_feed(process, child), _finish(process, child))]
            closed = asyncio.ensure_future(process.channel.wait_closed())
            await asyncio.wait({tasks[1], closed}, return_when=asyncio.FIRST_COMPLETED)
            for task in (*tasks, closed):
                task.cancel()
            await asyncio.gather(*tasks, closed, return_exceptions=True)
        finally:
            self._children.end(child)


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: Child) -> None:
    """Hand standard input on, at the pace of the command.

    asyncssh would do it by `redirect`, and then the end of input can overtake the last of the data: when the pipe has
    room again, asyncio closes it although more was written from within its own call.
    """
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, child.process.stdin)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        while True:
            try:
                data = await process.stdin.read(_CHUNK)
            except (asyncssh.BreakReceived, asyncssh.SignalReceived, asyncssh.TerminalSizeChanged):
                continue  # as sshd for a root login: not passed on
            if not data:
                return
            writer.write(data)
            await writer.drain()
    except (OSError, asyncssh.Error):
        pass  # the command reads no more, or the connection is gone
    finally:
        writer.close()


async def _finish(process: asyncssh.SSHServerProcess[bytes], child: Child) -> None:
    """Send the exit code once the command has ended and all of its output is on its way."""
    code = await child.exit_code
    await process.stdout.drain()
    await process.stderr.drain()
    if code < 0:
        process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
    else:
        process.exit(code)
