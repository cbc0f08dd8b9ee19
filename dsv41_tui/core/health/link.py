"""The connection to each node: down, silent, or with readings that cannot be taken.

A node that cannot be read is a warning and makes the verdict unknown: nothing is known to be wrong with it, and nothing
to be right. Its last reading of memory is evidence, since a node out of memory answers ping and no login.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dsv41_tui.core.finding import Cause, Evidence, Finding
from dsv41_tui.core.health.common import Kind, cause, duration, finding, fix, readings, title
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, Link, NodeState, Reading

REFUSED = Kind(id="link-refused", severities=("warn",), pane="memory")
UNREACHABLE = Kind(id="link-unreachable", severities=("warn",), pane="memory")
TIMED_OUT = Kind(id="link-timed-out", severities=("warn",), pane="memory")
SILENT = Kind(id="node-silent", severities=("warn",), pane="memory")
UNWATCHED = Kind(id="link-unwatched", severities=("info",), pane="memory")
UNREADABLE = Kind(id="reading-unreadable", severities=("info",), pane="memory")
KINDS = (REFUSED, UNREACHABLE, TIMED_OUT, SILENT, UNWATCHED, UNREADABLE)

NODE_READINGS = (
    "host", "memory", "pressure", "net", "mountinfo", "mountstats", "fstab", "volumes", "shm", "logind", "gpu", "rdma",
    "rdma_counters",
)  # fmt: skip
NAS_READINGS = ("memory", "net", "nas")
"""What a NAS is expected to tell; its BusyBox shell and old kernel lack much of the rest."""

TRY = {
    "volumes": "docker volume ls --filter driver=local",
    "gpu": "nvidia-smi -L",
    "logind": "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
    "org.freedesktop.login1.Manager RemoveIPC",
    "shm": "ls -ld /dev/shm",
    "pressure": "cat /proc/pressure/memory",
    "fstab": "cat /etc/fstab",
    "nas": "cat /proc/mdstat",
}
"""Run by hand on the node, the command shows the same refusal."""
ANSWERED = ("port-closed", "no-name")
"""The machine, or the name service, said no: nothing speaks for power or cable."""
DOCKER_GROUP = 'sudo usermod -aG docker "$(id -un)"'


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every node."""
    down = [node for node in state.nodes if _is_down(node.link)]
    unheard = [node for node in down if node.link.kind != "refused" and node.link.reason not in ANSWERED]
    all_down = len(unheard) >= 2 and len(unheard) == len(state.nodes)
    for node in state.nodes:
        if _is_down(node.link):
            yield _down(node, all_down, limits, now)
        elif node.reachable:
            yield from _silent(node, limits, now)
            yield from _unwatched(node)
            yield from _unreadable(node)


def _is_down(link: Link) -> bool:
    """An attempt failed and none succeeded since; the first attempt, and a link that we closed, are not failures."""
    return link.phase in ("waiting", "connecting") and link.kind is not None


def _down(node: NodeState, all_down: bool, limits: Limits, now: float) -> Finding:
    link = node.link
    kind = {"refused": REFUSED, "timed-out": TIMED_OUT}.get(link.kind or "", UNREACHABLE)
    evidence = [Evidence(source="ssh", line=link.why)]
    if link.down_since is not None:
        evidence.append(Evidence(source="ssh", reading=t("findings.down-for", age=duration(now - link.down_since))))
    answered = link.reason in ANSWERED
    return finding(
        kind,
        "warn",
        title(why=link.why or t("findings.no-reason")),
        fix("fix-answered" if answered else "fix"),
        node=node.name,
        causes=_refusal(link) if kind is REFUSED else () if answered else _lost(node, all_down, limits),
        evidence=(*evidence, *_last_memory(node, now)),
        commands=link.fix,
    )


