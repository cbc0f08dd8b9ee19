"""What state each NFS mount is in: not responding, stale, denied, not mounted, slow, losing packets.

The state itself is the reducer's; here it gets its cause, which often stands on another node: when the others still
read from the server, the server is not down.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.finding import Cause, Evidence, Finding
from dsv41_tui.core.health.common import (
    Kind,
    argument,
    cause,
    compute_nodes,
    duration,
    finding,
    fix,
    fresh,
    host_argument,
    rate,
    title,
)
from dsv41_tui.core.health.host import recent_reboots
from dsv41_tui.core.health.mounts import Subject, nas_of, server, server_key, subjects
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState, Probe

HUNG = Kind(id="nfs-not-responding", severities=("error", "warn"), pane="nfs")
STALE = Kind(id="nfs-stale-handle", severities=("error", "warn"), pane="nfs")
DENIED = Kind(id="nfs-denied", severities=("error", "warn"), pane="nfs")
UNMOUNTED = Kind(id="nfs-unmounted", severities=("error", "warn"), pane="nfs")
SLOW = Kind(id="nfs-slow", severities=("warn",), pane="nfs")
RETRANSMITS = Kind(id="nfs-retransmissions", severities=("warn",), pane="nfs")
KINDS = (HUNG, STALE, DENIED, UNMOUNTED, SLOW, RETRANSMITS)

RETRANS_PER_S = 1.0
"""Requests sent again per second; a single one between two samples is half of that."""
ANSWERING = ("fine", "idle", "slow")
_MOUNTSTATS = "/proc/self/mountstats"


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every mount of every connected node."""
    for node in compute_nodes(state):
        for subject in subjects(node, now):
            mount = subject.mount
            if mount.state == "not-responding":
                yield _hung(state, node, subject, now)
            elif mount.state == "stale-handle":
                yield _stale(node, subject)
            elif mount.state == "denied":
                yield _denied(node, subject)
            elif mount.state == "unmounted" and node.mountinfo.value is not None:
                yield _unmounted(state, node, subject, now)
            elif mount.state == "slow":
                yield _slow(state, node, subject, limits, now)
            if mount.state in ANSWERING and (mount.retrans_per_s or 0) >= RETRANS_PER_S and not _in_doubt(mount):
                yield _retransmits(node, subject)


def _in_doubt(mount: NfsMount) -> bool:
    """A probe waits and no reply came since: what looks like lost packets can be a server that stopped."""
    probe = mount.probe
    return probe is not None and probe.outcome == "waiting" and not probe.receives_moved


