"""Everything known, as one frozen value: `ClusterState`.

Law 1: only `core.reduce` makes a new one. Law 2: a reading never loses its age. Law 3: unknown is `None` with a
reason, never 0. Times named `at` are seconds on the operator's monotonic clock; `uptime_s` is the node's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from dsv41_tui.core.containers import ContainerEngine, ProcessLimits
from dsv41_tui.core.errors import LinkErrorKind, LinkReason
from dsv41_tui.core.failure import Book
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.log import LogSource, Occurrence, RankLog
from dsv41_tui.core.rdma import PortRate, RdmaCounters
from dsv41_tui.core.readings import (
    ClockOffset,
    DockerVolume,
    FstabEntry,
    Gpu,
    Host,
    Logind,
    Memory,
    MountEntry,
    MountStats,
    NasServer,
    NetInterface,
    Pressure,
    ShmUse,
)
from dsv41_tui.core.value import Value

T = TypeVar("T")
ReadState = Literal["ok", "stale", "unknown"]
LinkPhase = Literal["idle", "connecting", "up", "waiting", "closed"]
NfsStateName = Literal[
    "fine", "idle", "slow", "not-responding", "stale-handle", "denied", "unmounted", "unused", "unknown"
]
NodeRole = Literal["head", "worker", "nas"]
ProbeOutcome = Literal["ok", "timeout", "stale", "denied", "missing", "error", "blocked", "unusable"]
"""`error`: I/O error of the mount; `blocked`: our login cannot reach the folder; `unusable`: no probe came about."""


class Reading(Value, Generic[T]):
    """The last good value of one source on one node, with its age, and what stands in the way of a newer one."""

    value: T | None = None
    at: float | None = None
    """When the value was taken; None when there never was one."""
    error: str | None = None
    """Why the newest attempt gave nothing; None when it did."""
    period_s: float = 1.0
    """How often a new one is due."""
    uptime_s: float | None = None
    """The node's own clock when the value was taken; rates are taken over it."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, _parameter: object) -> type[Reading[Any]]:
            """One class for all: a pydantic model for each of the twelve parameters costs 0.1 s at import."""
            return cls

    def age_s(self, now: float) -> float | None:
        return None if self.at is None else max(0.0, now - self.at)

    def read(self, now: float) -> ReadState:
        """ok, stale (a value that is late or whose renewal failed), or unknown (no value at all)."""
        if self.value is None or self.at is None:
            return "unknown"
        late = now - self.at > 2 * self.period_s + 1.0
        return "stale" if late or self.error is not None else "ok"


class Link(Value):
    """The one connection to a node."""

    phase: LinkPhase = "idle"
    """`waiting` is down, until the next attempt at `retry_at`."""
    since: float = 0.0
    kind: LinkErrorKind | None = None
    why: str | None = None
    reason: LinkReason = ""
    fix: tuple[str, ...] = ()
    retry_at: float | None = None
    down_since: float | None = None
    """Since when the node could not be read; kept over failed attempts."""
    logins: int = 0
    channels: int = 0
    channel_limit: int | None = None
    unwatched: tuple[str, ...] = ()
    """What is not watched for want of a channel or a command."""


class LowWater(Value):
    """The lowest value since the panel connected to this boot of the node."""

    value: int
    at: float


class Trend(Value):
    """Minima per bucket of `bucket_s`, oldest first; None where nothing was read. Fixed length at most 120."""

    bucket_s: float = 5.0
    last_bucket: int | None = None
    points: tuple[int | None, ...] = ()


class NetRate(Value):
    """One interface: its counters as rates over the node's own elapsed time."""

    interface: NetInterface
    rx_bytes_per_s: float | None = None
    tx_bytes_per_s: float | None = None


class Probe(Value):
    """The one probe of a mount: `stat -f`, time-limited, never two at once."""

    started_at: float
    """When it was sent."""
    ended_at: float | None = None
    outcome: Literal["waiting"] | ProbeOutcome = "waiting"
    took_s: float | None = None
    text: str | None = None
    receives_baseline: int | None = None
    """Receives over all connections at the first mountstats sample after the start."""
    receives_at: float | None = None
    """When receives were looked at last since the baseline."""
    receives_moved: bool = False
    """Whether receives have risen above the baseline since."""


