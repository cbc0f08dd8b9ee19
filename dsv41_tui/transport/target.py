"""Where a node is and how to log in: ssh_config through asyncssh, and through `ssh -G` where asyncssh cannot."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import asyncssh

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import Refused
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line
from dsv41_tui.transport.scripts import quote

DEFAULT_PORT = 22
SSH_G_TIMEOUT_S = 5.0
KEEPALIVE_S = 5
KEEPALIVE_COUNT = 3


@dataclass(frozen=True)
class Target:
    """A resolved node: everything a connection needs but the key exchange."""

    host: str
    port: int
    user: str
    options: asyncssh.SSHClientConnectionOptions
    known_hosts: tuple[Path, ...]
    """Files that are consulted; the first is where `ssh` would add a key."""
    key_alias: str | None
    jumps: tuple[str, ...]
    identity_files: tuple[Path, ...]
    node: NodeConfig

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}"

    @property
    def ssh_command(self) -> str:
        """What the operator types to log in the same way."""
        node = self.node
        words = ["ssh"]
        if node.ssh_config:
            words += ["-F", quote(str(_expand(node.ssh_config)))]
        if node.known_hosts:
            words += ["-o", quote(f"UserKnownHostsFile={_expand(node.known_hosts)}")]
        if node.identity_file:
            words += ["-i", quote(str(_expand(node.identity_file)))]
        if node.port and node.port != DEFAULT_PORT:
            words += ["-p", str(node.port)]
        if node.proxy_jump:
            words += ["-J", quote(node.proxy_jump)]
        name = node.ssh or node.host or self.host
        return " ".join([*words, quote(f"{node.user}@{name}" if node.user else name)])


async def resolve(node: NodeConfig) -> Target:
    """Read the operator's ssh_config for `node`. Refused when the configuration cannot be used."""
    name = node.ssh or node.host
    if name is None:
        raise Refused(t("link.no-address", node=node.name))
    overrides = _overrides(node)
    try:
        options = await asyncssh.SSHClientConnectionOptions.construct(
            host=name, config=_config_paths(node), **_fixed_options(), **overrides
        )
    except (asyncssh.ConfigParseError, OSError) as error:
        options = await _by_ssh_g(node, name, overrides, error)
    except Exception as error:  # whatever asyncssh does not cope with in these settings
        raise Refused(t("link.settings", name=name, why=clean_line(str(error)))) from error
    return _target(node, options)


def _target(node: NodeConfig, options: asyncssh.SSHClientConnectionOptions) -> Target:
    tunnel = options.tunnel if isinstance(options.tunnel, str) and options.tunnel.lower() != "none" else None
    jump = node.proxy_jump or tunnel
    configured = cast("list[str]", options.config.get("IdentityFile", []))
    identities = [node.identity_file] if node.identity_file else configured
    return Target(
        host=options.host,
        port=options.port,
        user=options.username,
        options=options,
        known_hosts=_known_hosts(node, options),
        key_alias=options.host_key_alias,
        jumps=tuple(part.strip() for part in jump.split(",")) if jump else (),
        identity_files=tuple(Path(str(item)).expanduser() for item in identities),
        node=node,
    )


def _expand(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser())


def _config_paths(node: NodeConfig) -> Sequence[str] | None:
    if node.ssh_config is not None:
        return [str(Path(node.ssh_config).expanduser())] if node.ssh_config else None
    default = Path("~/.ssh/config").expanduser()
    return [str(default)] if default.is_file() else None


def _fixed_options() -> dict[str, Any]:
    """What no ssh_config changes: only keys, no prompts, no forwarding, nothing that a server could ask of us."""
    return {
        "preferred_auth": ["publickey"],
        "password_auth": False,
        "kbdint_auth": False,
        "gss_host": None,
        "gss_kex": False,
        "gss_auth": False,
        "agent_forwarding": False,
        "x11_forwarding": False,
        "request_pty": False,
        "ignore_encrypted": True,
        "compression_algs": ["zlib@openssh.com", "none"],
        "keepalive_interval": KEEPALIVE_S,
        "keepalive_count_max": KEEPALIVE_COUNT,
        "connect_timeout": 8,
        "login_timeout": 12,
        "utf8_decode_errors": "replace",  # else a banner in Latin-1 or Big5 ends the connection
        "env": {},
        "send_env": [],
        "command": None,
    }


