"""The nodes of a recipe's `.env`: which word names which rank, which of several counts, and how to log in there."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Set
from typing import Literal, NamedTuple

from dsv41_tui.core.address import Target, is_address, is_user, parse_target
from dsv41_tui.core.envfile import EnvFile
from dsv41_tui.core.envkeys import IDENTITIES, SSH_PORTS, USERS, Said, said_of_nodes, stands_for_a_value
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.proposal import NodeProposal, Note, NoteKind, Taken, Use
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.core.text import clean, clean_line

_DIGITS_ONLY = re.compile(r"[0-9.]+")
_URL_LOGIN = re.compile(r"(://).*@", re.DOTALL)
_URL_QUERY = re.compile(r"(://[^?#]*)[?#].*", re.DOTALL)
_LOGIN = re.compile(r"^([^\s/:@]*):(?!//).*@", re.DOTALL)
NODE_NAME = re.compile(r"[^\W_][\w-]{0,39}")


class Candidate(NamedTuple):
    """A word that names a node, and the target that it stands for."""

    said: Said
    target: Target


class Login(NamedTuple):
    """What the file says of logins beside the hosts; users and ports by `head`, `worker` or `all`."""

    users: dict[str, str]
    ports: dict[str, int]
    identity: str | None


class Nodes(NamedTuple):
    """The nodes that the file names, and what there is to say of them."""

    nodes: list[NodeProposal]
    taken: list[Taken]
    notes: list[Note]
    addresses: set[str]
    """Every host that names a node, also those that were not chosen."""


def nodes_of(env: EnvFile, recipe: Recipe, local: Set[str]) -> Nodes:
    """All nodes, by rank. `local` is what `is_here` takes; the file's key path counts only when the head is here."""
    found = Nodes([], [], [], set())
    candidates = _candidates(env, found.notes)
    login = _login(env, recipe, found)
    here = next((rank for rank in sorted(candidates) if _any_here(candidates[rank], local)), None)
    if here != 0:
        login = login._replace(identity=None)
    for rank in sorted(candidates):
        shipped = shipped_values(recipe)
        ordered = sorted(candidates[rank], key=lambda item: item.target.host in shipped)
        found.addresses.update(item.target.host for item in ordered)
        _add(found, rank, ordered, login, rank == here, ordered[0].target.host in shipped)
    return found


def _add(found: Nodes, rank: int, ordered: list[Candidate], login: Login, here: bool, shipped: bool) -> None:
    """Add the node of one rank by its best candidate; a machine that stands there already is said instead."""
    first = ordered[0]
    if any(first.target.host in (node.host, node.ssh) and first.target.port == node.port for node in found.nodes):
        found.notes.append(_said("same-machine", first))
        return
    role: Literal["head", "worker"] = "head" if rank == 0 else "worker"
    name = _name(role, rank, ordered, {node.name for node in found.nodes})
    fields: dict[str, object] = {"local": True} if here else _login_fields(first.target, role, login)
    node = NodeProposal(name=name, role=role, rank=rank, key=first.said.key, line=first.said.line)
    node = node.model_copy(update={**fields, "shipped": shipped and not here})
    found.nodes.append(node)
    found.taken.append(Taken(key=first.said.key, use=role, value=shown(first.said.text, 200), line=first.said.line))
    if node.shipped:
        found.notes.append(_said("shipped", first))
    others = (item for item in ordered[1:] if item.target.host != first.target.host)
    found.notes.extend(_said("also", item, first.said.key) for item in others)


def _login_fields(target: Target, role: str, login: Login) -> dict[str, object]:
    """An address is a host; a name goes through ssh_config, where an alias of it can stand."""
    return {
        "host" if is_address(target.host) else "ssh": target.host,
        "user": target.user or login.users.get(role) or login.users.get("all"),
        "port": target.port or login.ports.get(role) or login.ports.get("all"),
        "identity_file": login.identity,
    }


