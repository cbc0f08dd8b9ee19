"""The command `dsv41-tui`: arguments to a front end, which is imported late so that `--help` costs nothing."""

from __future__ import annotations

import sys

from dsv41_tui.cli.arguments import Globals, build_parser, take_globals
from dsv41_tui.core.errors import PanelError
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.language import load_language


def main(argv: list[str] | None = None) -> int:
    """Run one call; the exit code is the contract's."""
    load_language()
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except PanelError as error:
        sys.stderr.write(f"dsv41-tui: {error.message}\n")
        for command in error.fix:
            sys.stderr.write(f"  $ {command}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _run(argv: list[str]) -> int:
    flags = take_globals(argv)
    if flags.language:
        load_language(flags.language)
    arguments = build_parser().parse_args(flags.rest)
    if arguments.verb in ("status", "check"):
        import asyncio

        from dsv41_tui.cli import status

        return asyncio.run(status.run(arguments.verb, flags, arguments.json))
    if arguments.verb == "init":
        from dsv41_tui.cli import init

        return init.run(arguments)
    return _panel(flags)


def _panel(flags: Globals) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write(f"dsv41-tui: {t('cli.no-terminal')}\n")
        return 2
    from dsv41_tui.ui.run import run_panel

    return run_panel(flags)


if __name__ == "__main__":
    sys.exit(main())