def _hung(state: ClusterState, node: NodeState, subject: Subject, now: float) -> Finding:
    mount = subject.mount
    host = host_argument(server(mount))
    causes = _hang_causes(state, node, mount, now)
    effect = t(f"findings.{HUNG.id}.effect-{'soft' if mount.hard is False else 'hard'}")
    order = t(f"findings.{HUNG.id}.order-{'here' if causes[0].cause_id == 'nfs_firewall' else 'server'}")
    return finding(
        HUNG,
        "error",
        title(place=mount.mount_point, server=server(mount) or "?", age=duration(now - mount.state_since)),
        fix(effect=effect, order=order),
        node=node.name,
        causes=causes,
        evidence=(*_probe_evidence(mount), *_transport_evidence(mount), _options_evidence(mount)),
        commands=(
            f"ping -c 3 {host}",
            f"timeout -s KILL 5 rpcinfo -T tcp {host} nfs",
            "ss -nt state syn-sent '( dport = :2049 )'",
            "ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /D/'",
        ),
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _hang_causes(state: ClusterState, node: NodeState, mount: NfsMount, now: float) -> tuple[Cause, ...]:
    """Server or path: what the NAS says of itself decides, then what the other nodes see of the same server."""
    nas = nas_of(state, mount)
    told = fresh(nas, nas.nas, now) if nas is not None else None
    if told is not None and told.nfsd_threads == 0:
        return (cause("nfs_server_down", "confirmed", "nfsd-zero"),)
    hung, answering = _elsewhere(state, node, mount, now)
    if answering:
        return (
            cause("nfs_firewall", "likely", "only-here", nodes=", ".join(answering)),
            cause("nfs_server_down", "ruled-out", "answers-there", nodes=", ".join(answering)),
        )
    if nas is not None and nas.link.kind is not None and not nas.reachable:
        down = cause("nfs_server_down", "likely", "nas-silent-too", reason=nas.link.why or "")
    elif hung:
        down = cause("nfs_server_down", "likely", "hung-everywhere", count=len(hung) + 1)
    elif nas is not None and told is not None and told.nfsd_threads and (nas.nas.at or 0.0) > mount.state_since:
        down = cause("nfs_server_down", "possible", "nfsd-runs", threads=told.nfsd_threads)
    else:
        down = cause("nfs_server_down", "likely", "nothing-received")
    return (down, cause("nfs_firewall", "possible", "firewall"))


def _elsewhere(state: ClusterState, node: NodeState, mount: NfsMount, now: float) -> tuple[list[str], list[str]]:
    """Names of the other nodes for which the same server hangs, and of those that it answers."""
    hung, answering = [], []
    for other in compute_nodes(state):
        if other.name == node.name or not other.reachable or other.mountstats.read(now) != "ok":
            continue
        states = {seen.state for seen in other.nfs if server_key(seen) == server_key(mount)}
        if "not-responding" in states:
            hung.append(other.name)
        elif states & set(ANSWERING):
            answering.append(other.name)
    return hung, answering


def _probe_evidence(mount: NfsMount) -> tuple[Evidence, ...]:
    probe = mount.last_probe
    if probe is None:
        return ()
    return (Evidence(source=f"stat -f {argument(mount.mount_point)}", reading=_probe_text(probe), line=probe.text),)


def _probe_text(probe: Probe) -> str:
    took = "" if probe.took_s is None else f" {probe.took_s:.1f} s"
    return f"{probe.outcome}{took}"


def _transport_evidence(mount: NfsMount) -> tuple[Evidence, ...]:
    """Requests ahead of replies, and whether replies have moved since the probe was sent."""
    if mount.stats is None or not mount.stats.transports:
        return ()
    stats = mount.stats
    text = f"sends {stats.sends}, receives {stats.receives}, {max(0, stats.sends - stats.receives)} unanswered"
    probe = mount.last_probe
    if probe is not None and probe.receives_baseline is not None:
        text += f", +{max(0, stats.receives - probe.receives_baseline)} receives since the probe"
    return (Evidence(source=f"{_MOUNTSTATS} xprt", reading=text),)


def _options_evidence(mount: NfsMount) -> Evidence:
    known = ("vers", "hard", "soft", "softerr", "proto", "timeo", "retrans", "nconnect", "rsize")
    options = [key if mount.got[key] == "" else f"{key}={mount.got[key]}" for key in known if key in mount.got]
    return Evidence(source="/proc/self/mountinfo", reading=",".join(options) or "unread")


def _stale(node: NodeState, subject: Subject) -> Finding:
    place = argument(subject.mount.mount_point)
    return finding(
        STALE,
        "error",
        title(place=subject.mount.mount_point, source=subject.mount.source),
        fix(),
        node=node.name,
        causes=(cause("nfs_stale_handle", "confirmed", "stale"),),
        evidence=_probe_evidence(subject.mount),
        commands=(f"sudo umount -f -l {place}", f"sudo mount {place}"),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _denied(node: NodeState, subject: Subject) -> Finding:
    host = host_argument(server(subject.mount))
    return finding(
        DENIED,
        "error",
        title(place=subject.mount.mount_point, server=server(subject.mount) or "?"),
        fix(),
        node=node.name,
        causes=(cause("nfs_export_acl", "likely", "denied"), cause("nfs_path_wrong", "possible", "export-gone")),
        evidence=_probe_evidence(subject.mount),
        commands=(
            f"ip route get {host}",
            f"timeout -s KILL 5 showmount -e {host}",
            "sudo exportfs -ra && sudo exportfs -v   # on the server",
        ),
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _unmounted(state: ClusterState, node: NodeState, subject: Subject, now: float) -> Finding:
    mount = subject.mount
    gone = mount.mounted
    asked = Evidence(source=mount.asked_source or "/etc/fstab", reading=f"{mount.source} {mount.mount_point}")
    reboots = recent_reboots(node, state.notices, now)
    why = cause("nfs_mount_missing", "confirmed", "gone" if gone else "after-reboot" if reboots else "not-mounted")
    return finding(
        UNMOUNTED,
        "error",
        title("title-gone" if gone else "title", place=mount.mount_point, source=mount.source),
        fix(),
        node=node.name,
        causes=(why,),
        evidence=_probe_evidence(mount) if gone else (asked,),
        commands=(
            f"sudo mount {argument(mount.mount_point)}",
            f"findmnt {argument(mount.mount_point)}",
        ),
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _slow(state: ClusterState, node: NodeState, subject: Subject, limits: Limits, now: float) -> Finding:
    mount, probe = subject.mount, subject.mount.last_probe
    if mount.rtt_ms is not None and mount.rtt_ms > limits.nfs_slow_rtt_ms:
        head = title(
            "title-rtt", place=mount.mount_point, rtt=f"{mount.rtt_ms:.0f}", limit=f"{limits.nfs_slow_rtt_ms:g}"
        )
    else:
        took = duration(probe.took_s) if probe is not None and probe.took_s is not None else "?"
        head = title("title-probe", place=mount.mount_point, took=took, limit=f"{limits.nfs_slow_probe_s:g}")
    return finding(
        SLOW,
        "warn",
        head,
        fix(),
        node=node.name,
        causes=_slow_causes(state, mount, limits, now),
        evidence=(*_times_evidence(mount), *_probe_evidence(mount), *_transport_evidence(mount)),
        commands=(f"nfsiostat 2 3 {argument(mount.mount_point)}", "cat /proc/loadavg /proc/mdstat   # on the server"),
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _times_evidence(mount: NfsMount) -> tuple[Evidence, ...]:
    values = [
        None if mount.rtt_ms is None else f"RTT {mount.rtt_ms:.0f} ms",
        None if mount.execute_ms is None else f"execute {mount.execute_ms:.0f} ms",
        None if mount.read_bytes_per_s is None else f"read {rate(mount.read_bytes_per_s)}",
    ]
    known = [value for value in values if value is not None]
    return (Evidence(source=_MOUNTSTATS, reading=", ".join(known)),) if known else ()


def _slow_causes(state: ClusterState, mount: NfsMount, limits: Limits, now: float) -> tuple[Cause, ...]:
    """Rebuild, load of our own, queue of the client, or the server: each with the number that speaks for it."""
    causes = []
    nas = nas_of(state, mount)
    told = fresh(nas, nas.nas, now) if nas is not None else None
    for array in told.raid if told is not None else ():
        if array.action is not None:
            causes.append(cause("raid_rebuild", "likely", "raid-busy", name=array.name, action=array.action))
    probe, speed = mount.last_probe, mount.read_bytes_per_s
    if probe is not None and probe.receives_moved:
        causes.append(cause("slow_load_not_hang", "confirmed", "replies-move"))
    elif speed is not None and speed >= 1 << 20:
        causes.append(cause("slow_load_not_hang", "likely", "load-runs", rate=rate(speed)))
    if mount.rtt_ms is not None and mount.execute_ms is not None and mount.execute_ms > 2 * mount.rtt_ms:
        values = {"execute": f"{mount.execute_ms:.0f}", "rtt": f"{mount.rtt_ms:.0f}"}
        causes.append(cause("nfs_client_queue", "likely", "client-queue", **values))
    if mount.rtt_ms is not None and mount.rtt_ms > limits.nfs_slow_rtt_ms:
        causes.append(cause("nas_overloaded", "possible", "server-slow", rtt=f"{mount.rtt_ms:.0f}"))
    return tuple(causes) or (cause("nas_overloaded", "possible", "probe-slow"),)


def _retransmits(node: NodeState, subject: Subject) -> Finding:
    mount = subject.mount
    host = host_argument(server(mount))
    return finding(
        RETRANSMITS,
        "warn",
        title(place=mount.mount_point, count=f"{mount.retrans_per_s or 0:.1f}"),
        fix(),
        node=node.name,
        causes=(cause("network_loss", "possible", "packets-lost"), cause("nas_overloaded", "possible", "replies-late")),
        evidence=(*_times_evidence(mount), *_transport_evidence(mount)),
        commands=(f"ping -c 20 -i 0.2 {host}", "ip -s link", "ss -ntie '( dport = :2049 )'"),
        stale_s=subject.stale_s,
        count=subject.places,
    )
