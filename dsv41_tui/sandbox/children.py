"""Processes of the nodes: started in a session of their own, reaped in one place, ended without a trace.

Law: when the sandbox ends, no process that a node ever started is left, also not one that left its session. For that
the sandbox is the reaper of its orphans (Linux), so that every descendant is found below it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 0.2
"""A script of ours ends by itself when its input does; only what then still lives is killed, in one sweep."""
_END_S = 5.0


class Child:
    """One started command: three pipes and an exit code to wait for."""

    def __init__(self, process: subprocess.Popen[bytes], exit_code: asyncio.Future[int]) -> None:
        self.process = process
        self.exit_code = exit_code
        """Ends with the exit code, negative for the number of the signal that killed it."""


class Children:
    """Starts and ends all processes of all nodes; needs the running loop of the main thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._children: dict[int, Child] = {}
        self._doomed: set[int] = set()
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._loop.add_signal_handler(signal.SIGCHLD, self._reap)

    def start(self, argv: Sequence[str], environment: Mapping[str, str], folder: Path) -> Child:
        """Run `argv` as the leader of a new session; OSError when it cannot be run."""
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        child = Child(process, self._loop.create_future())
        self._children[process.pid] = child
        return child

    def end(self, child: Child) -> None:
        """Its channel is gone: what still lives in its session after a moment is killed."""
        if not self._doomed:
            self._loop.call_later(_GRACE_S, self._sweep)
        self._doomed.add(child.process.pid)

    def end_all(self) -> None:
        """Kill every descendant and wait until none is left."""
        self._loop.remove_signal_handler(signal.SIGCHLD)
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline:
            for pid in _descendants(os.getpid()):
                _kill(pid)
            if not self._reap():
                return
            time.sleep(0.005)

    def _sweep(self) -> None:
        doomed, self._doomed = self._doomed, set()
        for pid, _, session in _processes():
            if session in doomed:
                _kill(pid)

    def _reap(self) -> bool:
        """Collect everyone who ended; False when there are no children at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            child = self._children.pop(pid, None)
            if child is not None:
                child.process.returncode = os.waitstatus_to_exitcode(status)
                if not child.exit_code.done():
                    child.exit_code.set_result(child.process.returncode)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _processes() -> list[tuple[int, int, int]]:
    """Process id, parent and session of every process that has not ended."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] not in (b"Z", b"X"):
            found.append((int(entry.name), int(fields[1]), int(fields[3])))
    return found


def _descendants(ancestor: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for pid, parent, _ in _processes():
        parents.setdefault(parent, []).append(pid)
    found: list[int] = []
    todo = [ancestor]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found
