"""First configurations: for this machine, for hosts that somebody names, or from a recipe's `.env`.

Each gives the text of a file that loads again; `write_config` writes it. Nothing here connects anywhere.
"""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path
from typing import Literal, NamedTuple, cast

import psutil

from dsv41_tui import paths
from dsv41_tui.config import ClusterConfig
from dsv41_tui.core.address import is_address, is_user, parse_target
from dsv41_tui.core.config_text import config_text
from dsv41_tui.core.envmap import proposal, recipe_for
from dsv41_tui.core.envnodes import NODE_NAME
from dsv41_tui.core.errors import ConfigError, ParseError
from dsv41_tui.core.messages import t
from dsv41_tui.core.proposal import ConfigProposal, NodeProposal
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers.envfile import parse_env
from dsv41_tui.runtime.config_file import FILE_NAME
from dsv41_tui.runtime.configuration import parse_config, read_bytes, write_config
from dsv41_tui.runtime.recipes import load_recipes

__all__ = [
    "EnvDraft", "config_for_hosts", "config_for_this_machine", "config_from_env", "default_path", "write_config",
]  # fmt: skip

Role = Literal["head", "worker", "nas"]
ROLES: tuple[Role, ...] = ("head", "worker", "nas")
DEFAULT_RECIPE = ClusterConfig().recipe


class EnvDraft(NamedTuple):
    """What a recipe's `.env` gives: the file that was read, and the proposal with its notes."""

    path: Path
    proposal: ConfigProposal

    def text(self) -> str:
        """The configuration; ConfigError when the file names no node, so that there is none."""
        name = clean_line(str(self.path))
        if not self.proposal.nodes:
            raise ConfigError(t("init.error.no_nodes", file=name))
        text = config_text(self.proposal)
        parse_config(text, name)
        return text


def default_path() -> Path:
    """Where a first configuration goes: the XDG config folder."""
    return paths.config_dir() / FILE_NAME


def config_for_this_machine() -> str:
    """A configuration that watches the machine the panel runs on, as the head."""
    label = socket.gethostname().split(".")[0]
    name = label if NODE_NAME.fullmatch(label) else "head"
    node = NodeProposal(name=name, role="head", rank=0, local=True)
    return config_text(ConfigProposal(recipe=DEFAULT_RECIPE, nodes=(node,)))


def config_for_hosts(hosts: list[str]) -> str:
    """A configuration for `spark1`, `me@10.0.0.2:2222`, `nas=nas1`; the first without a role is the head.

    `localhost` without user and port is this machine. Raises ConfigError, one line for each word that does not fit.
    """
    named = [host.strip() for host in hosts if host.strip()]
    if not named:
        raise ConfigError(t("init.error.no_hosts"))
    explicit_head = any(host.startswith("head=") for host in named)
    nodes: list[NodeProposal] = []
    errors: list[str] = []
    for host in named:
        try:
            nodes.append(_host_node(host, nodes, explicit_head))
        except ConfigError as error:
            errors.append(error.message)
    if errors:
        raise ConfigError("\n".join(errors))
    text = config_text(ConfigProposal(recipe=DEFAULT_RECIPE, nodes=tuple(nodes)))
    parse_config(text, t("init.hosts"))
    return text


def _host_node(word: str, before: list[NodeProposal], explicit_head: bool) -> NodeProposal:
    """The node of one word; ConfigError says what a word can be."""
    prefix, equals, rest = word.partition("=")
    if equals and prefix not in ROLES:
        raise ConfigError(t("init.error.role", word=clean_line(word, 80), roles=", ".join(ROLES)))
    try:
        target = parse_target(rest if equals else word)
    except ParseError as error:
        raise ConfigError(t("init.error.host", word=clean_line(word, 80), part=_part(error.message))) from error
    has_head = explicit_head or any(node.role == "head" for node in before)
    role = cast("Role", prefix) if equals else "worker" if has_head else "head"
    rank = {"head": 0, "worker": 1 + sum(node.role == "worker" for node in before), "nas": None}[role]
    node = NodeProposal(name=_free_name(target.host, role, before), role=role, rank=rank)
    if target.host.lower() == "localhost" and target.user is None and target.port is None:
        return node.model_copy(update={"local": True})
    place = "host" if is_address(target.host) else "ssh"
    return node.model_copy(update={place: target.host, "user": target.user, "port": target.port})


def _part(word: str) -> str:
    """What is wrong with a login target, in the operator's language."""
    if word == "user":
        return t("init.part.user")
    if word == "port":
        return t("init.part.port")
    return t("init.part.host")


def _free_name(host: str, role: str, before: list[NodeProposal]) -> str:
    """The first label of a host name, else the role; with a number where it is taken."""
    label = host.split(".")[0]
    base = label if not is_address(host) and NODE_NAME.fullmatch(label) else role
    used = {node.name for node in before}
    numbered = (f"{base[:36]}-{number}" for number in range(2, len(before) + 3))
    return base if base not in used else next(name for name in numbered if name not in used)


def config_from_env(path: str | Path) -> EnvDraft:
    """Read a recipe's `.env`, or the one in a folder, without running anything of it.

    Raises ConfigError when the file cannot be read; a file that names no node gives a draft without a text.
    """
    file = _env_file(paths.expanded(path))
    name = clean_line(str(file))
    try:
        env = parse_env(read_bytes(file).decode("utf-8-sig", "replace"), _known())
    except ParseError as error:
        raise ConfigError(f"{name}: {error.message}") from error
    recipe = recipe_for(env, load_recipes(), DEFAULT_RECIPE)
    found = proposal(env, recipe, local=local_names(), env_path=_absolute(file))
    return EnvDraft(file, found)


def _env_file(path: Path) -> Path:
    """The file itself, or the `.env` of a recipe's folder; ConfigError names what lies in a folder without one."""
    try:
        if not path.is_dir():
            return path
        if (path / ".env").is_file():
            return path / ".env"
        others = sorted(item.name for item in path.iterdir() if re.search(r"(^|\.)env($|\.)", item.name))
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(t("config.error.unreadable", file=clean_line(str(path)), why=why)) from error
    raise ConfigError(
        t("init.error.folder", folder=clean_line(str(path)), others=clean_line(", ".join(others[:8])) or "-")
    )


def _absolute(file: Path) -> str | None:
    """The file's absolute path; None where it is no text, since TOML could not hold it."""
    text = str(file.absolute())
    return text if text.isprintable() else None


def _known() -> dict[str, str]:
    """What the file can use without setting it. `~` stands for the home folder of whoever it will belong to."""
    known = {"HOME": "~"}
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        return known
    return {**known, "USER": user} if is_user(user) else known


def local_names() -> frozenset[str]:
    """Addresses and names of this machine, in small letters, for recognising it in a file."""
    found = {socket.gethostname().lower(), socket.gethostname().split(".")[0].lower()}
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            if address.family in (socket.AF_INET, socket.AF_INET6):
                found.add(address.address.split("%")[0].lower())
    return frozenset(found)
