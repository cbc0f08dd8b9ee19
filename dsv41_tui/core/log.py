"""Log lines and where they come from. A line is a NamedTuple: a flood brings 20,000 a second, and a model costs 2 us.

`at` is Unix time in seconds on the node's own clock, as the source stamped it; the skew of that clock against the
operator's is a reading of the node, applied only for display and for the order of the one timeline.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dsv41_tui.core.value import Value

LogKind = Literal["rank", "service", "kernel", "launcher", "proxy", "events"]
"""`rank`: the container of a rank; `service`: another container of the recipe; `events`: docker's own events."""
Level = Literal["D", "I", "W", "E", ""]
"""Debug, information, warning, error; empty where the line does not say."""


class LogSource(Value):
    """One stream of lines. `id` is what files, filters and findings name: `spark1/dsv41-exl3-head`."""

    id: str
    node: str
    kind: LogKind
    name: str
    """Container, file, or `kernel`."""
    rank: int | None = None


class LogLine(NamedTuple):
    """One line, cleaned and redacted."""

    number: int
    """Its place in the record of this run; grows by one a line over all sources."""
    source: str
    """`LogSource.id`."""
    at: float | None
    """Unix seconds of the node's clock; None where the source gives no stamp and its line none either."""
    seen_at: float
    """When it came here: Unix seconds of the operator's clock."""
    level: Level
    text: str


Transport = Literal["ib", "socket"]
Registration = Literal["ok", "failed"]
Init = Literal["start", "complete", "gone"]

PHASES: tuple[str, ...] = (
    "script",
    "serve",
    "args",
    "engine",
    "device",
    "distributed",
    "load",
    "prefetch",
    "shards",
    "weights",
    "post-load",
    "draft",
    "loaded",
    "kv-format",
    "compile",
    "memory",
    "kv",
    "capture",
    "graphs",
    "engine-ready",
    "server",
    "serving",
)
"""Boot phases in their usual order; one is skipped where a recipe has none, and ranks pass them at their own pace."""


class LogFact(Value):
    """What one line of an engine's log says of its state; a field that the line does not speak of is None."""

    at: float | None = None
    """Unix seconds of the node's clock: the stamp of the line."""
    nccl_version: str | None = None
    devices: tuple[str, ...] | None = None
    """Empty: NCCL looked and found none."""
    gid_index: int | None = None
    transport: Transport | None = None
    socket_interface: str | None = None
    address: str | None = None
    """Of this rank, as NCCL's bootstrap names it."""
    channels: int | None = None
    registration: Registration | None = None
    connected: bool = False
    """Rings or trees are connected."""
    init: Init | None = None
    """An NCCL init began, came up, or was given up."""
    communicator: str = ""
    """`host:pid:0x...` of that init."""
    engine_version: str | None = None
    rank: int | None = None
    world_size: int | None = None
    phase: str | None = None
    served: bool = False
    running: int | None = None
    waiting: int | None = None
    alive: bool = False
    """Tokens were made. An answered request is no proof: of a stream the line comes before its first token."""
    silent: bool = False
    """A collective has waited for a minute (`No available shared memory broadcast block`)."""
    dead_rank: int | None = None
    """Named by the line itself."""
    lost_peer: str | None = None
    """Address or host name of the other end of a connection that broke; empty where the line names none."""
    stopping: bool = False
    """An orderly end has begun: somebody asked for it."""


class RankLog(Value):
    """What the engine's log of one container says of its state, since its StartedAt."""

    container: str
    rank: int | None = None
    started_at: float | None = None
    nccl_version: str | None = None
    devices: tuple[str, ...] = ()
    """`rocep1s0f0:1` as NCCL chose them."""
    gid_index: int | None = None
    transport: Transport | None = None
    socket_interface: str | None = None
    address: str | None = None
    """Of this rank, as NCCL's bootstrap names it; tells ranks apart where a line names a peer by address."""
    channels: int | None = None
    registration: Registration | None = None
    """Of memory with the HCA: connected rings prove it, an error line denies it."""
    init_started_at: float | None = None
    """Unix seconds, node's clock, of the oldest NCCL init without its COMPLETE; None when none is open."""
    init_open_since: float | None = None
    """The same on the operator's monotonic clock."""
    init_complete: int = 0
    """How many communicators came up."""
    open_inits: dict[str, float] = {}
    """Inits without their COMPLETE by communicator, Unix seconds of the node's clock; at most 64."""
    world_size: int | None = None
    engine_version: str | None = None
    phase: str | None = None
    """Last boot phase that was seen, by the recipe's ids."""
    phase_at: float | None = None
    served: bool = False
    """Whether it said that it serves."""
    running: int | None = None
    waiting: int | None = None
    last_line_at: float | None = None
    dead_rank: int | None = None
    """The rank that this log says died or fell silent."""
    lost_peer: str | None = None
    """Who closed a connection, by address or host name as the line gives it; `dead_rank` is its rank where known."""
    silent_since: float | None = None
    """Unix seconds of the first line that says that a collective waits, while no token has been made since."""
    stopping: bool = False
    """An orderly end has begun: what comes after it is no failure."""


class Occurrence(Value):
    """A failure of the book that was seen in the logs of a node."""

    rule: str
    source: str
    """`LogSource.id` of the first line."""
    first_at: float
    """Unix seconds, corrected to the operator's clock."""
    last_at: float
    last_seen: float | None = None
    """When, on the operator's monotonic clock, the last line was written; ageing runs on it."""
    count: int = 1
    first_line: str = ""
    first_number: int | None = None
    """`LogLine.number`, for the jump."""
    rank: int | None = None
    started_at: float | None = None
    """StartedAt of the container whose log it stands in: it clears when that starts anew."""
    facts: dict[str, str | float | bool] = {}
    """Readings of the node when it was first seen; see `core.facts`."""
    facts_late_s: float = 0.0
    """How long after its line they were taken: a line from before the panel has no readings of its own time."""
    came_at: float | None = None
    """When, on the operator's monotonic clock, the line came that the readings belong to."""
    signals: dict[str, str] = {}
    """Patterns of `seen` conditions that had matched in the node's logs, each with its first line."""
    silencers: tuple[str, ...] = ()
    """Harmless rules that claim its lines, if readings agree."""
