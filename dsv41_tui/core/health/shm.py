"""`/dev/shm`: what stands there, and whether a logout deletes it.

logind's `RemoveIPC=yes` deletes the segments of an ordinary user when their last session ends; those of root and of
system users are spared. So the warning is made only for an owner that is known to be ordinary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import Kind, argument, cause, compute_nodes, finding, fix, fresh, size, title, usable
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import GIB, Logind, ShmUse

REMOVE_IPC = Kind(id="shm-remove-ipc", severities=("warn",), pane="memory")
LARGE = Kind(id="shm-large", severities=("info",), pane="memory")
KINDS = (REMOVE_IPC, LARGE)

SHM_LARGE = 8 * GIB
"""NCCL pins 4.7 GiB per node as shipped, so that much is normal while serving."""
FIRST_ORDINARY_UID = 1000
NOBODY_UID = 65534
_PLACE = "/dev/shm"  # noqa: S108 - the name of what is read, nothing is written there


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of every connected node but a NAS."""
    for node in compute_nodes(state):
        seen = usable(node, node.shm, now)
        if seen is None:
            continue
        shm, stale_s = seen
        if shm.used is not None and shm.used >= SHM_LARGE:
            yield _large(node, shm, shm.used, stale_s)
        logind = fresh(node, node.logind, now)
        if logind is not None and logind.remove_ipc and (owner := ordinary_owner(shm, logind)) is not None:
            yield _remove_ipc(node, shm, logind, owner, stale_s)


def ordinary_owner(shm: ShmUse, logind: Logind) -> str | None:
    """The first owner who is known to be an ordinary user without lingering.

    An owner is a uid, a name, or `name:uid`. A bare name has a uid only if it is that of our own login; any other
    stays unknown and is not judged.
    """
    for owner in shm.owners:
        name, _, number = owner.rpartition(":")
        uid = int(number) if re.fullmatch("[0-9]{1,10}", number) else None
        ours = logind.user is not None and logind.user in (owner, name)
        if uid is None and ours:
            uid = logind.uid
        if uid is None or not FIRST_ORDINARY_UID <= uid != NOBODY_UID:
            continue
        if not ((ours or uid == logind.uid) and logind.linger):
            return name or owner
    return None


def _remove_ipc(node: NodeState, shm: ShmUse, logind: Logind, owner: str, stale_s: float | None) -> Finding:
    return finding(
        REMOVE_IPC,
        "warn",
        title(owner=owner),
        fix(owner=owner),
        node=node.name,
        causes=(cause("logind_remove_ipc", "confirmed", "remove-ipc", owner=owner),),
        evidence=(
            Evidence(source="logind", reading="RemoveIPC=yes"),
            Evidence(source=_PLACE, reading=_held(shm)),
        ),
        commands=(f"sudo loginctl enable-linger {argument(owner)}",),
        stale_s=stale_s,
    )


def _large(node: NodeState, shm: ShmUse, used: int, stale_s: float | None) -> Finding:
    owners = ", ".join(shm.owners) or "?"
    return finding(
        LARGE,
        "info",
        title(used=size(used), owners=owners),
        fix(),
        node=node.name,
        evidence=(Evidence(source=_PLACE, reading=_held(shm)),),
        commands=("ls -lS /dev/shm", "docker ps --format '{{.Names}} {{.Status}}'"),
        stale_s=stale_s,
    )


def _held(shm: ShmUse) -> str:
    used = "unread" if shm.used is None else size(shm.used)
    total = "unread" if shm.size is None else size(shm.size)
    return f"{used} of {total}, owners {', '.join(shm.owners) or 'none'}"
