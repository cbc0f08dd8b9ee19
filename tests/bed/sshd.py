"""Real OpenSSH servers on loopback: each with its own host key, port and settings, ended by its process id."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsv41_tui.config import NodeConfig
from tests.bed import folder as bed_folder
from tests.bed.folder import children
from tests.bed.lanes import SEARCH

START_LIMIT_S = 10.0


def make_key(path: Path, passphrase: str = "") -> Path:
    """A new ed25519 key pair at `path` and `path`.pub."""
    path.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(path)], check=True)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Client:
    """What an operator has: a key, a known_hosts file, an ssh_config."""

    folder: Path
    key: Path = field(init=False)
    known_hosts: Path = field(init=False)
    ssh_config: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.key = make_key(self.folder / "id")
        self.known_hosts = self.folder / "known_hosts"
        self.ssh_config = self.folder / "config"
        self.known_hosts.touch()
        self.ssh_config.touch()

    @property
    def public_key(self) -> str:
        return self.key.with_suffix(".pub").read_text()

    def trust(self, server: SshServer, port: int | None = None) -> None:
        """Note the server's present host key, also as seen through another port of this machine."""
        self.trust_key(f"[127.0.0.1]:{port or server.port}", server.host_key)

    def trust_key(self, place: str, host_key: Path) -> None:
        """Note a host key for `place`, as known_hosts writes it."""
        kind, key = host_key.with_suffix(".pub").read_text().split()[:2]
        with self.known_hosts.open("a") as file:
            file.write(f"{place} {kind} {key}\n")

    def node(self, server: SshServer, name: str = "node", port: int | None = None, **fields: Any) -> NodeConfig:
        """The configuration of a node behind `server`, or behind a wire at `port` that leads to it."""
        return self.machine(name, "127.0.0.1", **{"port": port or server.port, "user": server.user, **fields})

    def machine(self, name: str, host: str, **fields: Any) -> NodeConfig:
        """The configuration of a node at `host`, with this operator's files and root as the user."""
        files = {
            "identity_file": str(self.key),
            "known_hosts": str(self.known_hosts),
            "ssh_config": str(self.ssh_config),
        }
        return NodeConfig(**{"name": name, "host": host, "user": "root", **files, **fields})


class SshServer:
    """One sshd. `settings` are lines of sshd_config and stand before ours, so that they win."""

    def __init__(self, folder: Path, user: str, authorized: str, settings: tuple[str, ...] = ()) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.user = user
        self.port = free_port()
        self.log = folder / "log"
        self.host_key = make_key(folder / "host_key")
        (folder / "authorized_keys").write_text(authorized)
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        Path("/run/sshd").mkdir(exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text("\n".join([*self._settings, *self._defaults()]) + "\n")
        program = shutil.which("sshd", path=SEARCH)
        assert program is not None
        argv = [program, "-D", "-f", str(config), "-E", str(self.log)]
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)
        bed_folder.note_session(self.folder, "sshd", self.pid)
        self._await_greeting()

    def _defaults(self) -> list[str]:
        return [
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {self.host_key}",
            f"AuthorizedKeysFile {self.folder}/authorized_keys",
            "PidFile none",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UsePAM no",
            "StrictModes no",
            "Subsystem sftp internal-sftp",
            "LogLevel VERBOSE",
        ]

    def _await_greeting(self) -> None:
        end = time.monotonic() + START_LIMIT_S
        while time.monotonic() < end:
            if greets("127.0.0.1", self.port):
                return
            time.sleep(0.02)
        raise RuntimeError(f"sshd did not start: {self.log.read_text() if self.log.exists() else 'no log'}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """End the server and all its connections at once, as a machine that is switched off does."""
        if self._process is None:
            return
        pids = [self.pid, *descendants(self.pid)]
        _signal(pids, signal.SIGKILL)
        self._process.wait()
        self._process = None
        bed_folder.end_session(self.folder, "sshd")

    def restart(self) -> None:
        self.stop()
        self.start()

    def freeze(self) -> None:
        """Everything of this server stands still: new connections are taken by the kernel and get no greeting."""
        _signal([self.pid, *descendants(self.pid)], signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            _signal([*descendants(self.pid), self.pid], signal.SIGCONT)

    def connections(self) -> list[int]:
        """The sshd process of each connection."""
        return children(self.pid)

    def cut_connections(self) -> None:
        """Kill the sshd of each connection; the server goes on.

        It is stopped first: right after a login it forks, and a child born between the look and the kill would keep
        the connection open with nobody behind it.
        """
        for pid in self.connections():
            _signal([pid], signal.SIGSTOP)
            _signal([pid, *descendants(pid)], signal.SIGKILL)

    def change_host_key(self) -> None:
        """As a reinstalled machine: another host key at the same address."""
        self.stop()
        make_key(self.host_key)
        self.start()

    def authorize(self, text: str) -> None:
        """Replace the keys that may log in; they are read at each login."""
        (self.folder / "authorized_keys").write_text(text)

    def logins(self) -> int:
        """Logins that this server accepted so far."""
        return self.log.read_text().count("Accepted publickey")


def greets(host: str, port: int) -> bool:
    """Whether an SSH server answers there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), 1) as connection:
        connection.settimeout(2)
        return b"SSH-" in connection.recv(1024)
    return False


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, parents first."""
    return [below for child in children(pid) for below in (child, *descendants(child))]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class SshBed:
    """Servers and the client that knows them; a context manager that leaves nothing running."""

    def __init__(self, folder: Path, user: str) -> None:
        self.client = Client(folder / "client")
        self._folder = folder
        self._user = user
        self._servers: list[SshServer] = []

    def server(self, *settings: str, user: str | None = None, trusted: bool = True) -> SshServer:
        """A running server that lets our key in; `settings` are lines of sshd_config."""
        folder = self._folder / f"sshd{len(self._servers) + 1}"
        server = SshServer(folder, user or self._user, self.client.public_key, settings)
        self._servers.append(server)
        server.start()
        if trusted:
            self.client.trust(server)
        return server

    def close(self) -> None:
        for server in self._servers:
            server.stop()


@contextlib.contextmanager
def ssh_bed(folder: Path, user: str) -> Iterator[SshBed]:
    bed = SshBed(folder, user)
    try:
        yield bed
    finally:
        bed.close()
