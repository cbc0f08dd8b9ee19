"""A cluster made of values: a store whose clock and state the test sets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from dsv41_tui.config import ClusterConfig, Config, NodeConfig
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState
from dsv41_tui.ui.app import PanelApp
from dsv41_tui.ui.source import Cluster, LogRing
from tests.ui import states


class FakeStore:
    """Time stands still until the test moves it."""

    def __init__(self, state: ClusterState, findings: tuple[Finding, ...] = ()) -> None:
        self.state = state
        self.findings = findings
        self.moved_s = 0.0
        self.listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        return states.NOW + self.moved_s

    def wall(self) -> datetime:
        return states.WALL + timedelta(seconds=self.moved_s)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(callback)
        return lambda: self.listeners.remove(callback)

    def set(self, state: ClusterState, findings: tuple[Finding, ...] = ()) -> None:
        self.state, self.findings = state, findings
        for listener in list(self.listeners):
            listener()


class FakeCluster:
    """Counts what it is asked for."""

    def __init__(self, state: ClusterState, findings: tuple[Finding, ...] = (), config: Config | None = None) -> None:
        self.store = FakeStore(state, findings)
        self.limits: Limits = states.LIMITS
        self.config = config or Config(cluster=ClusterConfig(name=state.name), node=(NodeConfig(name="spark1"),))
        self.logs: LogRing | None = None
        self.started = self.stopped = self.refreshed = 0

    async def start(self) -> None:
        self.started += 1

    async def stop(self) -> None:
        self.stopped += 1

    def refresh(self) -> None:
        self.refreshed += 1


def panel(
    state: ClusterState,
    findings: tuple[Finding, ...] = (),
    config: Config | None = None,
    logs: LogRing | None = None,
    **more: object,
) -> PanelApp:
    """The panel on a cluster that never changes by itself; `panel.fake` is that cluster."""
    fake = FakeCluster(state, findings, config)
    fake.logs = logs

    async def open_cluster(path: Path | None) -> Cluster:
        return fake

    app = PanelApp(open_cluster, **more)  # type: ignore[arg-type]
    app.fake = fake  # type: ignore[attr-defined]
    return app