def _refusal(link: Link) -> tuple[Cause, ...]:
    """What is known for certain of a refusal."""
    if link.reason == "key-changed":
        return (cause("ssh_hostkey_changed", "confirmed", "hostkey-changed"),)
    if link.reason == "key-unknown":
        return (cause("ssh_hostkey_unknown", "confirmed", "hostkey-unknown"),)
    if link.reason in ("no-key", "passphrase"):
        return (cause("ssh_key_not_installed", "likely", "key-not-installed"),)
    return ()


def _lost(node: NodeState, all_down: bool, limits: Limits) -> tuple[Cause, ...]:
    if all_down:
        return (
            cause("operator_network", "likely", "all-nodes-down"),
            cause("host_unreachable_or_wedged", "possible", "node-down"),
        )
    available = node.memory.value.available if node.memory.value is not None else None
    if available is not None and available < limits.available_error and node.role != "nas":
        return (
            cause("uma_memory_exhausted", "likely", "wedged", available=readings(MemAvailable=available)),
            cause("host_unreachable_or_wedged", "possible", "node-down"),
        )
    return (cause("host_unreachable_or_wedged", "likely", "node-down"),)


def _last_memory(node: NodeState, now: float) -> tuple[Evidence, ...]:
    """What the node said of its memory last, with its age."""
    age = node.memory.age_s(now)
    if node.memory.value is None or age is None:
        return ()
    text = readings(MemAvailable=node.memory.value.available, MemFree=node.memory.value.free)
    return (Evidence(source="/proc/meminfo", reading=t("findings.last-reading", reading=text, age=duration(age))),)


def _silent(node: NodeState, limits: Limits, now: float) -> Iterable[Finding]:
    """The connection stands and nothing at all came over it for too long."""
    taken = [(reading.at, reading.period_s) for reading in _all(node).values() if reading.at is not None]
    due_s = 2 * min((period for _, period in taken), default=0.0) + 1.0
    silence = now - max([node.link.since, *(at for at, _ in taken)])
    if silence <= max(limits.silent_after_s, due_s):
        return
    yield finding(
        SILENT,
        "warn",
        title(age=duration(silence)),
        fix(),
        node=node.name,
        causes=_lost(node, False, limits),
        evidence=(
            Evidence(source="ssh", reading=t("findings.connection-stands")),
            *_last_memory(node, now),
        ),
        commands=("journalctl -k -n 60 --no-pager", "ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /D/'"),
    )


def _all(node: NodeState) -> dict[str, Reading[Any]]:
    names = NAS_READINGS if node.role == "nas" else NODE_READINGS
    return {name: getattr(node, name) for name in names}


def _unwatched(node: NodeState) -> Iterable[Finding]:
    link = node.link
    if not link.unwatched:
        return
    channels = t("findings.channels", used=link.channels, limit=link.channel_limit or "?")
    yield finding(
        UNWATCHED,
        "info",
        title(what=", ".join(link.unwatched), count=len(link.unwatched)),
        fix(),
        node=node.name,
        evidence=(Evidence(source="ssh", reading=channels),),
        commands=("sudo sshd -T | grep -i maxsessions",),
        count=len(link.unwatched),
    )


def _unreadable(node: NodeState) -> Iterable[Finding]:
    """All refused readings of a node in one finding, each with the node's own reason."""
    refused = {name: reading.error for name, reading in _all(node).items() if reading.error is not None}
    logind = node.logind.value
    if node.role != "nas" and logind is not None and logind.remove_ipc is None:
        refused.setdefault("logind", f"RemoveIPC: {t('link.unread')}")
    if not refused:
        return
    commands = [TRY[name] for name in refused if name in TRY]
    if "volumes" in refused and "permission denied" in refused["volumes"].lower():
        commands.insert(0, DOCKER_GROUP)
    yield finding(
        UNREADABLE,
        "info",
        title(what=", ".join(refused), count=len(refused)),
        fix(),
        node=node.name,
        evidence=[Evidence(source=name, line=why) for name, why in refused.items()],
        commands=commands,
        count=len(refused),
    )
