"""The message files as tables, and what the source asks of them.

Convention for the source: `t()` takes a whole key, a choice of whole keys (`"a.b" if x else "a.c"`), or an f-string
that begins with its area (`f"init.use.{use}"`), whose holes stand for any part of a key. A name in its place is fine,
as long as the key is written somewhere in the source as a whole literal or as such an f-string.
"""

from __future__ import annotations

import ast
import functools
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dsv41_tui import paths
from dsv41_tui.core.messages import LANGUAGES, flatten

FOLDER = paths.DATA / "messages"
FILES = sorted(file.name for file in (FOLDER / "en").glob("*.toml"))
AREAS = [name.removesuffix(".toml") for name in FILES]
SOURCES = sorted(paths.PACKAGE.rglob("*.py"))


@functools.cache
def table(language: str, name: str) -> dict[str, str]:
    """One file, flat."""
    file = FOLDER / language / name
    return flatten(tomllib.loads(file.read_text("utf-8"))) if file.is_file() else {}


@functools.cache
def catalogue(language: str) -> dict[str, str]:
    """All files of a language, flat."""
    return {key: text for name in FILES for key, text in table(language, name).items()}


def every_text() -> Iterator[tuple[str, str, str]]:
    for language in LANGUAGES:
        for key, text in catalogue(language).items():
            yield language, key, text


def places(text: str) -> set[str]:
    """Names of the `{places}` of a text. ValueError for a brace that is none."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


class Use(NamedTuple):
    """One key, or a pattern of keys, that the source asks for."""

    where: str
    key: str
    """A whole key, or a regular expression when `pattern`."""
    pattern: bool
    values: frozenset[str] | None
    """Names given to `t`; None where they cannot be told."""


@functools.cache
def asked() -> tuple[Use, ...]:
    """Every key that stands in a call of `t`."""
    return tuple(use for file in SOURCES for use in _calls(file))


@functools.cache
def written() -> tuple[frozenset[str], tuple[str, ...]]:
    """Literals and f-string patterns of the source that can be keys, wherever they stand."""
    whole: set[str] = set()
    patterns: list[str] = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
            elif isinstance(node, ast.JoinedStr) and _pattern(node) is not None:
                patterns.append(_pattern(node) or "")
    return frozenset(whole), tuple(patterns)


def _calls(file: Path) -> Iterator[Use]:
    tree = ast.parse(file.read_text("utf-8"))
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dsv41_tui.core.messages"
        for alias in node.names
        if alias.name == "t"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
            given = [keyword.arg for keyword in node.keywords]
            values = None if None in given else frozenset(name for name in given if name)
            where = f"{file.relative_to(paths.PACKAGE)}:{node.lineno}"
            yield from _keys(node.args[0], where, values)


def _keys(node: ast.expr, where: str, values: frozenset[str] | None) -> Iterator[Use]:
    if isinstance(node, ast.Constant):
        yield Use(where, str(node.value), False, values)
    elif isinstance(node, ast.IfExp):
        yield from _keys(node.body, where, values)
        yield from _keys(node.orelse, where, values)
    elif isinstance(node, ast.JoinedStr):
        yield Use(where, _pattern(node) or ast.unparse(node), True, values)


def _pattern(node: ast.JoinedStr) -> str | None:
    """The expression that fits the keys of an f-string; None where it does not begin with an area."""
    first = node.values[0] if node.values else None
    start = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    if start.split(".")[0] not in AREAS or "." not in start:
        return None
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in node.values)
