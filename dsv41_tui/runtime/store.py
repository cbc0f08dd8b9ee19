"""The one place that holds the state: events in, the newest value out, a few times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime

from dsv41_tui.core.events import Event
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.health import findings
from dsv41_tui.core.model import ClusterState
from dsv41_tui.core.reduce import reduce

SOON_S = 0.05
"""The first change after a pause is told so soon; the frames of all nodes come together within that."""
SLEPT_S = 3.0
"""The heartbeat judges each second; a gap of this length is a laptop that slept or a process that was stopped."""
QUIET_S = 1.5
"""Time for the nodes' answers to be read before their silence is judged."""
MIN_GAP_S = 0.3
"""Between two tellings, because each costs a judgement and a paint."""


class Store:
    """Holds `ClusterState`; listeners are told on the loop that something changed, never what."""

    def __init__(self, state: ClusterState, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = state
        self.findings: tuple[Finding, ...] = ()
        self._clock = clock
        self._listeners: list[Callable[[], None]] = []
        self._handle: asyncio.TimerHandle | None = None
        self._told_at = float("-inf")
        self._judged_at = clock()
        self._quiet_until = float("-inf")

    def now(self) -> float:
        """Seconds on the clock that all `at` fields use."""
        return self._clock()

    def wall(self) -> datetime:
        """The operator's local time."""
        return datetime.now().astimezone()

    def wall_of(self, at: float) -> datetime:
        """Local time of a moment on the monotonic clock."""
        return datetime.fromtimestamp(time.time() - (self._clock() - at)).astimezone()

    def dispatch(self, event: Event) -> None:
        """Reduce one event and tell the listeners soon."""
        self.state = reduce(self.state, event)
        self._schedule()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on the loop after changes; returns the way to stop that."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def judge(self, *, at_once: bool = False) -> None:
        """Make the findings; unless `at_once`, not in the first moment after this machine slept."""
        now = self.now()
        if now - self._judged_at > SLEPT_S:
            self._quiet_until = now + QUIET_S
        self._judged_at = now
        if now < self._quiet_until and not at_once:
            return
        self.findings = findings(self.state, self.state.limits, self.now())

    def _schedule(self) -> None:
        if self._handle is not None:
            return
        loop = asyncio.get_running_loop()
        wait = max(SOON_S, MIN_GAP_S - (self.now() - self._told_at))
        self._handle = loop.call_later(wait, self._tell)

    def _tell(self) -> None:
        self._handle = None
        self._told_at = self.now()
        self.judge()
        for listener in tuple(self._listeners):
            listener()
