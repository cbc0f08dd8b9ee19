"""NFS mounts: what mountinfo, mountstats, fstab and docker volumes say of one mount, joined; and its state.

*Not responding* needs two proofs: a time-limited probe timed out, and no reply came over any of the mount's
connections since it began. A probe that waits behind a saturated link times out too, but replies move: *slow*.
"""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.events import ProbeEnded, ProbeStarted, ReadingTaken
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import NfsMount, NfsStateName, NodeState, Notice, Probe, Reading
from dsv41_tui.core.rates import elapsed_s, rate
from dsv41_tui.core.readings import DockerVolume, FstabEntry, MountEntry, MountStats
from dsv41_tui.core.trend import extend

SOURCES = frozenset({"mountinfo", "mountstats", "fstab", "volumes"})
PROOF_S = 1.5
"""Receives must have stood still for so long since a probe began; a saturated server answers something in less."""
PROBE_TOO_OLD_S = 35.0
"""Without a newer probe, and with nothing read, a mount's state is not known."""
UNDECIDED = ("blocked", "unusable")
ACTIVE_BYTES_PER_S = 64 * 1024
"""Below this a mount counts as idle: attribute traffic and probes."""


def join(
    node: NodeState, event: ReadingTaken, notices: list[Notice], limits: Limits, before: Reading[Any]
) -> tuple[NodeState, list[Notice]]:
    """Rebuild the node's mounts after one of `SOURCES` was read."""
    old = {mount.mount_point: mount for mount in node.nfs}
    mounts = [_carry(old.get(mount.mount_point), mount) for mount in _mounts(node)]
    if event.name == "mountstats":
        gap = elapsed_s(before, event)
        by_place = {stats.mount_point: stats for stats in node.mountstats.value or ()}
        mounts = [_count(node, mount, by_place.get(mount.mount_point), event, gap, notices) for mount in mounts]
    return _settle(node, old, mounts, event.at, limits, notices)


def probe(node: NodeState, event: ProbeStarted | ProbeEnded, limits: Limits) -> tuple[NodeState, list[Notice]]:
    """A probe began or ended."""
    old = {mount.mount_point: mount for mount in node.nfs}
    mounts = [_probed(mount, event) if mount.mount_point == event.mount_point else mount for mount in node.nfs]
    return _settle(node, old, mounts, event.at, limits, [])


def _settle(
    node: NodeState, old: dict[str, NfsMount], mounts: list[NfsMount], at: float, limits: Limits, notices: list[Notice]
) -> tuple[NodeState, list[Notice]]:
    settled = []
    decided = {mount.device: mount for mount in mounts if mount.device and _is_decided(mount)}
    for mount in mounts:
        twin = mount if _is_decided(mount) else decided.get(mount.device or "", mount)
        state = _state(mount, twin.last_probe, limits, at)
        if state != mount.state:
            notices += _crossing(node, mount, state, at)
            since = _since(twin, state, at)
            settled.append(mount.model_copy(update={"state": state, "state_since": since}))
        else:
            settled.append(mount)
    if tuple(settled) == node.nfs:
        return node, notices
    return node.model_copy(update={"nfs": tuple(settled)}), notices


def _is_decided(mount: NfsMount) -> bool:
    """Whether a probe of this very mount proved something; several mounts of one superblock share the proof."""
    return mount.last_probe is not None and mount.last_probe.outcome not in UNDECIDED


def _since(mount: NfsMount, state: NfsStateName, at: float) -> float:
    """A hang began when its probe was sent, not when the probe was given up."""
    if state == "not-responding" and mount.last_probe is not None:
        return mount.last_probe.started_at
    return at


def _crossing(node: NodeState, mount: NfsMount, state: NfsStateName, at: float) -> list[Notice]:
    if state == "not-responding":
        return [Notice(at=at, node=node.name, kind="nfs-lost", detail=mount.mount_point)]
    if mount.state == "not-responding" and state in ("fine", "idle", "slow"):
        return [Notice(at=at, node=node.name, kind="nfs-back", detail=mount.mount_point)]
    return []


