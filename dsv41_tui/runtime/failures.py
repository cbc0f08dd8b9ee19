"""The failure book is files: those that the package ships and the operator's own in the config folder.

The shipped ones are tested, so they are only read. A file of the operator's is checked whole: a broken one is skipped
with one line that says where it is wrong. Reading takes 0.1 s and is called off the first frame.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from dsv41_tui import paths
from dsv41_tui.core.conditions import parse, patterns_used
from dsv41_tui.core.errors import ConfigError, ParseError
from dsv41_tui.core.failure import Book, CauseFile, FailureRule
from dsv41_tui.core.messages import t
from dsv41_tui.core.pattern_safety import complaint
from dsv41_tui.core.text import clean_line
from dsv41_tui.core.value import Value
from dsv41_tui.runtime.configuration import read_text

T = TypeVar("T", bound=Value)
FAILURES, CAUSES = "failures", "causes"


class LoadedBook(NamedTuple):
    """The book, and one line for each file of the operator's that was skipped."""

    book: Book
    notes: tuple[str, ...] = ()


def load_book(*, shipped: Path = paths.DATA, own: Path | None = None) -> LoadedBook:
    """Read all files; an operator's file beats a shipped one of the same id. Never raises for a file of theirs."""
    own = paths.config_dir() if own is None else own
    causes = {cause.id: cause for cause in (_read(file, CauseFile) for file in files(shipped / CAUSES))}
    rules = {rule.id: rule for rule in (_read(file, FailureRule) for file in files(shipped / FAILURES))}
    notes: list[str] = []
    for file in files(own / CAUSES):
        try:
            cause = _read(file, CauseFile)
            check_cause(cause, file)
        except ConfigError as error:
            notes.append(error.message)
        else:
            causes[cause.id] = cause
    for file in files(own / FAILURES):
        try:
            rule = _read(file, FailureRule)
            check_rule(rule, file, frozenset(causes))
        except ConfigError as error:
            notes.append(error.message)
        else:
            rules[rule.id] = rule
    return LoadedBook(Book(failures=tuple(rules.values()), causes=causes), tuple(notes))


def _read(file: Path, kind: type[T]) -> T:
    """One file as a value. Raises ConfigError with one line that names the file, and the line or the key."""
    try:
        value = kind.model_validate(tomllib.loads(read_text(file)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = [str(part) for part in first["loc"]]
        where = _place(file, ".".join(keys) or "-", next((key for key in reversed(keys) if not key.isdigit()), ""))
        raise _skipped(file, f"{where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        last = f"at line {_text(file).count(chr(10)) + 1}, the end"
        raise _skipped(file, str(error).replace("at end of document", last)) from error
    except ConfigError as error:
        raise _skipped(file, error.message) from error
    name = getattr(value, "id", "")
    if name != file.stem:
        raise ConfigError(t("failures.error.id", file=_name(file), id=clean_line(name, 100)))
    return value


def check_rule(rule: FailureRule, file: Path, causes: frozenset[str]) -> None:
    """Raises ConfigError for what would fail later: patterns, conditions, causes, texts."""
    if not rule.title.get("en"):
        raise ConfigError(t("failures.error.text", file=_name(file), where="title"))
    for cause in rule.cause:
        if cause.id not in causes:
            raise ConfigError(t("failures.error.cause", file=_name(file), id=clean_line(cause.id, 100)))
    for where, text in patterns(rule):
        if (why := complaint(text)) is not None:
            raise _skipped(file, f"{_place(file, where, text)}: {why}")
    _check_conditions(file, conditions(rule))


def check_cause(cause: CauseFile, file: Path) -> None:
    """Raises ConfigError for conditions that cannot be read and texts that are missing."""
    for where, text in (("title", cause.title), ("fix", cause.fix)):
        if not text.get("en"):
            raise ConfigError(t("failures.error.text", file=_name(file), where=where))
    _check_conditions(file, cause_conditions(cause))


def _check_conditions(file: Path, conditions: Iterator[tuple[str, str]]) -> None:
    for where, text in conditions:
        try:
            why = next((why for pattern in patterns_used((parse(text),)) if (why := complaint(pattern))), None)
        except ParseError as error:
            why = error.message
        if why is not None:
            raise _skipped(file, f"{_place(file, where, text)}: {why}")


def patterns(rule: FailureRule) -> Iterator[tuple[str, str]]:
    """Every pattern of a rule with its key; those of conditions are not among them."""
    match = rule.match
    for key, texts in (
        ("match.any", match.any), ("match.near", match.near), ("match.unless", match.unless),
        ("match.unless_near", match.unless_near), ("clears_on", rule.clears_on),
    ):  # fmt: skip
        yield from ((f"{key}[{place}]", text) for place, text in enumerate(texts))


def conditions(rule: FailureRule) -> Iterator[tuple[str, str]]:
    """Every condition of a rule with its key."""
    match = rule.match
    for key, text in (("match.when", match.when), ("match.needs", match.needs)):
        if text is not None:
            yield key, text
    yield from ((f"match.reading[{place}]", text) for place, text in enumerate(match.reading))
    for place, cause in enumerate(rule.cause):
        for key in ("confirmed_by", "likely_by", "ruled_out_by"):
            texts: tuple[str, ...] = getattr(cause, key) or ()
            yield from ((f"cause[{place}].{key}[{number}]", text) for number, text in enumerate(texts))


def cause_conditions(cause: CauseFile) -> Iterator[tuple[str, str]]:
    """Every condition of a cause with its key."""
    for key in ("confirmed_by", "likely_by", "ruled_out_by"):
        yield from ((f"{key}[{place}]", text) for place, text in enumerate(getattr(cause, key)))


def files(folder: Path) -> list[Path]:
    """The TOML files of a folder; none where there is no folder, or none that we can enter."""
    try:
        return sorted(folder.glob("*.toml"))
    except OSError:
        return []


def _skipped(file: Path, why: str) -> ConfigError:
    return ConfigError(t("failures.error.skipped", file=_name(file), why=clean_line(why, 200)))


def _place(file: Path, key: str, text: str) -> str:
    """`line 7, match.any[0]`: where `text`, as it is written in the file, stands; the key alone where it is not found.

    TOML can write a text in several ways, so it is looked for as it is, then with its backslashes doubled.
    """
    for wanted in (text, text.replace("\\", "\\\\")):
        line = next((n for n, line in enumerate(_text(file).splitlines(), 1) if wanted and wanted in line), None)
        if line is not None:
            return f"line {line}, {key}"
    return key


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, ConfigError):
        return ""


def _name(file: Path) -> str:
    return clean_line(str(file))
