"""Finding, loading and writing the one configuration file. Every error is a ConfigError; several faults, several lines.

The order: `--config FILE`, `./dsv41.toml`, the XDG config folder. A file in the working folder that belongs to another
user is refused, since `proxy_jump` and `ssh_config` can start programs.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import stat
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dsv41_tui.config import Config, ThresholdConfig
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.messages import t
from dsv41_tui.core.readings import GIB
from dsv41_tui.core.recipe import Recipe, recipe_limits
from dsv41_tui.core.text import clean, clean_line
from dsv41_tui.runtime.config_errors import bad_value, model_errors, nearest, shown
from dsv41_tui.runtime.config_rules import rule_errors

MAX_BYTES = 1 << 20
_DEEPEST = 16
# A chain of dotted keys is refused before it is parsed: its price there grows with the square of its length.
_DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")


class ConfigExists(ConfigError):
    """A file is in the way of a new configuration; `diff` shows how the two differ, empty when they do not."""

    def __init__(self, message: str, diff: str, fix: tuple[str, ...]) -> None:
        super().__init__(message, fix=fix)
        self.diff = diff


def load_config(path: Path) -> Config:
    """Read and check a file. Raises ConfigError, one line a fault, each with file, key, value and what is allowed."""
    return parse_config(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a small regular file in UTF-8, with or without a mark; anything else is a ConfigError."""
    name = clean_line(str(path))
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(t("config.error.not_utf8", file=name, line=line)) from error


def read_bytes(path: Path) -> bytes:
    """A small regular file; a folder, a pipe that would block, or a huge file is a ConfigError with one line."""
    name = clean_line(str(path))
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(t("config.error.not_a_file", file=name))
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ConfigError(t("config.error.no_file", file=name)) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(t("config.error.unreadable", file=name, why=why)) from error
    if len(data) > MAX_BYTES:
        raise ConfigError(t("config.error.too_large", file=name, limit=MAX_BYTES // 1024))
    return data


def parse_config(text: str, name: str) -> Config:
    """Check the text of a configuration; `name` is the file's, for the errors."""
    name = clean_line(name)
    raw = _tables(text, name)
    try:
        config, lines = Config.model_validate(_tuples(raw), strict=True), rule_errors(raw)
    except ValidationError as error:
        config, lines = None, model_errors(error, raw) + rule_errors(raw)
    if config is None or lines:
        raise ConfigError("\n".join(f"{name}: {line}" for line in dict.fromkeys(lines)))
    return config


def _tables(text: str, name: str) -> dict[str, Any]:
    too_deep = t("config.error.too_deep", file=name, limit=_DEEPEST)
    if _DOTTED.search(text):
        raise ConfigError(too_deep)
    try:
        tables = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(too_deep) from error
    except ValueError as error:
        what = clean_line(str(error), 200)
        found = re.search(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", what)
        if found is None:
            raise ConfigError(t("config.error.toml", file=name, why=what)) from error
        line = found[2] or text.count("\n") + 1
        column = found[3] or len(text) - text.rfind("\n")
        raise ConfigError(t("config.error.toml_at", file=name, line=line, column=column, why=found[1])) from error
    if _is_deeper(tables, _DEEPEST):
        raise ConfigError(too_deep)
    return tables


def _is_deeper(tables: dict[str, Any], limit: int) -> bool:
    """Whether tables and lists are nested deeper than `limit`; level by level, so that no depth is too much."""
    level: list[Any] = [tables]
    for _ in range(limit):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
    return bool(level)


def _tuples(value: Any) -> Any:
    """Lists as tuples: strict models take nothing else, and strict keeps "22" from passing as a port."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return value


def check_choice(path: Path | None, key: str, value: str, known: Iterable[str]) -> None:
    """Raise ConfigError unless `value` is one of `known`: for themes, recipes and actions, which are files or code."""
    names = sorted(known)
    if value in names:
        return
    allowed = t("config.allowed.one_of", values=", ".join(map(shown, names)) or "-")
    near = nearest(value, names)
    line = bad_value(key, value, allowed) + ("" if near is None else " " + t("config.error.did_you_mean", nearest=near))
    raise ConfigError(line if path is None else f"{clean_line(str(path))}: {line}")


def limits_of(config: Config, recipe: Recipe | None = None) -> Limits:
    """The recipe's published thresholds, each overridden by the one of `[thresholds]`; `source` says which are whose.

    Raises ConfigError when a threshold of ours falls on the wrong side of one of the recipe's.
    """
    base = Limits() if recipe is None else recipe_limits(recipe)
    own = _own_limits(config.thresholds)
    if config.nas is not None and config.nas.link_mbit is not None:
        own["nas_link_mbit"] = config.nas.link_mbit
    if not own:
        return base
    limits = base.model_copy(
        update={**own, "source": t("config.limits.mixed", base=base.source, own=", ".join(sorted(own)))}
    )
    if limits.available_error > limits.available_warn:
        raise ConfigError(
            t("config.error.limit_order", error=_gib(limits.available_error), warn=_gib(limits.available_warn))
        )
    return limits


def _own_limits(table: ThresholdConfig) -> dict[str, int | float]:
    """The fields of Limits that the file sets, in their own units."""
    found = {name: value for name, value in table.model_dump().items() if value is not None}
    return {
        name.removesuffix("_gib"): int(value * GIB) if name.endswith("_gib") else value for name, value in found.items()
    }


def _gib(value: int) -> str:
    return f"{value / GIB:.4g}"


def _diff(old: str, new: str, name: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, t("config.new_file"), lineterm="")
    return "\n".join(lines)


def write_config(text: str, path: Path) -> None:
    """Write a checked configuration, 0600, by rename; ConfigExists if a file is there, ConfigError if it cannot be."""
    parse_config(text, str(path))
    name = clean_line(str(path))
    if os.path.lexists(path):
        old = read_text(path)
        raise ConfigExists(
            t("config.error.exists", file=name),
            _diff(clean(old), text, name),
            (f"mv {shlex.quote(str(path))} {shlex.quote(str(path))}.old",),
        )
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).rename(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise ConfigError(t("config.error.unwritable", file=name, why=error.strerror or str(error))) from error
