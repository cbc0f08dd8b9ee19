"""Accounts for the tests, made when the lane starts and removed when it ends.

A name holds the process id of its test run, so that two runs on one machine do not meet, and what a killed run left
behind is removed by the next one.
"""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import time
from pathlib import Path

_NAME = re.compile(r"dsvt(\d+)[a-z]+$")


class Users:
    """Makes accounts below one folder; `remove` takes all of them away again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: list[str] = []
        _remove(_leftovers())

    def add(self, kind: str, shell: str = "/bin/bash", profile: str = "", bashrc: str = "") -> str:
        """A new account whose login shell is `shell`; `kind` is a word of small letters. Returns its name."""
        name = f"dsvt{os.getpid()}{kind}"
        home = self._folder / "home" / kind
        home.mkdir(parents=True)
        for file, text in ((".profile", profile), (".bashrc", bashrc)):
            if text:
                (home / file).write_text(text)
        # `*` is no password, but no lock either as the `!` of useradd is: without PAM sshd refuses a locked user
        _account("useradd", "-M", "-N", "-d", str(home), "-s", shell, "-p", "*", name)
        self._names.append(name)
        subprocess.run(["chown", "-R", name, str(home)], check=True)
        return name

    def remove(self) -> None:
        _remove(self._names)
        self._names = []


def _leftovers() -> list[str]:
    found = [(entry.pw_name, _NAME.match(entry.pw_name)) for entry in pwd.getpwall()]
    return [name for name, match in found if match and not Path(f"/proc/{match[1]}").exists()]


def _remove(names: list[str]) -> None:
    for name in names:
        for pid in pids_of(name):
            _kill(pid)
        _account("userdel", "-f", name)


def pids_of(user: str) -> list[int]:
    """Processes of an account of ours: what a panel left on its node is found here."""
    uid = str(pwd.getpwnam(user).pw_uid)
    listed = subprocess.run(["ps", "-o", "pid=", "-u", uid], capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return


def _account(*argv: str) -> None:
    """Run an account tool; another run may hold the lock of /etc/passwd for a moment."""
    for attempt in range(20):
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        if "lock" not in done.stderr or attempt == 19:
            raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
        time.sleep(0.2)
