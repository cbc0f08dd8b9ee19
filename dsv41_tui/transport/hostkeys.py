"""Known host keys, read from the operator's files, and what to say when a server shows another one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from dsv41_tui.core.errors import Refused
from dsv41_tui.core.messages import t
from dsv41_tui.transport.scripts import quote
from dsv41_tui.transport.target import DEFAULT_PORT, Target


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
        found = known.match(host, "", None if target.port == DEFAULT_PORT else target.port)
        return cls(known, tuple(found[0]), host if target.port == DEFAULT_PORT else f"[{host}]:{target.port}")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Refused(t("link.unreadable", path=path, why=error.strerror)) from None


def untrusted(target: Target, known: KnownKeys, shown: asyncssh.SSHKey | None) -> Refused:
    """The error for a key that is unknown or changed: its fingerprint and the exact command to accept it."""
    if shown is None:
        return Refused(t("link.key-unchecked", place=target))
    accept = f"{target.ssh_command} true"
    same_kind = [key for key in known.keys if key.get_algorithm() == shown.get_algorithm()]
    if not known.keys:
        return Refused(t("link.key-unknown", place=target, shown=_name(shown)), fix=(accept,), reason="key-unknown")
    before = (same_kind or list(known.keys))[0]
    file = _holder(target)
    return Refused(
        t("link.key-changed", place=target, shown=_name(shown), known=_name(before)),
        fix=(f"ssh-keygen -R {quote(known.name)} -f {quote(str(file))}", accept),
        reason="key-changed",
    )


def _name(key: asyncssh.SSHKey) -> str:
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


def _holder(target: Target) -> Path:
    return next((path for path in target.known_hosts if path.is_file()), target.known_hosts[0])
