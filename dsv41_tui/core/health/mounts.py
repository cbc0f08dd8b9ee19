"""NFS mounts as the checks see them: one a superblock, with server, version, connections, and the line to use instead.

Bind mounts and several mounts of one export share a superblock, its options and its counters; they are one subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dsv41_tui.core.health.common import argument, fresh
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.core.readings import MIB

CLIENT_MAX_RSIZE = MIB
"""What a Linux client asks for at most; more in fstab is cut by the client itself."""
VIRTUAL = ("lo", "docker", "veth", "br-", "virbr", "tap", "tun", "wg", "tailscale", "ib")
"""Interfaces whose speed says nothing about a wire."""


class Subject(NamedTuple):
    """A mount that stands for all of its superblock, how many places there are, and the age of late counters."""

    mount: NfsMount
    places: int
    stale_s: float | None


def subjects(node: NodeState, now: float) -> Iterator[Subject]:
    """The mounts of a connected node, one a superblock, as long as its mounts were read at all."""
    if not node.reachable:
        return
    source = node.mountstats if node.mountstats.value is not None else node.mountinfo
    stale_s = source.age_s(now) if source.read(now) == "stale" else None
    groups: dict[object, list[NfsMount]] = {}
    for mount in node.nfs:
        key = (mount.device, mount.state) if mount.device and mount.mounted else mount.mount_point
        groups.setdefault(key, []).append(mount)
    for group in groups.values():
        chosen = next((mount for mount in group if mount.asked), group[0])
        yield Subject(chosen, len(group), stale_s)


def server(mount: NfsMount) -> str:
    """The server of `server:/path`; of a docker volume that names only the path, its `addr` option."""
    name = mount.source.partition(":/")[0] if ":/" in mount.source else ""
    return name or mount.got.get("addr") or mount.asked.get("addr") or ""


def server_key(mount: NfsMount) -> str:
    """The server's address where the mount tells it, so that two names of one server are one."""
    return mount.got.get("addr") or server(mount)


def version(mount: NfsMount) -> str | None:
    """The protocol version in force, such as `4.1` or `3`; mounts of old kernels write `nfsvers`."""
    return mount.version or mount.got.get("nfsvers")


def version_rank(text: str) -> tuple[int, ...]:
    """For comparison; what is no version ranks lowest."""
    parts = text.split(".")
    return tuple(int(part) for part in parts) if all(len(p) == 1 and p in "0123456789" for p in parts) else (0,)


def number(options: dict[str, str], name: str) -> int | None:
    """A numeric option, None where it is absent or no number."""
    text = options.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def connections(mount: NfsMount) -> int | None:
    """Connections obtained: the `xprt` lines are counted; without them the option counts, printed only above one."""
    if mount.stats is not None and mount.stats.transports:
        return len(mount.stats.transports)
    return (number(mount.got, "nconnect") or 1) if mount.got else None


def is_soft(options: dict[str, str]) -> bool:
    """Whether a slow server makes errors instead of waiting; known by its options alone, never by log text."""
    return "soft" in options or "softerr" in options


def nas_of(state: ClusterState, mount: NfsMount) -> NodeState | None:
    """The NAS node that is this mount's server.

    By name or address; else the only NAS there is, as long as the whole cluster mounts from one server only.
    """
    nases = [node for node in state.nodes if node.role == "nas"]
    names = {server(mount), server_key(mount)}
    for node in nases:
        if {node.name, target_host(node.target)} & names:
            return node
    servers = {server_key(other) for node in state.nodes for other in node.nfs}
    return nases[0] if len(nases) == 1 and len(servers) == 1 else None


def target_host(target: str) -> str:
    """The host of `user@host:port`."""
    host = target.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def link_mbit(nas: NodeState | None, limits: Limits, now: float) -> int | None:
    """Speed of the NAS's link: its bond, else its fastest port that is up, else what the operator said."""
    if nas is not None:
        told = fresh(nas, nas.nas, now)
        bonds = [bond.speed_mbit for bond in told.bonds if bond.speed_mbit] if told is not None else []
        ports = bonds or wire_speeds(nas, now)
        if ports:
            return max(ports)
    return limits.nas_link_mbit


def wire_speeds(node: NodeState, now: float) -> list[int]:
    """Speeds of the node's real ports that are up, in Mbit/s."""
    rates = fresh(node, node.net, now) or ()
    return [
        rate.interface.speed_mbit
        for rate in rates
        if rate.interface.speed_mbit is not None
        and rate.interface.speed_mbit > 0
        and rate.interface.operstate in ("up", None)
        and not rate.interface.name.startswith(VIRTUAL)
    ]


def better_options(mount: NfsMount, limits: Limits) -> dict[str, str]:
    """The operator's own options, else those in force that people write, with what costs speed or safety replaced."""
    spoken = ("vers", "proto", "port", "sec", "noatime", "nolock", "actimeo", "noac")
    options = dict(mount.asked) or {key: value for key, value in mount.got.items() if key in spoken}
    if not mount.asked and mount.read_only:
        options = {"ro": "", **options}
    for unwanted in ("soft", "softerr", "defaults"):
        options.pop(unwanted, None)
    options |= {"hard": "", "nconnect": str(limits.nconnect), "rsize": str(limits.rsize)}
    options.setdefault("timeo", "600")
    return options


def better_line(mount: NfsMount, limits: Limits) -> str:
    """What to write instead: a line of fstab, or the command that defines a docker volume."""
    options = better_options(mount, limits)
    if mount.volume is not None:
        options.setdefault("addr", server(mount))
        path = mount.source.partition(":/")[2]
        parts = ["docker volume create --driver local --opt type=nfs", f"--opt {argument('o=' + _joined(options))}"]
        return " ".join([*parts, f"--opt {argument('device=:/' + path)}", argument(mount.volume)])
    options.setdefault("_netdev", "")
    return f"{_escaped(mount.source)} {_escaped(mount.mount_point)} nfs {_joined(options)} 0 0"


def _escaped(name: str) -> str:
    """A name as fstab writes it."""
    return re.sub(r"[\\ \t\n#]", lambda match: f"\\{ord(match[0]):03o}", name)


def _joined(options: dict[str, str]) -> str:
    return ",".join(key if value == "" else f"{key}={value}" for key, value in options.items())


def remount(mount: NfsMount, limits: Limits) -> tuple[str, ...]:
    """Commands that put the better line in force; a line of fstab has to be edited before."""
    if mount.volume is not None:
        return (f"docker volume rm {argument(mount.volume)}", better_line(mount, limits))
    place = argument(mount.mount_point)
    return (f"sudo umount {place}", f"sudo mount {place}")
