"""The command line. Global flags work before and after the verb; `--demo` takes a scenario only after `=`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dsv41_tui import __version__
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import LANGUAGES, t

DEFAULT_SCENARIO = "healthy"


@dataclass
class Globals:
    """Flags that every verb understands."""

    demo: str | None = None
    """Scenario of the sandbox cluster, or None for the real one."""
    config: str | None = None
    read_only: bool = False
    language: str | None = None
    rest: list[str] = field(default_factory=list)
    """What is left for the verb."""


def take_globals(argv: list[str]) -> Globals:
    """Take the global flags out of `argv`, before or after the verb. ConfigError when one lacks its value."""
    found = Globals()
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            found.rest += [word, *words]
        elif name == "--demo":
            found.demo = value if equals else DEFAULT_SCENARIO
        elif name == "--read-only" and not equals:
            found.read_only = True
        elif name in ("--config", "--language"):
            text = value if equals else next(words, None)
            if not text:
                raise ConfigError(t("cli.needs-value", flag=name))
            setattr(found, name[2:], text)
        else:
            found.rest.append(word)
    if found.language is not None and found.language not in LANGUAGES:
        raise ConfigError(t("cli.language", value=found.language, allowed=", ".join(LANGUAGES)))
    return found


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and its own words in the language of the catalogue."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, add_help=False)
        self._positionals.title, self._optionals.title = t("cli.arguments"), t("cli.options")
        self.add_argument("-h", "--help", action="help", help=t("cli.help-help"))

    def error(self, message: str) -> NoReturn:
        raise ConfigError(t("cli.usage", message=message, command=self.prog))


def build_parser() -> Parser:
    """The parser of the verbs; the global flags stand in it for `--help` only."""
    from dsv41_tui.sandbox.scenario import names

    parser = Parser(prog="dsv41-tui", description=t("cli.description"), epilog=t("cli.epilog"))
    parser.add_argument("--version", action="version", version=f"dsv41-tui {__version__}", help=t("cli.help-version"))
    parser.add_argument("--demo", metavar="=SCENARIO", nargs="?", help=t("cli.help-demo", names=", ".join(names())))
    parser.add_argument("--config", metavar="FILE", help=t("cli.help-config"))
    parser.add_argument("--read-only", action="store_true", help=t("cli.help-read-only"))
    parser.add_argument("--language", metavar="LANG", choices=LANGUAGES, help=t("cli.help-language"))
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title=t("cli.verbs"), parser_class=Parser)
    for verb in ("status", "check"):
        sub = verbs.add_parser(verb, help=t(f"cli.help-{verb}"), description=t(f"cli.help-{verb}"))
        sub.add_argument("--json", action="store_true", help=t("cli.help-json"))
    from dsv41_tui.cli import diagnose, init

    diagnose.add_parser(verbs)
    init.add_parser(verbs)
    return parser
