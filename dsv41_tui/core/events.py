"""Everything that happens, as frozen values; `core.reduce` joins them to the state.

Every event carries `at`, seconds on the operator's monotonic clock.
"""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.errors import LinkErrorKind, LinkReason
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


class Elapsed(Event):
    """Time passed with nothing read; verdicts that depend on silence are renewed."""
