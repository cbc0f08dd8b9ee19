"""Run the panel and leave the terminal clean, whatever ends it.

Textual is imported only here, inside `run_panel`. Signals end the app as `q` does; if it has not ended a moment later
the process does, so that a dead terminal cannot hold it. A fault of our own goes to a crash file, one line to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import os
import queue
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
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE_S = 6.0
LONGEST = 400_000
RARELY = (2_000, 10, 1_000)
"""Thresholds of Python's collector. A flood of log lines made it look at all 100,000 that are kept every second or two,
40 ms each on a quiet machine, while no line is ever part of a cycle; young objects are still looked at often."""
_RESET = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[?7h\x1b[0m\r\n"
)


class Faults(io.StringIO):
    """What is told of a fault, at most `LONGEST` characters of it."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, LONGEST - self.tell())])
        return len(text)


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
    faults = Faults()
    code = EXIT_FAULT
    gc.set_threshold(*RARELY)
    try:
        probe = WidthProbe(os.environ)
        from dsv41_tui.ui.app import PanelApp

        marks = glyphs.choose(os.environ, probe.cells())
        app = PanelApp(open_cluster, welcome=welcome, theme=theme, keys=keys, marks=marks)
        code = _run(app, faults, before)
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


def _run(app: PanelApp, faults: Faults, before: list[Any] | None) -> int:
    """What Textual would print about a fault goes to `faults`."""
    from rich.console import Console

    app.error_console = Console(file=faults, width=120, no_color=True, markup=False, highlight=False)

    came: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_last_resort, args=(came, before), daemon=True).start()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def leave(number: int, _frame: object) -> None:
            # Not the loop's own handlers: those wait for a loop that a fault can block.
            came.put(number)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_leave, app, number)

        for number in SIGNALS:
            signal.signal(number, leave)
        # No mouse: the terminal's own selection stays usable, and no movement has to be read over a slow link.
        await app.run_async(mouse=False)

    handlers = [(number, signal.getsignal(number)) for number in SIGNALS]
    try:
        asyncio.run(main())
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
    return app.return_code or 0


def _leave(app: PanelApp, number: int) -> None:
    """End the app as `q` does."""
    app.exit(return_code=128 + number)


def _last_resort(came: queue.SimpleQueue[int], before: list[Any] | None) -> None:
    """In a thread: end the process if a signal did not, since the loop is blocked or the terminal is gone."""
    number = came.get()
    time.sleep(PATIENCE_S)
    # Writing to a terminal that is stopped or gone can block too.
    tidy = threading.Thread(target=_tidy, args=(before,), daemon=True)
    tidy.start()
    tidy.join(1.0)
    os._exit(128 + number)


def _tidy(before: list[Any] | None) -> None:
    _write(_RESET)
    _restore(before)


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
        # The descriptor itself: Textual puts something of its own in the place of sys.stdout.
        os.write(1, text.encode())


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
