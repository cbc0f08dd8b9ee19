"""The command `dsv41-tui`: arguments to a front end, which is imported late so that `--help` costs nothing."""

from __future__ import annotations

import errno
import io
import os
import sys

from dsv41_tui.cli.arguments import Globals, build_parser, take_globals
from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.language import load_language

_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What standard output says when it takes no more."""


def main(argv: list[str] | None = None) -> int:
    """Run one call; the exit code is the contract's."""
    _replace_unprintable()
    load_language()
    try:
        if sys.stdout is None:
            raise ConfigError(t("cli.no-output"))
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
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
    except OSError as error:
        if error.errno not in _UNWRITTEN:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        sys.stderr.write(f"dsv41-tui: {t('cli.unwritten', why=error.strerror)}\n")
        return 2


def _replace_unprintable() -> None:
    """A terminal that is not UTF-8 gets `?` for what it has no character for, and no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(argv: list[str]) -> int:
    flags = take_globals(argv)
    if flags.language:
        load_language(flags.language)
    arguments = build_parser().parse_args(flags.rest)
    if arguments.verb in ("status", "check"):
        import asyncio

        from dsv41_tui.cli.status import report

        return asyncio.run(report(arguments.verb, flags, arguments.json))
    if arguments.verb == "diagnose":
        from dsv41_tui.cli.diagnose import run as run_diagnose

        return run_diagnose(arguments)
    if arguments.verb == "init":
        from dsv41_tui.cli.init import run

        return run(arguments)
    return _panel(flags)


def _panel(flags: Globals) -> int:
    from dsv41_tui.ui.start import start_panel

    return start_panel(demo=flags.demo, config=flags.config, language=flags.language)


if __name__ == "__main__":
    sys.exit(main())