def _mounts(node: NodeState) -> list[NfsMount]:
    """All mounts that are there, defined, or expected; the newest of several at one place."""
    volumes = {volume.mount_point: volume for volume in node.volumes.value or ()}
    fstab = {entry.mount_point: entry for entry in node.fstab.value or ()}
    entries = {entry.mount_point: entry for entry in node.mountinfo.value or ()}
    stats = {block.mount_point: block for block in node.mountstats.value or ()}
    mounts = [_mounted(entry, stats.get(place), volumes, fstab) for place, entry in entries.items()]
    mounts += [_from_stats(block, volumes, fstab) for place, block in stats.items() if place not in entries]
    if node.mountinfo.value is None:
        return mounts  # whether a defined or expected mount is there is not known yet
    present = {mount.mount_point for mount in mounts}
    wanted: list[DockerVolume | FstabEntry] = [*volumes.values(), *(entry for entry in fstab.values() if _auto(entry))]
    mounts += [_absent(item, volumes, fstab) for item in wanted if item.mount_point not in present]
    return mounts


def _mounted(
    entry: MountEntry, stats: MountStats | None, volumes: dict[str, DockerVolume], fstab: dict[str, FstabEntry]
) -> NfsMount:
    return NfsMount(
        mount_point=entry.mount_point,
        source=entry.source,
        fstype=entry.fstype,
        device=entry.device,
        read_only=entry.read_only,
        got=entry.options or (stats.options if stats else {}),
        **_asked(entry.mount_point, volumes, fstab),
    )


def _from_stats(block: MountStats, volumes: dict[str, DockerVolume], fstab: dict[str, FstabEntry]) -> NfsMount:
    return NfsMount(
        mount_point=block.mount_point,
        source=block.source,
        fstype=block.fstype,
        got=block.options,
        **_asked(block.mount_point, volumes, fstab),
    )


def _asked(place: str, volumes: dict[str, DockerVolume], fstab: dict[str, FstabEntry]) -> dict[str, Any]:
    if (volume := volumes.get(place)) is not None:
        return {"volume": volume.name, "asked": volume.options, "asked_source": f"docker volume {volume.name}"}
    if (entry := fstab.get(place)) is not None:
        return {"asked": entry.options, "asked_source": "/etc/fstab"}
    return {}


def _absent(
    item: DockerVolume | FstabEntry, volumes: dict[str, DockerVolume], fstab: dict[str, FstabEntry]
) -> NfsMount:
    """A mount that is defined or expected and not there."""
    return NfsMount(
        mount_point=item.mount_point,
        source=item.source,
        fstype=item.fstype,
        mounted=False,
        **_asked(item.mount_point, volumes, fstab),
    )


def _auto(entry: FstabEntry) -> bool:
    """Whether fstab wants it mounted at boot; on demand (automount) an absent mount is normal."""
    return "noauto" not in entry.options and "x-systemd.automount" not in entry.options


_CARRIED = (
    "stats", "stats_at", "read_bytes_per_s", "rtt_ms", "execute_ms", "retrans_per_s", "probe", "last_probe",
    "state", "state_since", "trend",
)  # fmt: skip


def _carry(old: NfsMount | None, new: NfsMount) -> NfsMount:
    """What was measured of this mount before stays with it, unless it went away or is another one now."""
    if old is None:
        return new
    if old.mounted != new.mounted or old.source != new.source:
        return new.model_copy(update={"state": old.state, "state_since": old.state_since})
    return new.model_copy(update={key: getattr(old, key) for key in _CARRIED})


def _count(
    node: NodeState,
    mount: NfsMount,
    stats: MountStats | None,
    event: ReadingTaken,
    gap_s: float | None,
    notices: list[Notice],
) -> NfsMount:
    """Rates from two samples; a younger mount or a counter that went back starts anew."""
    if stats is None:
        return mount
    update: dict[str, Any] = {"stats": stats, "stats_at": event.at, **_probe_progress(mount, stats, event.at)}
    old = mount.stats
    if old is not None and (old.age_s or 0) > (stats.age_s or 0):
        notices.append(Notice(at=event.at, node=node.name, kind="remounted", detail=mount.mount_point))
        update |= {"read_bytes_per_s": None, "rtt_ms": None, "execute_ms": None, "retrans_per_s": None}
    elif old is not None and gap_s is not None:
        update |= _rates(mount, old, stats, gap_s)
    read_rate = update.get("read_bytes_per_s")
    value = None if read_rate is None else int(read_rate)
    update["trend"] = extend(mount.trend, event.at, value, max)
    return mount.model_copy(update=update)


