"""The panel in a real pseudo terminal: what it costs there, and that every way out leaves it as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG_S = 60.0
"""Patience for a loaded machine; nothing here is judged by speed."""
SYNC = re.compile(rb"\x1b\[\?2026\$p")
MODES = {b"1049": "alternate screen", b"2004": "bracketed paste", b"1004": "focus", b"1000": "mouse", b"1003": "mouse"}


class Terminal:
    """A child in a pty of its own; all that it wrote is kept."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (160, 50), environment: dict[str, str]) -> None:
        self.output = b""
        self.status: int | None = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            argv = [sys.executable, "-m", "tests.ui.pty_panel", *arguments]
            os.execve(sys.executable, argv, os.environ | environment)  # never returns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.before = termios.tcgetattr(self.fd)

    def read(self, seconds: float) -> int:
        """Take what comes within `seconds`; gives how many bytes."""
        end, start = time.monotonic() + seconds, len(self.output)
        while (left := end - time.monotonic()) > 0 and self.status is None:
            if select.select([self.fd], [], [], min(left, 0.2))[0]:
                try:
                    self.output += os.read(self.fd, 65_536)
                except OSError:
                    break
        return len(self.output) - start

    def until(self, wanted: bytes) -> None:
        """Read until `wanted` was written."""
        end = time.monotonic() + LONG_S
        while wanted not in self.output:
            assert time.monotonic() < end, f"{wanted!r} never came: {self.output[-2000:]!r}"
            self.read(0.1)

    def send(self, data: bytes) -> None:
        os.write(self.fd, data)

    def wait(self) -> int:
        """The exit code; negative for a signal that killed it."""
        end = time.monotonic() + LONG_S
        while self.status is None:
            assert time.monotonic() < end, "the panel did not end"
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0.3)
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


@pytest.fixture
def opened(environment: dict[str, str]) -> Iterator[list[Terminal]]:
    made: list[Terminal] = []
    yield made
    for terminal in made:
        terminal.close()


def clean(terminal: Terminal) -> None:
    """Modes that were switched on are off again, the cursor is shown, line discipline is as before."""
    for mode, name in MODES.items():
        on, off = terminal.output.rfind(b"\x1b[?%bh" % mode), terminal.output.rfind(b"\x1b[?%bl" % mode)
        assert on < 0 or off > on, name
    assert terminal.output.rfind(b"\x1b[?25h") > terminal.output.rfind(b"\x1b[?25l")
    assert terminal.output.count(b"\x1b[<u") >= terminal.output.count(b"\x1b[>25u")
    assert termios.tcgetattr(terminal.fd) == terminal.before


@pytest.mark.parametrize(
    ("way", "code"),
    [("q", 0), ("ctrl-c", 0), (signal.SIGTERM, 143), (signal.SIGINT, 130)],
    ids=["q", "ctrl-c", "SIGTERM", "SIGINT"],
)
def test_every_way_out_leaves_the_terminal_clean(
    opened: list[Terminal], environment: dict[str, str], way: str | signal.Signals, code: int
) -> None:
    terminal = Terminal("--still", environment=environment)
    opened.append(terminal)
    terminal.until(b"WATCHING")
    if isinstance(way, signal.Signals):
        os.kill(terminal.pid, way)
    else:
        terminal.send({"q": b"q", "ctrl-c": b"\x03"}[way])
    assert terminal.wait() == code
    clean(terminal)
    assert not list(Path(environment["XDG_STATE_HOME"]).rglob("crash-*"))


def test_a_terminal_that_is_gone_ends_the_panel(opened: list[Terminal], environment: dict[str, str]) -> None:
    """The kernel sends SIGHUP; there is nobody to restore anything for, but the process must not stay."""
    terminal = Terminal("--still", environment=environment)
    opened.append(terminal)
    terminal.until(b"WATCHING")
    os.close(terminal.fd)
    terminal.fd = os.open(os.devnull, os.O_RDONLY)
    end = time.monotonic() + LONG_S
    pid = 0
    while not pid and time.monotonic() < end:
        pid, status = os.waitpid(terminal.pid, os.WNOHANG)
        time.sleep(0.1)
    assert pid, "the panel stayed without a terminal"
    terminal.status = os.waitstatus_to_exitcode(status)
    assert terminal.status == 129


