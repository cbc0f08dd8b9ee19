"""Options that cost speed or safety: asked for and obtained are compared, and the better line is said.

Nothing is said of read-only: weights are read, and a writable mount of them is the operator's choice.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.finding import Cause, Evidence, Finding
from dsv41_tui.core.health.common import (
    Kind,
    argument,
    cause,
    compute_nodes,
    ethernet,
    finding,
    fix,
    fresh,
    host_argument,
    title,
)
from dsv41_tui.core.health.mounts import (
    CLIENT_MAX_RSIZE,
    Subject,
    better_line,
    better_options,
    connections,
    is_soft,
    link_mbit,
    nas_of,
    number,
    remount,
    server,
    server_key,
    subjects,
    version,
    version_rank,
)
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState

SOFT = Kind(id="nfs-soft-mount", severities=("warn",), pane="nfs")
NCONNECT_IGNORED = Kind(id="nfs-nconnect-ignored", severities=("warn",), pane="nfs")
RSIZE_CLAMPED = Kind(id="nfs-rsize-clamped", severities=("warn", "info"), pane="nfs")
VOLUME_OPTIONS = Kind(id="nfs-volume-options", severities=("info",), pane="nfs")
NCONNECT_ABSENT = Kind(id="nfs-nconnect-absent", severities=("info",), pane="nfs")
VERSION = Kind(id="nfs-version", severities=("info",), pane="nfs")
RSIZE_SMALL = Kind(id="nfs-rsize-small", severities=("info",), pane="nfs")
KINDS = (SOFT, NCONNECT_IGNORED, RSIZE_CLAMPED, VOLUME_OPTIONS, NCONNECT_ABSENT, RSIZE_SMALL, VERSION)

FAST_MBIT = 5000
"""One TCP connection fills a slower link."""
BEST_VERSION = "4.2"


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every mount and every defined docker NFS volume of the nodes that run the model."""
    for node in compute_nodes(state):
        for subject in subjects(node, now):
            yield from _soft(node, subject, limits)
            if subject.mount.volume is not None:
                yield from _volume(node, subject, limits)
            if subject.mount.mounted:
                yield from _nconnect(state, node, subject, limits, now)
                yield from _rsize(state, node, subject, limits, now)
                yield from _version(state, node, subject, limits, now)


def _options(mount: NfsMount) -> dict[str, str]:
    """What is in force, or, of a volume that nobody uses now, what will be."""
    return mount.got if mount.mounted else mount.asked


def _source(mount: NfsMount) -> str:
    return "/proc/self/mountinfo" if mount.mounted else (mount.asked_source or "docker volume inspect")


