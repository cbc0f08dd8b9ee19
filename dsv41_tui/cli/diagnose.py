"""`dsv41-tui diagnose [FILE|-] … [--context FILE]`: what a log shows, offline, for people or as one JSON document."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t

if TYPE_CHECKING:
    from dsv41_tui.runtime.diagnosis import Diagnosis

FINE, WRONG = 0, 1
UNTOLD = {"pane", "log_number", "first_at", "last_at"}
"""Of a finding: what only a panel knows."""


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "diagnose", help=t("diagnose.help.verb"), description=t("diagnose.help.verb")
    )
    parser.add_argument("file", metavar="FILE", nargs="*", help=t("diagnose.help.file"))
    parser.add_argument("--context", metavar="FILE", action="append", default=[], help=t("diagnose.help.context"))
    parser.add_argument("--json", action="store_true", help=t("cli.help-json"))


def run(args: argparse.Namespace) -> int:
    """Read, judge, print. 1 with a finding of severity error, else 0; ConfigError (exit 2) for a wrong call."""
    names = list(args.file) or [_piped()]
    if [*names, *args.context].count("-") > 1:
        raise ConfigError(t("diagnose.error.twice"))
    if sys.stdin is None and "-" in [*names, *args.context]:
        raise ConfigError(t("diagnose.error.terminal"))
    from dsv41_tui.runtime.diagnosis import diagnose

    taken_at = datetime.now(UTC)
    found = diagnose(names, args.context, _note, taken_at.year)
    sys.stdout.write(_json(found, taken_at) if args.json else _people(found))
    sys.stdout.flush()
    return WRONG if any(item.severity == "error" for item in found.findings) else FINE


def _piped() -> str:
    """Standard input without being asked for, where it is no terminal that would wait for typing."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ConfigError(t("diagnose.error.terminal"))
    return "-"


def _note(line: str) -> None:
    sys.stderr.write(f"dsv41-tui: {line}\n")


def _json(found: Diagnosis, taken_at: datetime) -> str:
    from dsv41_tui.cli.document import SCHEMA, json_text

    document = {
        "schema": SCHEMA,
        "taken_at": taken_at.isoformat(timespec="seconds"),
        "findings": [item.model_dump(mode="json", exclude=UNTOLD) for item in found.findings],
        "lines": found.lines,
    }
    return json_text(document, sys.stdout.encoding, indent=2) + "\n"


def _people(found: Diagnosis) -> str:
    from dsv41_tui.cli.findings import report

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return "\n".join(report(found, width, colour)) + "\n"