def test_hangup_with_a_living_terminal_leaves_it_clean(opened: list[Terminal], environment: dict[str, str]) -> None:
    terminal = Terminal("--still", environment=environment)
    opened.append(terminal)
    terminal.until(b"WATCHING")
    os.kill(terminal.pid, signal.SIGHUP)
    assert terminal.wait() == 129
    clean(terminal)


def test_a_fault_of_our_own_writes_a_private_file_and_one_line(
    opened: list[Terminal], environment: dict[str, str]
) -> None:
    terminal = Terminal("--fault", environment=environment)
    opened.append(terminal)
    assert terminal.wait() == 70
    clean(terminal)
    (file,) = Path(environment["XDG_STATE_HOME"]).rglob("crash-*.txt")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    text = file.read_text("utf-8")
    assert "ZeroDivisionError" in text
    assert "TERM xterm-256color, 160x50" in text
    after = terminal.output[terminal.output.rfind(b"\x1b[?1049l") :]
    assert str(file).encode() in after
    assert b"Traceback" not in after
    assert after.count(b"\n") <= 2


def test_without_a_terminal_it_says_what_to_use(environment: dict[str, str]) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.pty_panel"],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )
    assert done.returncode == 2
    assert "dsv41-tui status" in done.stderr


def test_the_width_of_a_glyph_is_measured_and_wide_ones_give_ascii(
    opened: list[Terminal], environment: dict[str, str]
) -> None:
    for column, glyph in ((2, "●".encode()), (3, b"* WATCHING")):
        terminal = Terminal("--still", environment=environment)
        opened.append(terminal)
        terminal.until(b"\x1b[6n")
        terminal.send(b"\x1b[1;%dR" % column)
        terminal.until(b"WATCHING")
        assert glyph in terminal.output[terminal.output.find(b"\x1b[?1049h") :]
        terminal.send(b"q")
        assert terminal.wait() == 0
        clean(terminal)


@pytest.mark.parametrize(
    ("variables", "absent"),
    [({"NO_COLOR": "1"}, rb"\x1b\[[0-9;]*38;2;(?!(\d+);\1;\1)"), ({"COLORTERM": "", "TERM": "xterm"}, rb"38;[25];")],
    ids=["NO_COLOR", "sixteen"],
)
def test_less_colour_is_enough(
    opened: list[Terminal], environment: dict[str, str], variables: dict[str, str], absent: bytes
) -> None:
    """NO_COLOR gives greys only, a terminal of sixteen colours gets only those."""
    terminal = Terminal("--still", "--state", "nas_down", environment=environment | variables)
    opened.append(terminal)
    terminal.until(b"hung")
    assert not re.search(absent, terminal.output)
    terminal.send(b"q")
    assert terminal.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "state", "budget"),
    [((), "healthy", 2048), (("--still",), "healthy", 300), (("--still",), "many", 300)],
    ids=["steady", "still", "64-still"],
)
def test_bytes_to_the_terminal(
    opened: list[Terminal], environment: dict[str, str], arguments: tuple[str, ...], state: str, budget: int
) -> None:
    """At 160x50 with two nodes at 1 Hz at most 2 KiB a second; 300 B when nothing changes.

    A loaded machine paints less often, never more, so this cannot fail by slowness.
    """
    terminal = Terminal("--state", state, *arguments, environment=environment)
    opened.append(terminal)
    terminal.until(b"READ" if state == "many" else b"WATCHING")
    terminal.read(3.0)
    seconds = 6.0
    written = terminal.read(seconds)
    assert 0 < written <= budget * seconds
    assert SYNC.search(terminal.output)
    terminal.send(b"q")
    assert terminal.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_panel_that_is_blocked(
    opened: list[Terminal], environment: dict[str, str], number: signal.Signals
) -> None:
    terminal = Terminal("--blocked", environment=environment)
    opened.append(terminal)
    terminal.until(b"blocked")
    os.kill(terminal.pid, number)
    assert terminal.wait() == 128 + number
    clean(terminal)