def _soft(node: NodeState, subject: Subject, limits: Limits) -> Iterable[Finding]:
    mount = subject.mount
    if not is_soft(_options(mount)):
        return
    word = "soft" if "soft" in _options(mount) else "softerr"
    yield finding(
        SOFT,
        "warn",
        title(place=mount.mount_point, word=word),
        fix(line=better_line(mount, limits)),
        node=node.name,
        causes=(cause("nfs_soft_mount_eio", "confirmed", "soft", word=word),),
        evidence=(Evidence(source=_source(mount), reading=word),),
        commands=remount(mount, limits),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _nconnect(state: ClusterState, node: NodeState, subject: Subject, limits: Limits, now: float) -> Iterable[Finding]:
    mount = subject.mount
    got, asked = connections(mount), number(mount.asked, "nconnect")
    if got is None or (got > 1 and asked is None):
        return
    if asked is not None:
        if got < min(asked, 16):
            yield _nconnect_ignored(node, subject, limits, asked, got)
        return
    speed = link_mbit(nas_of(state, mount), limits, now)
    if speed is None or speed < FAST_MBIT or mount.volume is not None:
        return
    yield finding(
        NCONNECT_ABSENT,
        "info",
        title(place=mount.mount_point, speed=ethernet(speed)),
        fix(line=better_line(mount, limits)),
        node=node.name,
        evidence=(Evidence(source="/proc/self/mountstats xprt", reading=f"{got} xprt"),),
        commands=remount(mount, limits),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _nconnect_ignored(node: NodeState, subject: Subject, limits: Limits, asked: int, got: int) -> Finding:
    """A client shares the connections of an earlier mount of the same server and version, whatever is asked later."""
    mount = subject.mount
    others = [
        other
        for other in node.nfs
        if other.mounted and other.mount_point != mount.mount_point and server_key(other) == server_key(mount)
    ]
    places = ", ".join(other.mount_point for other in others)
    why = (
        cause("nfs_option_not_applied", "likely", "mounted-before", places=places)
        if others
        else cause("nfs_option_not_applied", "possible", "mounted-before-unseen")
    )
    every = " ".join(argument(other.mount_point) for other in (mount, *others))
    return finding(
        NCONNECT_IGNORED,
        "warn",
        title(place=mount.mount_point, asked=asked, got=got),
        fix(line=better_line(mount, limits)),
        node=node.name,
        causes=(why,),
        evidence=(
            Evidence(source=mount.asked_source or "", reading=f"nconnect={asked}"),
            Evidence(source="/proc/self/mountstats xprt", reading=f"{got} xprt"),
        ),
        commands=(f"sudo umount {every}", f"sudo mount {argument(mount.mount_point)}"),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _rsize(state: ClusterState, node: NodeState, subject: Subject, limits: Limits, now: float) -> Iterable[Finding]:
    """The server's largest block bounds rsize; it is chosen by the server's memory when nfsd starts."""
    mount = subject.mount
    got, asked = number(mount.got, "rsize"), number(mount.asked, "rsize")
    wanted = min(asked or limits.rsize, CLIENT_MAX_RSIZE) // 4096 * 4096
    if got is None:
        return
    if got >= wanted:
        if wanted < limits.rsize and mount.volume is None:
            yield _rsize_small(node, subject, limits, wanted)
        return
    nas = nas_of(state, mount)
    told = fresh(nas, nas.nas, now) if nas is not None else None
    largest = told.max_block_bytes if told is not None else None
    server_side = (
        "cat /proc/fs/nfsd/max_block_size   # on the server",
        "sudo sh -c 'systemctl stop nfs-server; "
        f"echo {wanted} > /proc/fs/nfsd/max_block_size; systemctl start nfs-server'   # on the server",
    )
    block = [] if largest is None else [Evidence(source="/proc/fs/nfsd/max_block_size", reading=str(largest))]
    yield finding(
        RSIZE_CLAMPED,
        "info" if asked is None else "warn",
        title(place=mount.mount_point, asked=wanted, got=got),
        fix("fix-remount" if largest is not None and largest > got else "fix", wanted=wanted),
        node=node.name,
        causes=(_clamp_cause(got, largest),),
        evidence=(
            *([] if asked is None else [Evidence(source=mount.asked_source or "", reading=f"rsize={asked}")]),
            Evidence(source="/proc/self/mountinfo", reading=f"rsize={got}"),
            *block,
        ),
        commands=(*(() if largest is not None and largest > got else server_side), *remount(mount, limits)),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _clamp_cause(got: int, largest: int | None) -> Cause:
    """A server whose limit is higher now was raised after the mount, or the mount shares an older one."""
    if largest is None:
        return cause("nfs_option_not_applied", "likely", "max-block-unread", bytes=got)
    if largest <= got:
        return cause("nfs_option_not_applied", "confirmed", "max-block", bytes=largest)
    return cause("nfs_option_not_applied", "likely", "max-block-higher", bytes=largest)


def _rsize_small(node: NodeState, subject: Subject, limits: Limits, asked: int) -> Finding:
    mount = subject.mount
    return finding(
        RSIZE_SMALL,
        "info",
        title(place=mount.mount_point, asked=asked, wanted=limits.rsize),
        fix(line=better_line(mount, limits)),
        node=node.name,
        evidence=(Evidence(source=mount.asked_source or "", reading=f"rsize={asked}"),),
        commands=remount(mount, limits),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _version(state: ClusterState, node: NodeState, subject: Subject, limits: Limits, now: float) -> Iterable[Finding]:
    """A newer version is named only where the server is known to offer it."""
    mount = subject.mount
    have = version(mount)
    if have is None or version_rank(have) in ((0,), version_rank(BEST_VERSION)):
        return
    nas = nas_of(state, mount)
    told = fresh(nas, nas.nas, now) if nas is not None else None
    offered = sorted((told.versions if told is not None else ()), key=version_rank)
    best = offered[-1] if offered else None
    if best is None and version_rank(have) >= (4,):
        return
    if best is not None and version_rank(best) <= version_rank(have):
        return
    host = host_argument(server(mount))
    ask = f"timeout -s KILL 5 rpcinfo -T tcp {host} nfs 4"
    better = mount.model_copy(update={"asked": _with_version(mount, limits, best)}) if best else mount
    yield finding(
        VERSION,
        "info",
        title("title-offered" if best else "title", place=mount.mount_point, have=have, best=best or ""),
        fix("fix-offered" if best else "fix", line=better_line(better, limits), best=best or ""),
        node=node.name,
        evidence=(
            Evidence(source="/proc/self/mountinfo", reading=f"vers={have}"),
            *([Evidence(source="/proc/fs/nfsd/versions", reading=", ".join(offered))] if best else []),
        ),
        commands=remount(better, limits) if best else (ask,),
        restart=best is not None,
        stale_s=subject.stale_s,
        count=subject.places,
    )


def _with_version(mount: NfsMount, limits: Limits, best: str) -> dict[str, str]:
    options = better_options(mount, limits)
    options.pop("nfsvers", None)
    return options | {"vers": best}


def _volume(node: NodeState, subject: Subject, limits: Limits) -> Iterable[Finding]:
    """A volume keeps the options it was first defined with; defining it again changes nothing."""
    mount = subject.mount
    wanted = {"nconnect": limits.nconnect, "rsize": limits.rsize}
    differ = [
        (name, number(mount.asked, name), want)
        for name, want in wanted.items()
        if mount.asked and (number(mount.asked, name) or (1 if name == "nconnect" else want)) < want
    ]
    if not differ:
        return
    said = ", ".join(f"{name} {'—' if have is None else have} ({want})" for name, have, want in differ)
    yield finding(
        VOLUME_OPTIONS,
        "info",
        title(volume=mount.volume, differ=said),
        fix(),
        node=node.name,
        evidence=[
            Evidence(source=mount.asked_source or "", reading=f"{name}={'absent' if have is None else have}")
            for name, have, _ in differ
        ],
        commands=remount(mount, limits),
        restart=True,
        stale_s=subject.stale_s,
        count=subject.places,
    )
