"""Known host keys, read from the operator's files, and what to say when a server shows another one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from dsv41_tui.core.errors import Refused
from dsv41_tui.transport.scripts import quote
from dsv41_tui.transport.target import Target


@dataclass(frozen=True)
class KnownKeys:
    """What the operator's files say of one host."""

    trusted: asyncssh.SSHKnownHosts
    keys: tuple[asyncssh.SSHKey, ...]
    """Keys that are known for this host; empty when it is new."""
    name: str
    """How the host is written in known_hosts: `host` or `[host]:port`."""

    @classmethod
    def load(cls, target: Target) -> KnownKeys:
        """Read the files that are there; Refused when one is there and cannot be read."""
        known = asyncssh.SSHKnownHosts()
        for path in target.known_hosts:
            for line in _lines(path):
                with contextlib.suppress(ValueError):  # as OpenSSH does: a bad line is passed over
                    known.load(line)
        host = target.key_alias or target.host
        found = known.match(host, "", None if target.port == 22 else target.port)
        return cls(known, tuple(found[0]), host if target.port == 22 else f"[{host}]:{target.port}")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None


def untrusted(target: Target, known: KnownKeys, shown: asyncssh.SSHKey | None) -> Refused:
    """The error for a key that is unknown or changed: its fingerprint and the exact command to accept it."""
    if shown is None:
        return Refused(f"{target}: its host key cannot be checked")
    fingerprint = f"{shown.get_algorithm()} {shown.get_fingerprint()}"
    accept = f"{target.ssh_command} true"
    same_kind = [key for key in known.keys if key.get_algorithm() == shown.get_algorithm()]
    if not known.keys:
        return Refused(
            f"{target}: host key unknown, it shows {fingerprint}. Compare it on the node "
            "(ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then accept it",
            fix=(accept,),
        )
    before = (same_kind or list(known.keys))[0]
    file = _holder(target)
    return Refused(
        f"{target}: HOST KEY CHANGED, it shows {fingerprint}, known is {before.get_algorithm()} "
        f"{before.get_fingerprint()}. Reinstalled, another machine at this address, or somebody in between: "
        "find out first",
        fix=(f"ssh-keygen -R {quote(known.name)} -f {quote(str(file))}", accept),
    )


def _holder(target: Target) -> Path:
    return next((path for path in target.known_hosts if path.is_file()), target.known_hosts[0])
