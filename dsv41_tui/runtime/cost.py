"""What we cost a node, measured there: CPU of our shells, their children and the sshd that serves us; bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psutil

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.events import CostTaken, Event
from dsv41_tui.parsers.procstat import parse_cpu_s


class Cost:
    """Adds up the CPU time of our processes on one node, of those that ended too."""

    def __init__(self, config: NodeConfig, dispatch: Callable[[Event], None]) -> None:
        self._node = config.name
        self._local = config.local
        self._shell_only = config.local or bool(config.root)
        """What stands behind the shell is not one node's sshd: this panel, or the sandbox's one process."""
        self._dispatch = dispatch
        self._cpu_s: dict[int, float] = {}
        self._alive: list[int] = []
        self._own_start = _own_cpu_s() if config.local else 0.0
        self._last: tuple[float, int] | None = None

    def watch(self, pids: tuple[int, ...]) -> None:
        """Add a channel's processes: its shell, then the sshd behind it."""
        for pid in pids[:1] if self._shell_only else pids:
            if pid not in self._alive:
                self._alive.append(pid)

    def paths(self) -> list[str]:
        return [f"/proc/{pid}/stat" for pid in self._alive]

    def take(self, files: Mapping[str, str], at: float, wire_bytes: int | None) -> None:
        """Read what a frame says of our processes; a frame without them changes nothing."""
        seen = {pid: files[f"/proc/{pid}/stat"] for pid in self._alive if f"/proc/{pid}/stat" in files}
        if not seen:
            return
        self._alive = list(seen)
        for pid, text in seen.items():
            try:
                self._cpu_s[pid] = parse_cpu_s(text)
            except ParseError:
                continue
        total = sum(self._cpu_s.values()) + (_own_cpu_s() - self._own_start if self._local else 0.0)
        self._dispatch(
            CostTaken(at=at, node=self._node, cpu_s=total, bytes_per_s=self._rate(at, wire_bytes), sessions=1)
        )

    def _rate(self, at: float, wire_bytes: int | None) -> float | None:
        if wire_bytes is None:
            return None
        before, self._last = self._last, (at, wire_bytes)
        if before is None or at <= before[0]:
            return None
        return max(0, wire_bytes - before[1]) / (at - before[0])


def _own_cpu_s() -> float:
    times = psutil.Process().cpu_times()
    return float(times.user + times.system)