def _overrides(node: NodeConfig) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if node.user:
        chosen["username"] = node.user
    if node.port:
        chosen["port"] = node.port
    if node.identity_file:
        chosen["client_keys"] = [str(Path(node.identity_file).expanduser())]
    return chosen


def _known_hosts(node: NodeConfig, options: asyncssh.SSHClientConnectionOptions) -> tuple[Path, ...]:
    """Files of known keys. `UserKnownHostsFile none` means an empty list here, never that all keys are taken."""
    if node.known_hosts:
        return (Path(node.known_hosts).expanduser(),)
    listed = options.known_hosts
    user = [Path(str(item)).expanduser() for item in listed] if isinstance(listed, list | tuple) else []
    system = [Path("/etc/ssh/ssh_known_hosts"), Path("/etc/ssh/ssh_known_hosts2")]
    default = [Path("~/.ssh/known_hosts").expanduser(), Path("~/.ssh/known_hosts2").expanduser()]
    return (*(user or default), *system)


async def _by_ssh_g(
    node: NodeConfig, name: str, overrides: dict[str, Any], reason: Exception
) -> asyncssh.SSHClientConnectionOptions:
    """Ask OpenSSH itself what the configuration says, then build the options from plain values."""
    settings = await _ssh_g(node, name, reason)
    keys = _existing(settings.get("identityfile", []))
    known = [*settings.get("userknownhostsfile", []), *settings.get("globalknownhostsfile", [])]
    values: dict[str, Any] = {
        "host": _one(settings, "hostname") or name,
        "port": int(_one(settings, "port") or DEFAULT_PORT),
        "username": _one(settings, "user") or os.environ.get("USER", "root"),
        "known_hosts": _existing([item for line in known for item in line.split()]),
        "tunnel": _one(settings, "proxyjump") or (),
        "host_key_alias": _one(settings, "hostkeyalias") or (),
    }
    if proxy := _one(settings, "proxycommand"):
        values["proxy_command"] = proxy
    if (agent := _one(settings, "identityagent")) and agent.lower() != "none":
        values["agent_path"] = os.environ.get("SSH_AUTH_SOCK", "") if agent == "SSH_AUTH_SOCK" else agent
    if keys:
        values["client_keys"] = keys
    try:
        options = await asyncssh.SSHClientConnectionOptions.construct(
            config=None, **_fixed_options(), **{**values, **overrides}
        )
        return cast("asyncssh.SSHClientConnectionOptions", options)
    except Exception as error:
        raise Refused(t("link.settings", name=name, why=clean_line(str(error)))) from error


def _existing(names: list[str]) -> list[str]:
    """OpenSSH passes over files that are not there; so do we."""
    paths = [Path(name).expanduser() for name in names]
    return [str(path) for path in paths if path.is_file()]


def _one(settings: dict[str, list[str]], key: str) -> str | None:
    values = settings.get(key, [])
    return values[0] if values and values[0].lower() != "none" else None


async def _ssh_g(node: NodeConfig, name: str, reason: Exception) -> dict[str, list[str]]:
    """Run `ssh -G NAME` and return its lines by keyword."""
    argv = ["ssh", "-G", *(["-F", str(_expand(node.ssh_config))] if node.ssh_config else []), "--", name]
    cause = clean_line(str(reason))
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError:
        raise Refused(t("link.settings", name=name, why=cause)) from reason
    try:
        async with asyncio.timeout(SSH_G_TIMEOUT_S):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        raise Refused(t("link.ssh-g", name=name, limit=round(SSH_G_TIMEOUT_S))) from reason
    if process.returncode != 0:
        raise Refused(t("link.settings", name=name, why=clean_line(err.decode("utf-8", "replace"))))
    settings: dict[str, list[str]] = {}
    for line in out.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(" ")
        settings.setdefault(key.lower(), []).append(value)
    return settings