def _name(role: str, rank: int, candidates: list[Candidate], used: set[str]) -> str:
    """The first label of a host name that the file gives; else the role, numbered for workers."""
    for item in candidates:
        label = item.target.host.split(".")[0]
        if not is_address(item.target.host) and NODE_NAME.fullmatch(label) and label not in used:
            return label
    name = role if role == "head" else f"{role}{rank}"
    return name if name not in used else f"rank{rank}"


def is_here(host: str, local: Set[str]) -> bool:
    """Whether a host is this machine; `local` holds its addresses and names, in small letters."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() == "localhost" or host.lower() in local
    return address.is_loopback or str(address) in local


def _any_here(candidates: list[Candidate], local: Set[str]) -> bool:
    return any(is_here(item.target.host, local) for item in candidates)


def shipped_values(recipe: Recipe) -> frozenset[str]:
    """Values of the author's own kit, which the example file carries."""
    return frozenset(value for item in recipe.env for value in item.placeholder)


def _candidates(env: EnvFile, notes: list[Note]) -> dict[int, list[Candidate]]:
    """By rank, the targets that the file names, best first; words that are none are noted."""
    found: dict[int, list[Candidate]] = {}
    for said in said_of_nodes(env):
        try:
            target = None if stands_for_a_value(said.text) else parse_target(said.text)
        except ParseError:
            kind: NoteKind = "not-a-host" if said.text else "empty"
        else:
            kind = "placeholder"
            if target is not None and _DIGITS_ONLY.fullmatch(target.host) and not is_address(target.host):
                kind = "not-an-address"
            elif target is not None:
                found.setdefault(said.rank, []).append(Candidate(said, target))
                continue
        notes.append(Note(kind=kind, key=said.key, line=said.line, value=shown(said.text)))
    return found


def _said(kind: NoteKind, item: Candidate, detail: str = "") -> Note:
    said = item.said
    return Note(kind=kind, key=said.key, line=said.line, value=shown(said.text), detail=detail)


def _login(env: EnvFile, recipe: Recipe, found: Nodes) -> Login:
    """Users, ports and the key file; a user of the author's kit is taken and said."""
    login = Login({}, {}, None)
    for key, role in USERS.items():
        value = env.value(key) or ""
        if value and (not is_user(value) or stands_for_a_value(f"{value}@h1")):
            found.notes.append(Note(kind="placeholder", key=key, line=_line(env, key), value=shown(value)))
        elif value:
            login.users[role] = value
            found.taken.append(fact(env, key, "user"))
            if value in shipped_values(recipe):
                found.notes.append(Note(kind="shipped", key=key, line=_line(env, key), value=value))
    for key, role in SSH_PORTS.items():
        value = env.value(key) or ""
        if re.fullmatch(r"[0-9]{1,5}", value) and 1 <= int(value) <= 65535:
            login.ports[role] = int(value)
            found.taken.append(fact(env, key, "ssh-port"))
        elif value:
            found.notes.append(Note(kind="unusable", key=key, line=_line(env, key), value=shown(value)))
    for key in IDENTITIES:
        value = env.value(key) or ""
        if "PRIVATE KEY" in value or "\n" in value:
            found.notes.append(Note(kind="unusable", key=key, line=_line(env, key), value="…"))
        elif value and not stands_for_a_value(value):
            found.taken.append(fact(env, key, "identity"))
            return login._replace(identity=value)
    return login


def shown(text: str, limit: int = 60) -> str:
    """A value as one line, without the password of `user:password@host` and without what a URL can hide."""
    text = _URL_LOGIN.sub(r"\1***@", clean(text))
    return clean_line(_URL_QUERY.sub(r"\1?***", _LOGIN.sub(r"\1:***@", text)), limit)


def fact(env: EnvFile, key: str, use: Use, unit: str | None = None) -> Taken:
    """A key's value as one that was taken, with its line."""
    return Taken(key=key, use=use, value=shown(env.value(key) or "", 200), line=_line(env, key), unit=unit)


def _line(env: EnvFile, key: str) -> int | None:
    entry = env.get(key)
    return entry.line if entry else None
