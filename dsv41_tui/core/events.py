"""Everything that happens, as frozen values; `core.reduce` joins them to the state.

Every event carries `at`, seconds on the operator's monotonic clock.
"""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.errors import LinkErrorKind, LinkReason
from dsv41_tui.core.failure import Book
from dsv41_tui.core.log import LogFact, LogSource
from dsv41_tui.core.model import LinkPhase, ProbeOutcome
from dsv41_tui.core.value import Value

ReadingName = Literal[
    "host",
    "memory",
    "pressure",
    "net",
    "mountinfo",
    "mountstats",
    "fstab",
    "volumes",
    "shm",
    "logind",
    "gpu",
    "nas",
    "containers",
    "processes",
    "rdma",
    "rdma_counters",
    "clock",
]


class Event(Value):
    """Base of all events."""

    at: float


class LinkChanged(Event):
    """The connection to a node changed its phase."""

    node: str
    phase: LinkPhase
    kind: LinkErrorKind | None = None
    why: str | None = None
    reason: LinkReason = ""
    fix: tuple[str, ...] = ()
    retry_at: float | None = None


class ChannelsChanged(Event):
    """How many channels are open, how many may be, and what goes unwatched."""

    node: str
    channels: int
    limit: int | None = None
    unwatched: tuple[str, ...] = ()


class ReadingTaken(Event):
    """One source of one node was read. `value` None with `error` means: not readable, and why."""

    node: str
    name: ReadingName
    period_s: float
    uptime_s: float | None = None
    """The node's clock at the moment of reading; rates are taken over it."""
    value: object = None
    """What the parser of this reading gave, see `core.readings`."""
    error: str | None = None


class ProbeStarted(Event):
    """A time-limited probe of a mount was sent."""

    node: str
    mount_point: str


class ProbeEnded(Event):
    """The probe came back, or was given up."""

    node: str
    mount_point: str
    outcome: ProbeOutcome
    took_s: float
    text: str | None = None


class CostTaken(Event):
    """Our own cost on a node: CPU seconds since the connection came up, bytes per second on the wire."""

    node: str
    cpu_s: float | None = None
    bytes_per_s: float | None = None
    sessions: int = 1


class RankLogChanged(Event):
    """Lines of one container's log were read, or its log was opened (no facts).

    A `started_at` later than the known one begins a new `RankLog`; an earlier one is of a past run and changes nothing.
    """

    node: str
    container: str
    rank: int | None = None
    started_at: float | None = None
    """StartedAt of the container, Unix seconds of the node's clock."""
    line_at: float | None = None
    """Of the newest line, Unix seconds of the node's clock."""
    seen_at: float | None = None
    """Now, in Unix seconds of the operator's clock: tells how old a line of the past is. None: lines are new."""
    facts: tuple[LogFact, ...] = ()
    """In the order of the lines."""


class FailureSeen(Event):
    """A line of a node's logs shows a failure of the book; several of one batch may be counted together."""

    node: str
    source: str
    """`LogSource.id`."""
    rule: str
    line: str
    """The first one, cut to what is shown."""
    number: int | None = None
    """`LogLine.number` of that line."""
    line_at: float
    """Of the first line: Unix seconds, corrected to the operator's clock."""
    last_at: float | None = None
    """Of the last line; None: there was one."""
    seen_at: float | None = None
    """When the last line came here, Unix seconds; tells how old it was then. None: it was new."""
    count: int = 1
    """0: no further line, only more `signals` of what was seen before."""
    rank: int | None = None
    started_at: float | None = None
    """StartedAt of the container whose log it stands in."""
    facts: dict[str, str | float | bool] = {}
    """Readings of the node at that moment, see `core.facts`; kept of the first line only."""
    signals: dict[str, str] = {}
    """`Scanner.signals_for` of the rule: lines seen so far that speak for or against its causes."""
    silencers: tuple[str, ...] = ()
    """`Hit.silencers`."""


class FailuresCleared(Event):
    """A line says that failures are over, or the scanner knows it."""

    node: str
    rules: tuple[str, ...]
    source: str | None = None
    """Only where they were seen there; None: on the whole node."""
    line_at: float | None = None
    """Of the line that says so, Unix seconds of the operator's clock; what was seen after it stays."""


class LogSourceOpened(Event):
    """A log is followed from now on; again with the same id is no change."""

    source: LogSource


class BookRead(Event):
    """The failure book was read from its files."""

    book: Book
    notes: tuple[str, ...] = ()
    """One line for each file of the operator's that was skipped."""


class LogsUnreadable(Event):
    """A log source cannot be read; `why` None: it can again."""

    node: str
    source: str
    why: str | None = None


class Elapsed(Event):
    """Time passed with nothing read; verdicts that depend on silence are renewed."""
