"""What the panel stands on, as protocols: a store, a cluster, and what the welcome screen can ask for.

Nothing here is imported at run time but `typing`: the first frame is painted before pydantic or asyncssh load.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dsv41_tui.config import Config
    from dsv41_tui.core.finding import Finding
    from dsv41_tui.core.limits import Limits
    from dsv41_tui.core.log import LogLine
    from dsv41_tui.core.model import ClusterState


class Store(Protocol):
    """Holds the newest state; tells of changes on the loop, coalesced, at most ten times a second."""

    @property
    def state(self) -> ClusterState: ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Worst first."""
        ...

    def now(self) -> float:
        """Seconds on the monotonic clock that the state's `at` fields use."""
        ...

    def wall(self) -> datetime: ...

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` after each change; the returned function ends that."""
        ...


class LogRing(Protocol):
    """The newest lines of all sources in the order in which they came, numbered without a gap."""

    @property
    def first(self) -> int:
        """Number of the oldest line that is still here."""
        ...

    @property
    def end(self) -> int:
        """Number that the next line will have."""
        ...

    def lines(self, first: int, end: int) -> Sequence[LogLine]:
        """Those of the lines numbered `first` to `end - 1` that are here, in order."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where the record lies that has every line; None where nothing is recorded."""
        ...

    @property
    def record_error(self) -> str | None:
        """Why the record lacks lines; None while it is whole."""
        ...


class Cluster(Protocol):
    """A cluster that is watched."""

    @property
    def store(self) -> Store: ...

    @property
    def config(self) -> Config: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def logs(self) -> LogRing | None:
        """The newest lines; None where no log is followed."""
        ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def refresh(self) -> None:
        """Ask for all readings now."""
        ...


OpenCluster = Callable[[Path | None], Awaitable[Cluster]]
"""Makes the cluster of a configuration file, or of the one the panel was started with (None).

It is called after the first frame, so heavy imports belong inside. A `PanelError` is shown; a `ConfigError` ends the
panel with exit code 2 and its line on stderr.
"""


class WelcomeActions(Protocol):
    """What the welcome screen does; each gives the path of the written configuration, or one line of error."""

    async def demo(self) -> Path | str:
        """Start the sandbox cluster."""
        ...

    async def this_machine(self) -> Path | str: ...

    async def hosts(self, names: list[str]) -> Path | str:
        """ssh_config aliases, host names or user@host:port; the first is the head."""
        ...

    async def env_file(self, path: str) -> Path | str:
        """A recipe's `.env` or the folder that holds it."""
        ...
