"""What types alone cannot say of the configuration: rules between keys, and values that would harm.

They judge the raw tables, so that one run names every fault, also where a type is wrong elsewhere. A host or user that
begins with `-` or holds a space would become an option of ssh; a key written into the file would be copied about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dsv41_tui import paths
from dsv41_tui.core.address import is_host, is_user
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.config_errors import bad_value, dotted

NAME = re.compile(r"[^\W_](?:[\w.-]{0,39})")
JUMP = re.compile(r"[^\s,-][^\s,]*(?:,[^\s,-][^\s,]*)*")
ROOT = re.compile(r"(?:/[A-Za-z0-9/._@+-]*)?")
"""It stands before every path that is read there, unquoted in the collector's requests."""
_REMOTE_KEYS = ("ssh", "host", "user", "port", "identity_file", "proxy_jump", "ssh_config", "known_hosts")

Raw = Mapping[str, Any]


def rule_errors(raw: Raw) -> list[str]:
    """One line for each rule that the file breaks, without the file's name."""
    nodes = list(_tables(raw, "node"))
    checks: tuple[Iterator[str], ...] = (
        _some_node(raw),
        _names(raw, nodes),
        _targets(raw, nodes),
        _roles(raw, nodes),
        _words(raw, nodes),
        _thresholds(raw),
        _keys(raw),
        _private_keys(raw, ()),
    )
    return [line for check in checks for line in check]


def _tables(raw: Raw, name: str) -> Iterator[tuple[int, Raw]]:
    """The tables of `[[name]]` with their place; what is not a table is reported by its type."""
    entries = raw.get(name)
    for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        if isinstance(entry, Mapping):
            yield index, entry


def _where(raw: Raw, index: int, *keys: str) -> str:
    return dotted(("node", index, *keys), raw)


def _some_node(raw: Raw) -> Iterator[str]:
    if raw.get("node", ()) in ((), []):
        yield t("config.error.no_node")


def _names(raw: Raw, nodes: list[tuple[int, Raw]]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for index, node in nodes:
        name = node.get("name")
        if not isinstance(name, str):
            continue
        if not NAME.fullmatch(name):
            yield bad_value(f"node.#{index + 1}.name", name, t("config.allowed.name"))
        elif name in seen:
            yield t("config.error.duplicate_name", key=f"node.{name}", first=seen[name] + 1, second=index + 1)
        seen.setdefault(name, index)


def _targets(raw: Raw, nodes: list[tuple[int, Raw]]) -> Iterator[str]:
    """Every node says once, and only once, where it is; no machine is named twice."""
    seen: dict[tuple[object, ...], int] = {}
    for index, node in nodes:
        if node.get("local") is True:
            for key in (key for key in _REMOTE_KEYS if key in node):
                yield t("config.error.local_and", key=_where(raw, index), other=key)
            target: tuple[object, ...] = ("local",)
        elif "ssh" in node or "host" in node:
            if "ssh" in node and "host" in node:
                yield t("config.error.ssh_and_host", key=_where(raw, index))
            target = tuple(str(node.get(key)) for key in ("ssh", "host", "user", "port"))
        else:
            yield t("config.error.no_target", key=_where(raw, index))
            continue
        first = seen.setdefault((*target, str(node.get("root", ""))), index)
        if first != index:
            yield t("config.error.same_target", first=_where(raw, first), second=_where(raw, index))


def _roles(raw: Raw, nodes: list[tuple[int, Raw]]) -> Iterator[str]:
    heads = [index for index, node in nodes if node.get("role") == "head"]
    if len(heads) > 1:
        yield t("config.error.two_heads", keys=", ".join(_where(raw, index) for index in heads))
    ranks: dict[int, int] = {}
    for index, node in nodes:
        rank = node.get("rank")
        if not isinstance(rank, int) or isinstance(rank, bool):
            continue
        if node.get("role") == "nas":
            yield t("config.error.nas_rank", key=_where(raw, index, "rank"))
        first = ranks.setdefault(rank, index)
        if first != index:
            yield t(
                "config.error.duplicate_rank", first=_where(raw, first), second=_where(raw, index), rank=rank
            )  # fmt: skip


def _words(raw: Raw, nodes: list[tuple[int, Raw]]) -> Iterator[str]:
    """Addresses, users and folders are of a form that no program takes for something else."""
    forms: dict[str, tuple[Callable[[str], object], str]] = {
        "ssh": (is_host, "config.allowed.alias"),
        "host": (is_host, "config.allowed.host"),
        "user": (is_user, "config.allowed.user"),
        "proxy_jump": (JUMP.fullmatch, "config.allowed.jump"),
        "identity_file": (_expands, "config.allowed.path"),
        "ssh_config": (_expands, "config.allowed.path"),
        "known_hosts": (_expands, "config.allowed.path"),
        "root": (ROOT.fullmatch, "config.allowed.root"),
    }
    for index, node in nodes:
        for key, (fits, allowed) in forms.items():
            value = node.get(key)
            if isinstance(value, str) and not fits(value):
                yield bad_value(_where(raw, index, key), value, t(allowed))
    nas = raw.get("nas")
    server = nas.get("server") if isinstance(nas, Mapping) else None
    if isinstance(server, str) and not is_host(server):
        yield bad_value("nas.server", server, t("config.allowed.host"))


def _expands(path: str) -> bool:
    """Whether `~` in a path means a user that this machine knows."""
    return not path.startswith("~") or str(paths.expanded(path)) != path


def _thresholds(raw: Raw) -> Iterator[str]:
    table = raw.get("thresholds")
    if not isinstance(table, Mapping):
        return
    warn, error = table.get("available_warn_gib"), table.get("available_error_gib")
    if isinstance(warn, int | float) and isinstance(error, int | float) and error > warn:
        yield t("config.error.threshold_order", error=error, warn=warn)


def _keys(raw: Raw) -> Iterator[str]:
    """No key for two actions: Textual would drop one of the two without a word."""
    table = raw.get("keys")
    seen: dict[str, str] = {}
    for action, value in table.items() if isinstance(table, Mapping) else ():
        if not isinstance(value, str):
            continue
        names = [name.strip() for name in value.split(",")]
        if not all(names) or any(name.split() != [name] for name in names if name):
            yield bad_value(dotted(("keys", action), raw), value, t("config.allowed.key"))
            continue
        for name in dict.fromkeys(names):
            first = seen.setdefault(name, action)
            if first != action:
                yield t("config.error.duplicate_key", first=first, second=action, name=name)


def _private_keys(value: Any, location: tuple[int | str, ...], raw: Raw | None = None) -> Iterator[str]:
    """A private key or password block pasted as a value; its text is never repeated."""
    whole: Raw = value if raw is None else raw
    if isinstance(value, str) and "PRIVATE KEY-----" in value:
        yield t("config.error.secret", key=dotted(location, whole))
    entries: Any = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list | tuple):
        entries = enumerate(value)
    for part, entry in entries:
        yield from _private_keys(entry, (*location, part), whole)
