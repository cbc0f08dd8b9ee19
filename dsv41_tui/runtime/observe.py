"""Watch a cluster for a moment, for the headless verbs: until everything that can be known is known."""

from __future__ import annotations

import asyncio
import contextlib

from dsv41_tui.core.events import Elapsed
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.runtime.cluster import Cluster
from dsv41_tui.runtime.session import PROBES_AND_JOBS
from dsv41_tui.runtime.sources import FILE_SOURCES, JOB_SOURCES

LIMIT_S = 20.0
COST_WAIT_S = 5.0
"""What we cost is not known everywhere; it is waited for no longer than this after the login."""
LOOK_AGAIN_S = 1.0


def settled(state: ClusterState, now: float) -> bool:
    """True when every node has either failed to connect or told all that is read from it, with what that costs."""
    return all(_node_settled(node, now) for node in state.nodes)


def _node_settled(node: NodeState, now: float) -> bool:
    if node.link.phase == "waiting":
        return True
    if node.link.phase != "up":
        return False
    if node.observer.cpu_s_per_min is None and now - node.link.since < COST_WAIT_S:
        return False
    if not all(_told(node, source.name) for source in FILE_SOURCES if node.role in source.roles):
        return False
    if any(what.startswith(PROBES_AND_JOBS) for what in node.link.unwatched):
        return True
    jobs = [source.name for source in JOB_SOURCES if node.role in source.roles]
    watched = () if node.role == "nas" else ("gpu", "containers")
    return all(_told(node, name) for name in (*jobs, *watched)) and _mounts_settled(node.nfs)


def _told(node: NodeState, name: str) -> bool:
    reading = getattr(node, name)
    return reading.value is not None or reading.error is not None


def _mounts_settled(mounts: tuple[NfsMount, ...]) -> bool:
    """One probe stands for all mounts of a superblock."""
    mounted = [mount for mount in mounts if mount.mounted]
    probed = {mount.device or mount.mount_point for mount in mounted if mount.last_probe is not None}
    return all(
        (mount.device or mount.mount_point) in probed and (mount.stats is None or mount.read_bytes_per_s is not None)
        for mount in mounted
    )


async def observe(cluster: Cluster, limit_s: float = LIMIT_S) -> None:
    """Start the cluster, wait until it has settled or `limit_s` has passed; the caller stops it."""
    changed = asyncio.Event()
    forget = cluster.store.on_change(changed.set)
    try:
        await cluster.start()
        async with asyncio.timeout(limit_s):
            while not (settled(cluster.store.state, cluster.store.now()) and cluster.logs_settled()):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await changed.wait()
                changed.clear()
    except TimeoutError:
        pass
    finally:
        forget()
    cluster.store.dispatch(Elapsed(at=cluster.store.now()))  # readings that came after a line are added to it
    cluster.store.judge(at_once=True)
