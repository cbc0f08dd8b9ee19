"""One folder of its own for each test run, readable for all accounts, named after the run's process.

pytest's own temporary folders are closed to other accounts, and sshd reads keys as the account that logs in. The next
run removes what a killed run left behind, after ending the processes whose ids that run had noted there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

_NAME = re.compile(r"dsv41-bed-(\d+)$")


def make() -> Path:
    base = Path(tempfile.gettempdir())
    for left in base.iterdir():
        match = _NAME.match(left.name)
        if match and not Path(f"/proc/{match[1]}").exists():
            remove(left)
    folder = base / f"dsv41-bed-{os.getpid()}"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    return folder


def note_session(folder: Path, name: str, pid: int) -> None:
    """Note that `pid` leads a session of ours, so that `end_session` finds it, also from a later run."""
    (folder / f"{name}.session").write_text(f"{pid} {start_time(pid)}")


def end_session(folder: Path, name: str) -> None:
    """Kill every process of a noted session, if it is still the one that was noted."""
    note = folder / f"{name}.session"
    try:
        pid, started = note.read_text().split()
    except FileNotFoundError:  # never noted, or another worker cleans up after the same dead run
        return
    if start_time(int(pid)) == started:
        for member in _session(int(pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
    note.unlink(missing_ok=True)


def remove(folder: Path) -> None:
    for note in folder.rglob("*.session"):
        end_session(note.parent, note.stem)
    for note in folder.rglob("*.netns"):
        subprocess.run(["ip", "netns", "delete", note.stem], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def _stat(pid: int | str) -> list[str]:
    """Fields of /proc/PID/stat from the third on; the second may hold blanks."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def start_time(pid: int) -> str:
    """Clock ticks from boot to the start of a process; with its id this names it for good. `gone` when it ended."""
    try:
        return _stat(pid)[19]
    except OSError:
        return "gone"


def children(pid: int) -> list[int]:
    return _with_field(1, pid)


def _session(leader: int) -> list[int]:
    return _with_field(3, leader)


def _with_field(index: int, value: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                if _stat(entry.name)[index] == str(value):
                    found.append(int(entry.name))
    return found
