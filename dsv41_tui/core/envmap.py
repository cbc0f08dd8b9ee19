"""From a recipe's `.env` to a proposed configuration: which nodes, how to log in, and what was left open.

Pure; the file was read by `parsers.envfile` and nothing of it is ever run. Every fact keeps its key and line, and
nothing is guessed: a value that only stands for one is named and left out. The keys are those of `envkeys`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set

from dsv41_tui.core.address import is_address
from dsv41_tui.core.envfile import EnvFile
from dsv41_tui.core.envkeys import FACTS, NODE_COUNT, is_usable
from dsv41_tui.core.envnodes import fact, is_here, nodes_of, shown
from dsv41_tui.core.proposal import ConfigProposal, NodeProposal, Note, Taken
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.core.text import clean_line


def proposal(
    env: EnvFile, recipe: Recipe, *, local: Set[str] = frozenset(), env_path: str | None = None
) -> ConfigProposal:
    """Propose a configuration from what the file says.

    `local` holds the addresses and names of this machine, in small letters: a node with one of them is `local`.
    `env_path` is the file's absolute path here; it goes into the configuration when the head is this machine.
    """
    found = nodes_of(env, recipe, local)
    facts = list(_facts(env, recipe))
    head_is_here = any(node.local and node.role == "head" for node in found.nodes)
    folder, _, name = (env_path if env_path and head_is_here else "").rpartition("/")
    return ConfigProposal(
        recipe=recipe.id,
        nodes=tuple(found.nodes),
        nas_hint=_nas_hint(facts, found.addresses, local),
        recipe_path=(folder or "/") if name else None,
        env_path=env_path if name not in ("", ".env") else None,
        taken=(*found.taken, *facts),
        notes=tuple(dict.fromkeys((*_unreadable(env), *found.notes, *_unusable(env), *_about_nodes(env, found.nodes)))),
    )


def _about_nodes(env: EnvFile, nodes: list[NodeProposal]) -> Iterator[Note]:
    if nodes and not any(node.role == "head" for node in nodes):
        yield Note(kind="no-head")
    if nodes and not any(node.local for node in nodes if node.role == "head"):
        yield Note(kind="head-view")
    count = env.value(NODE_COUNT) or ""
    entry = env.get(NODE_COUNT)
    if re.fullmatch(r"[0-9]{1,4}", count) and nodes and int(count) != len(nodes) and entry is not None:
        yield Note(kind="count", key=NODE_COUNT, line=entry.line, value=count, detail=str(len(nodes)))


def _unreadable(env: EnvFile) -> Iterator[Note]:
    """Keys and lines that cannot be read without running the file; none of their values is repeated."""
    for entry in env.entries:
        key = clean_line(entry.key, 60)
        if entry.secret and (entry.value or entry.items or entry.computed or entry.error):
            yield Note(kind="secret", key=key, line=entry.line)
        elif entry.error:
            yield Note(kind="error", key=key, line=entry.line, detail=entry.reason or "")
        elif entry.computed:
            yield Note(kind="computed", key=key, line=entry.line, detail=entry.reason or "")
    for key in dict.fromkeys(entry.key for entry in env.entries if entry.duplicate):
        last = env.get(key)
        yield Note(kind="duplicate", key=clean_line(key, 60), line=last.line if last else None)
    for entry in [entry for entry in env.entries if entry.carriage_return][:1]:
        yield Note(kind="carriage-return", line=entry.line)
    for command in env.commands:
        yield Note(kind="command", line=command.line, value=clean_line(command.text, 60))


def _unusable(env: EnvFile) -> Iterator[Note]:
    """Ports, times and addresses that are none: left out, and said."""
    for key, use in FACTS.items():
        value, entry = env.value(key), env.get(key)
        if value and entry is not None and not is_usable(use, value):
            yield Note(kind="unusable", key=key, line=entry.line, value=shown(value))


def _facts(env: EnvFile, recipe: Recipe) -> Iterator[Taken]:
    """Ports, trees, the NFS server and the timeout: what the file says, else what the recipe takes."""
    named = {use for key, use in FACTS.items() if env.get(key) is not None}
    for key, use in FACTS.items():
        known = recipe.env_key(key)
        unit = known.unit if known else None
        if value := env.value(key):
            if not is_usable(use, value):
                continue
            yield fact(env, key, use, unit)
        elif use not in named and known is not None and known.default is not None:
            yield Taken(key=key, use=use, value=known.default, unit=unit)


def _nas_hint(facts: list[Taken], named: set[str], local: Set[str]) -> str | None:
    """The NFS server where it is none of the nodes by any address that the file gives them; else None."""
    servers = (item.value for item in facts if item.use == "nfs-server" and item.line is not None)
    for word in (word for value in servers for word in re.split(r"[\s,]+", value)):
        if is_address(word) and word not in named and not is_here(word, local):
            return word
    return None


def recipe_for(env: EnvFile, recipes: Mapping[str, Recipe], default: str) -> Recipe:
    """The recipe whose keys the file uses most; on a tie the one called `default`."""
    keys = {entry.key for entry in env.entries}

    def fits(recipe: Recipe) -> tuple[int, bool]:
        return len(keys & {item.key for item in recipe.env}), recipe.id == default

    return max(recipes.values(), key=fits)
