"""Run the panel and leave the terminal clean, whatever ends it.

Textual is imported only here, inside `run_panel`. Signals end the app as `q` does; if it has not ended a moment later
the process does, so that a dead terminal cannot hold it. A fault of our own goes to a crash file, one line to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import sys
import termios
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsv41_tui import __version__, paths
from dsv41_tui.core.messages import t
from dsv41_tui.ui import glyphs
from dsv41_tui.ui.measure import WidthProbe
from dsv41_tui.ui.source import OpenCluster, WelcomeActions

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp

EXIT_FAULT = 70
"""EX_SOFTWARE: a fault of the panel itself."""
EXIT_CALL = 2
PATIENCE_S = 6.0
LONGEST = 400_000
_RESET = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[?7h\x1b[0m\r\n"
)


def run_panel(
    open_cluster: OpenCluster,
    *,
    welcome: WelcomeActions | None = None,
    theme: str = "",
    keys: Mapping[str, str] | None = None,
) -> int:
    """Open the panel; `welcome` where there is no configuration. Gives the exit code: 0, 2, 70, or 128 + signal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write(t("ui.crash.no_terminal") + "\n")
        return EXIT_CALL
    before = _terminal()
    faults = io.StringIO()
    code = EXIT_FAULT
    try:
        probe = WidthProbe(os.environ)
        from dsv41_tui.ui.app import PanelApp

        marks = glyphs.choose(os.environ, probe.cells())
        app = PanelApp(open_cluster, welcome=welcome, theme=theme, keys=keys, marks=marks)
        code = _run(app, faults)
        for line in app.opening.last_word.splitlines():
            sys.stderr.write(f"dsv41-tui: {line}\n")
    except Exception:
        faults.write(traceback.format_exc())
        _write(_RESET)
    finally:
        _restore(before)
    if faults.getvalue():
        sys.stderr.write(_crash_line(faults.getvalue()) + "\n")
        return EXIT_FAULT
    return code


def _run(app: PanelApp, faults: io.StringIO) -> int:
    """What Textual would print about a fault goes to `faults`."""
    from rich.console import Console

    app.error_console = Console(file=faults, width=120, no_color=True, markup=False, highlight=False)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, _leave, app, number)
        # No mouse: the terminal's own selection stays usable, and no movement has to be read over a slow link.
        await app.run_async(mouse=False)

    asyncio.run(main())
    return app.return_code or 0


def _leave(app: PanelApp, number: int) -> None:
    """End the app as `q` does, and the process itself if that hangs on a terminal that is gone."""
    last_resort = threading.Timer(PATIENCE_S, _end, (128 + number,))
    last_resort.daemon = True
    last_resort.start()
    app.exit(return_code=128 + number)


def _end(code: int) -> None:
    _write(_RESET)
    os._exit(code)


def _terminal() -> list[Any] | None:
    with contextlib.suppress(OSError, termios.error):
        return termios.tcgetattr(sys.stdin.fileno())
    return None


def _restore(before: list[Any] | None) -> None:
    if before is not None:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), text.encode())


def _crash_line(text: str) -> str:
    """Write the crash file, readable by its owner only; the line that says where."""
    folder = paths.state_dir()
    file = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_private(file, f"{_circumstances()}\n{text[:LONGEST]}")
    except OSError as error:
        return t("ui.crash.no_file", folder=str(folder), why=error.strerror or str(error))
    return t("ui.crash.line", file=str(file))


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)


def _circumstances() -> str:
    from textual import __version__ as textual_version

    size = os.get_terminal_size(sys.stdout.fileno()) if sys.stdout.isatty() else (0, 0)
    python = sys.version.split()[0]
    return (
        f"dsv41-tui {__version__}, textual {textual_version}, python {python}, "
        f"TERM {os.environ.get('TERM', '')}, {size[0]}x{size[1]}"
    )