class NfsMount(Value):
    """One NFS mount or defined docker NFS volume of a node; what is known of it from every source."""

    mount_point: str
    source: str
    fstype: str
    device: str | None = None
    volume: str | None = None
    """Docker volume name, if it is one."""
    read_only: bool | None = None
    got: dict[str, str] = {}
    """Options in force."""
    asked: dict[str, str] = {}
    """Options asked for in fstab or the docker volume; empty when nobody told."""
    asked_source: str | None = None
    mounted: bool = True
    stats: MountStats | None = None
    stats_at: float | None = None
    read_bytes_per_s: float | None = None
    rtt_ms: float | None = None
    execute_ms: float | None = None
    retrans_per_s: float | None = None
    probe: Probe | None = None
    """The newest probe, also while it waits."""
    last_probe: Probe | None = None
    """The newest probe that ended."""
    state: NfsStateName = "unknown"
    state_since: float = 0.0
    trend: Trend = Trend()
    """Read rate, bytes per second."""

    @property
    def version(self) -> str | None:
        """Protocol version in force, such as "3" or "4.2"."""
        return self.got.get("vers")

    @property
    def transport(self) -> str | None:
        """tcp, rdma or udp."""
        return self.got.get("proto")

    @property
    def hard(self) -> bool | None:
        """False for soft and softerr; None when it is not mounted."""
        if not self.mounted or not self.got:
            return None
        return not ("soft" in self.got or "softerr" in self.got)


class Observer(Value):
    """What we cost this node."""

    cpu_s: float | None = None
    """CPU seconds of our processes there and of their sshd since `since`."""
    since: float | None = None
    cpu_s_per_min: float | None = None
    bytes_per_s: float | None = None
    sessions: int = 0


class Notice(Value):
    """Something that happened once and is worth a line: a reboot, a remount, a link that came back."""

    at: float
    node: str
    kind: Literal[
        "rebooted",
        "remounted",
        "link-lost",
        "link-back",
        "nfs-lost",
        "nfs-back",
        "container-started",
        "container-ended",
        "gid-moved",
        "port-down",
        "port-up",
    ]
    detail: str = ""


class NodeState(Value):
    """All that is known of one node."""

    name: str
    role: NodeRole = "worker"
    rank: int | None = None
    target: str = ""
    """Where we connect to, for people: user@host:port or `local`."""
    link: Link = Link()
    host: Reading[Host] = Reading[Host]()
    uptime_s: float | None = None
    memory: Reading[Memory] = Reading[Memory]()
    pressure: Reading[Pressure] = Reading[Pressure]()
    net: Reading[tuple[NetRate, ...]] = Reading[tuple[NetRate, ...]]()
    mountinfo: Reading[tuple[MountEntry, ...]] = Reading[tuple[MountEntry, ...]]()
    mountstats: Reading[tuple[MountStats, ...]] = Reading[tuple[MountStats, ...]]()
    fstab: Reading[tuple[FstabEntry, ...]] = Reading[tuple[FstabEntry, ...]]()
    volumes: Reading[tuple[DockerVolume, ...]] = Reading[tuple[DockerVolume, ...]]()
    nfs: tuple[NfsMount, ...] = ()
    shm: Reading[ShmUse] = Reading[ShmUse]()
    logind: Reading[Logind] = Reading[Logind]()
    gpu: Reading[Gpu] = Reading[Gpu]()
    nas: Reading[NasServer] = Reading[NasServer]()
    containers: Reading[ContainerEngine] = Reading[ContainerEngine]()
    processes: Reading[tuple[ProcessLimits, ...]] = Reading[tuple[ProcessLimits, ...]]()
    """Of the first process of each running container."""
    rdma: Reading[tuple[PortRate, ...]] = Reading[tuple[PortRate, ...]]()
    rdma_counters: Reading[tuple[RdmaCounters, ...]] = Reading[tuple[RdmaCounters, ...]]()
    clock: Reading[ClockOffset] = Reading[ClockOffset]()
    logs: tuple[RankLog, ...] = ()
    """One a container of the recipe on this node."""
    failures: tuple[Occurrence, ...] = ()
    """Seen in its logs and not over; oldest first."""
    unread_logs: dict[str, str] = {}
    """Log sources that cannot be read, with the reason and what allows it."""
    low_free: LowWater | None = None
    low_available: LowWater | None = None
    low_free_service: LowWater | None = None
    """Since the newest StartedAt of a rank's container here."""
    low_available_service: LowWater | None = None
    free_trend: Trend = Trend()
    free_slope_bytes_per_s: float | None = None
    """Smoothed change of MemFree; negative while falling."""
    observer: Observer = Observer()

    @property
    def reachable(self) -> bool:
        return self.link.phase == "up"


class ClusterState(Value):
    """The whole cluster at one moment."""

    name: str = "cluster"
    started_at: float = 0.0
    limits: Limits = Limits()
    book: Book = Book()
    """What is known of failures; empty until it is read, which happens after the first frame."""
    book_notes: tuple[str, ...] = ()
    """One line for each failure file of the operator's that is broken: which, where, and why."""
    log_sources: tuple[LogSource, ...] = ()
    nodes: tuple[NodeState, ...] = ()
    notices: tuple[Notice, ...] = ()
    """Newest last, at most 50."""

    def node(self, name: str) -> NodeState:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)
