"""The sandbox cluster as a whole: its folder, keys, servers, configuration and clock."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncssh

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t as text
from dsv41_tui.core.text import clean_line
from dsv41_tui.sandbox import tree
from dsv41_tui.sandbox.children import Children
from dsv41_tui.sandbox.files import fixed_files, moving_files
from dsv41_tui.sandbox.logs import NodeLogs
from dsv41_tui.sandbox.mounts import NAS_ADDRESS
from dsv41_tui.sandbox.pipes import Pipes
from dsv41_tui.sandbox.plan import HOME, PREFIX, Member, members
from dsv41_tui.sandbox.scenario import Scenario
from dsv41_tui.sandbox.server import ADDRESS, USER, NodeServer
from dsv41_tui.sandbox.simulate import nas_is_down

TICK_S = 0.5
"""Twice as often as a panel looks: of two looks a second apart, none sees the same moment twice."""
_PLAIN = re.compile(r"[A-Za-z0-9_./+@-]+")


class Sandbox:
    """Made by `start`, moved by `run`, gone after `stop`."""

    def __init__(self, scenario: Scenario, nodes: int, *, nas: bool, ahead_s: float = 0.0) -> None:
        self._scenario = scenario
        self._nodes = nodes
        self._members = members(nodes, nas=nas)
        self._folder: Path | None = None
        self._quick: Path | None = None
        self._children: Children | None = None
        self._servers: dict[str, NodeServer] = {}
        self._pipes: list[Pipes] = []
        self._logs: dict[str, NodeLogs] = {}
        self._shown: dict[str, dict[str, str]] = {}
        """Moving files of each member as they are on disk."""
        self._began = 0.0
        self._ahead_s = ahead_s
        self._zero = datetime.now(UTC)

    async def start(self, base: Path | None) -> dict[str, Any]:
        """Make everything; returns what the JSON line says. ConfigError when no folder can be made."""
        self._folder = _private_folder(base)
        self._quick = _quick_folder(self._folder)
        self._children = Children()
        self._zero = datetime.now(UTC) - timedelta(seconds=self._ahead_s)
        """The moment of the scenario's zero on the nodes' clocks."""
        tree.make_shared(self._folder)
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(self._folder / "id_ed25519"))
        (self._folder / "id_ed25519").chmod(0o600)
        for member in self._members:
            await self._start_member(member, key)
        self._began = time.monotonic()
        nodes = [self._described(member) for member in self._members]
        config = self._folder / "dsv41.toml"
        config.write_text(_configuration(nodes, self._folder), "utf-8")
        (self._folder / "ssh_config").write_text(_ssh_config(nodes, self._folder), "utf-8")
        return {"config": str(config), "dir": str(self._folder), "quick": str(self._quick), "nodes": nodes}

    async def run(self, until: asyncio.Event) -> None:
        """Move the clock of the cluster until told to stop."""
        beat = 0
        while not until.is_set():
            beat += 1
            due = self._began + beat * TICK_S
            try:
                async with asyncio.timeout(max(0.0, due - time.monotonic())):
                    await until.wait()
            except TimeoutError:
                await self._tick(second=beat % round(1 / TICK_S) == 0)

    async def stop(self) -> None:
        """End every connection and process, and remove the folders."""
        for server in self._servers.values():
            server.close()
        if self._children is not None:
            self._children.end_all()
        for folder in (self._quick, self._folder):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    async def _start_member(self, member: Member, key: asyncssh.SSHKey) -> None:
        folder, quick, children = self._folder, self._quick, self._children
        assert folder is not None and quick is not None and children is not None
        root = folder / "nodes" / member.name
        moving = moving_files(self._scenario, member, self._nodes, self._ahead_s, self._zero)
        files = fixed_files(self._scenario, member, self._nodes) | moving
        tree.make_member(root, quick / member.name, folder / "stand-ins", member, files)
        self._shown[member.name] = moving
        if member.role != "nas":
            logs = self._logs[member.name] = NodeLogs(self._scenario, member, self._nodes, root, self._zero)
            logs.write(self._ahead_s)
        home = root / HOME.lstrip("/")
        server = NodeServer(children, _environment(root, folder / "tools", home), home)
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        await server.start(host_key, key.convert_to_public())
        with (folder / "known_hosts").open("a") as known:
            public = host_key.export_public_key().decode().strip()
            known.write(f"[{ADDRESS}]:{server.port} {public}\n")
        self._servers[member.name] = server
        pipes = Pipes(root)
        pipes.nas(down=nas_is_down(self._scenario, self._ahead_s))
        self._pipes.append(pipes)
        self._pipes[-1].nas(down=nas_is_down(self._scenario, self._ahead_s))

    async def _tick(self, *, second: bool) -> None:
        """Rewrite what moves. Other work gets its turn between two nodes, so that no answer waits for all of them."""
        now = time.monotonic() - self._began + self._ahead_s
        down = nas_is_down(self._scenario, now)
        for member, pipes in zip(self._members, self._pipes, strict=True):
            pipes.nas(down=down)
            if member.name in self._logs:
                self._logs[member.name].write(now)  # before docker tells that a container ended
            self._replace(member, now)
            if second:
                pipes.second()
            await asyncio.sleep(0)

    def _replace(self, member: Member, now: float) -> None:
        before = self._shown[member.name]
        files = moving_files(self._scenario, member, self._nodes, now, self._zero)
        changed = {place: text for place, text in files.items() if before.get(place) != text}
        tree.replace(f"{self._folder}/nodes/{member.name}", changed, before.keys() - files.keys())
        self._shown[member.name] = files

    def _described(self, member: Member) -> dict[str, Any]:
        return {
            "name": member.name,
            "role": member.role,
            "host": ADDRESS,
            "port": self._servers[member.name].port,
            "root": f"{self._folder}/nodes/{member.name}",
        }


def _private_folder(base: Path | None) -> Path:
    """A new folder of mode 0700. Its path is plain, since remote commands name files by it."""
    chosen = base if base is not None else Path(tempfile.gettempdir())
    if base is None and not _PLAIN.fullmatch(str(chosen)):
        chosen = Path("/tmp")
    if not _PLAIN.fullmatch(str(chosen.absolute())):
        why = "its path holds more than letters, digits and _./+@-"
        raise ConfigError(text("sandbox.error.folder", folder=clean_line(str(chosen)), why=why))
    try:
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=chosen.absolute()))
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(text("sandbox.error.folder", folder=clean_line(str(chosen)), why=why)) from error


def _quick_folder(folder: Path) -> Path:
    """Where what moves is kept: in memory if that can be, else on the disk with the rest.

    ext4 writes a file out when another is renamed onto it. On a busy disk that took 1 to 2 ms a file, in which no node
    answers.
    """
    memory = Path("/dev/shm")
    try:
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=memory if memory.is_dir() else folder))
    except OSError:
        return Path(tempfile.mkdtemp(prefix="quick-", dir=folder))


def _environment(root: Path, tools: Path, home: Path) -> dict[str, str]:
    """What a login on a node sees."""
    return {
        "PATH": f"{root}/bin:{tools}",
        "HOME": str(home),
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "TMPDIR": f"{root}/tmp",
        "DSV41_SANDBOX_ROOT": str(root),
        "DSV41_SANDBOX_PYTHON": sys.executable,
        "DSV41_SANDBOX_CODE": str(Path(__file__).resolve().parent),
    }


def _configuration(nodes: list[dict[str, Any]], folder: Path) -> str:
    """The panel's configuration of this cluster; JSON strings are TOML strings."""
    parts = ['[cluster]\nname = "sandbox"\n']
    for rank, node in enumerate(nodes):
        values: dict[str, Any] = {key: node[key] for key in ("name", "role", "host", "port")}
        if node["role"] != "nas":
            values["rank"] = rank
        values |= {
            "user": USER,
            "identity_file": f"{folder}/id_ed25519",
            "ssh_config": f"{folder}/ssh_config",
            "known_hosts": f"{folder}/known_hosts",
            "root": node["root"],
        }
        parts.append("[[node]]\n" + _lines(f"{key} = {json.dumps(value)}" for key, value in values.items()))
    if nodes[-1]["role"] != "nas":
        parts.append(f'[nas]\nserver = "{NAS_ADDRESS}"\nlink_mbit = 20000\n')
    return "\n".join(parts)


def _ssh_config(nodes: list[dict[str, Any]], folder: Path) -> str:
    """`ssh -F FOLDER/ssh_config spark1`; it also keeps the operator's own ssh_config out of the sandbox."""
    hosts = "\n".join(_lines((f"Host {node['name']}", f"  Port {node['port']}")) for node in nodes)
    everyone = (
        "Host *",
        f"  HostName {ADDRESS}",
        f"  User {USER}",
        f"  IdentityFile {folder}/id_ed25519",
        "  IdentitiesOnly yes",
        "  IdentityAgent none",
        f"  UserKnownHostsFile {folder}/known_hosts",
    )
    return f"{hosts}\n{_lines(everyone)}"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
