"""`dsv41-tui init --from PATH --no-connect`: a first configuration from a recipe's `.env`, read and never run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsv41_tui import paths
from dsv41_tui.cli.document import json_text
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t

if TYPE_CHECKING:
    from dsv41_tui.core.proposal import Note, Taken
    from dsv41_tui.runtime.welcome import EnvDraft


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "init", help=t("init.help.verb"), description=t("init.help.verb")
    )
    parser.add_argument("--from", dest="source", metavar="PATH", required=True, help=t("init.help.from"))
    parser.add_argument("--output", metavar="FILE", help=t("init.help.output"))
    parser.add_argument("--no-connect", action="store_true", help=t("init.help.no_connect"))
    parser.add_argument("--json", action="store_true", help=t("init.help.json"))


def run(args: argparse.Namespace) -> int:
    """Write the configuration and print what it rests on. 0, or ConfigError (exit 2) with nothing written."""
    from dsv41_tui.runtime import welcome

    if args.source.startswith("ssh://"):
        raise ConfigError(t("init.error.ssh"))
    if not args.no_connect:
        raise ConfigError(t("init.error.connect"))
    draft = welcome.config_from_env(args.source)
    output = paths.expanded(args.output) if args.output else welcome.default_path()
    if not args.json:
        print("\n".join(_report(draft)))
    _write(draft.text(), output, (lambda line: None) if args.json else print)
    if args.json:
        print(json_text(_document(draft, output), sys.stdout.encoding))
    return 0


def _write(text: str, output: Path, say: Callable[[str], None]) -> None:
    """Write, or show the difference to the file in the way; the same file again is no fault."""
    from dsv41_tui.runtime.configuration import ConfigExists
    from dsv41_tui.runtime.welcome import write_config

    try:
        write_config(text, output)
    except ConfigExists as error:
        if error.diff:
            say(error.diff)
            raise
        say(t("init.same", file=_shown(output)))
        return
    say(t("init.written", file=_shown(output)))
    say(t("init.next"))


def _report(draft: EnvDraft) -> Iterator[str]:
    """What was read from which line, what was not, and the nodes that come of it."""
    from dsv41_tui.core.config_text import note_text

    found = draft.proposal
    yield t("init.read", file=_shown(draft.path), recipe=found.recipe)
    for fact in sorted(found.taken, key=_by_line):
        unit = f" {fact.unit}" if fact.unit else ""
        yield f"  {fact.key} = {fact.value}{unit}  ({t(f'init.use.{fact.use}')}, {_line(fact)})"
    if found.notes:
        yield ""
        yield t("init.open")
    for note in sorted(found.notes, key=_by_line):
        yield f"  {note_text(note)}"
    if found.nodes:
        yield ""
        yield t("init.nodes")
    for node in found.nodes:
        yield f"  {node.name}  {node.role} rank {node.rank}  {node.target or t('init.this_machine')}"
    yield ""


def _line(fact: Taken) -> str:
    return t("init.default") if fact.line is None else t("init.line", line=fact.line)


def _by_line(item: Note | Taken) -> tuple[bool, int]:
    return item.line is None, item.line or 0


def _shown(path: Path) -> str:
    from dsv41_tui.core.text import clean_line

    return clean_line(str(path))


def _document(draft: EnvDraft, output: Path) -> dict[str, Any]:
    """The JSON of the verb: what was read, what was left open, the nodes, and the file that was written."""
    from dsv41_tui.core.config_text import note_text

    return {
        "schema": 1,
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "from": _shown(draft.path),
        "output": _shown(output),
        "recipe": draft.proposal.recipe,
        "read": [fact.model_dump() for fact in draft.proposal.taken],
        "open": [{**note.model_dump(), "text": note_text(note)} for note in draft.proposal.notes],
        "nodes": [node.model_dump(exclude_none=True) for node in draft.proposal.nodes],
    }
