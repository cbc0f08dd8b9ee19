"""Watch a cluster for a moment, for the headless verbs: until everything that can be known is known."""

from __future__ import annotations

import asyncio

from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.runtime.cluster import Cluster

LIMIT_S = 20.0
FIRST_READINGS = ("host", "memory", "mountinfo", "mountstats", "fstab")


def settled(state: ClusterState) -> bool:
    """True when every node has either failed to connect or told all of its first readings."""
    return all(_node_settled(node) for node in state.nodes)


def _node_settled(node: NodeState) -> bool:
    if node.link.phase == "waiting":
        return True
    if node.link.phase != "up":
        return False
    for name in FIRST_READINGS:
        reading = getattr(node, name)
        if reading.value is None and reading.error is None:
            return False
    jobs_ran = node.role == "nas" or node.volumes.value is not None or node.volumes.error is not None
    unwatched = bool(node.link.unwatched)
    return unwatched or (jobs_ran and all(_mount_settled(mount) for mount in node.nfs))


def _mount_settled(mount: NfsMount) -> bool:
    if not mount.mounted:
        return True
    return mount.last_probe is not None and (mount.stats is None or mount.read_bytes_per_s is not None)


async def observe(cluster: Cluster, limit_s: float = LIMIT_S) -> None:
    """Start the cluster, wait until it has settled or `limit_s` has passed; the caller stops it."""
    changed = asyncio.Event()
    forget = cluster.store.on_change(changed.set)
    try:
        await cluster.start()
        async with asyncio.timeout(limit_s):
            while not settled(cluster.store.state):
                await changed.wait()
                changed.clear()
    except TimeoutError:
        pass
    finally:
        forget()
    cluster.store.judge()