def _rates(mount: NfsMount, old: MountStats, new: MountStats, gap_s: float) -> dict[str, Any]:
    update: dict[str, Any] = {"read_bytes_per_s": None}
    if old.server_read_bytes is not None and new.server_read_bytes is not None:
        update["read_bytes_per_s"] = rate(old.server_read_bytes, new.server_read_bytes, gap_s)
    before, after = (old.read, new.read) if new.read.ops > old.read.ops else (old.total, new.total)
    ops = after.ops - before.ops
    if ops > 0:
        update["rtt_ms"] = max(0, after.rtt_ms - before.rtt_ms) / ops
        update["execute_ms"] = max(0, after.execute_ms - before.execute_ms) / ops
    repeated_old, repeated_new = retransmissions(old), retransmissions(new)
    update["retrans_per_s"] = rate(repeated_old, repeated_new, gap_s)
    return update


def retransmissions(stats: MountStats) -> int:
    """Requests that were sent again since mount, over all operations."""
    return max(0, stats.total.transmissions - stats.total.ops)


def _probe_progress(mount: NfsMount, stats: MountStats, at: float) -> dict[str, Any]:
    """Fix the baseline of a probe at the first sample after its start, then see whether replies move."""
    update: dict[str, Any] = {}
    for name in ("probe", "last_probe"):
        current: Probe | None = getattr(mount, name)
        if current is None or current.outcome not in ("waiting", "timeout", "error"):
            continue
        if current.receives_baseline is None and current.outcome == "waiting":
            update[name] = current.model_copy(update={"receives_baseline": stats.receives})
        elif current.receives_baseline is not None:
            moved = current.receives_moved or stats.receives > current.receives_baseline
            update[name] = current.model_copy(update={"receives_at": at, "receives_moved": moved})
    return update


def _probed(mount: NfsMount, event: ProbeStarted | ProbeEnded) -> NfsMount:
    if isinstance(event, ProbeStarted):
        return mount.model_copy(update={"probe": Probe(started_at=event.at)})
    begun = mount.probe or Probe(started_at=event.at - event.took_s)
    ended = begun.model_copy(
        update={"ended_at": event.at, "outcome": event.outcome, "took_s": event.took_s, "text": event.text}
    )
    return mount.model_copy(update={"probe": ended, "last_probe": ended})


def _state(mount: NfsMount, last: Probe | None, limits: Limits, at: float) -> NfsStateName:
    """The state by the newest probe of this superblock, and by what is read."""
    if not mount.mounted:
        return "unused" if mount.volume is not None else "unmounted"
    reading = (mount.read_bytes_per_s or 0) >= ACTIVE_BYTES_PER_S
    if last is None or last.outcome == "unusable":
        return "fine" if reading else "unknown"
    if last.outcome == "blocked":
        return "fine" if reading else _passive(mount)
    if last.outcome == "stale":
        return "stale-handle"
    if last.outcome == "denied":
        return "denied"
    if last.outcome == "missing":
        return "unmounted"
    if last.outcome in ("timeout", "error"):
        return _silence(mount, last)
    if not reading and at - (last.ended_at or at) > PROBE_TOO_OLD_S:
        return "unknown"
    if (last.took_s or 0) > limits.nfs_slow_probe_s or (mount.rtt_ms or 0) > limits.nfs_slow_rtt_ms:
        return "slow"
    return "fine" if reading else "idle"


def _silence(mount: NfsMount, last: Probe) -> NfsStateName:
    """A probe without an answer: the second proof is that receives were seen to stand still since it began."""
    if last.receives_baseline is None or last.receives_at is None:
        return mount.state
    if last.receives_moved:
        return "slow"
    return "not-responding" if last.receives_at - last.started_at >= PROOF_S else mount.state


def _passive(mount: NfsMount) -> NfsStateName:
    """Where our login cannot reach the folder: nothing unanswered is all that can be said."""
    return "idle" if mount.stats is not None and mount.stats.sends <= mount.stats.receives else "unknown"
