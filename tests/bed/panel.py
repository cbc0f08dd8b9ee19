"""The panel without a screen: a cluster under watch, and waiting for what it says of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

from dsv41_tui.config import Config, NodeConfig
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.runtime.cluster import Cluster


class Panel:
    """Holds the cluster; every `until` gives up after its limit and then shows what the panel saw instead."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def state(self) -> ClusterState:
        return self.cluster.store.state

    @property
    def findings(self) -> tuple[Finding, ...]:
        self.cluster.store.judge()
        return self.cluster.store.findings

    def node(self, name: str = "node") -> NodeState:
        return self.state.node(name)

    def mount(self, place: str, name: str = "node") -> NfsMount:
        """The NFS mount at `place`; LookupError while the panel does not know it."""
        for mount in self.node(name).nfs:
            if mount.mount_point == place:
                return mount
        raise LookupError(place)

    def read_rates(self, place: str, name: str) -> dict[float, float]:
        """Read rates of a mount by the node's uptime at their sample, from now on; the returned dict fills itself."""
        rates: dict[float, float] = {}
        seen: set[float | None] = {None}

        def note() -> None:
            with contextlib.suppress(LookupError):
                mount, uptime_s = self.mount(place, name), self.node(name).uptime_s
                if mount.stats_at not in seen and mount.read_bytes_per_s is not None and uptime_s is not None:
                    seen.add(mount.stats_at)
                    rates[uptime_s] = mount.read_bytes_per_s

        self.cluster.store.on_change(note)
        return rates

    def finding(self, id: str, name: str | None = None) -> Finding | None:
        return next((f for f in self.findings if f.id == id and (name is None or f.node == name)), None)

    async def until(self, what: Callable[[], object], limit_s: float = 15.0) -> float:
        """Wait until `what()` is true; returns the seconds that it took."""
        began = time.monotonic()
        while True:
            with contextlib.suppress(LookupError):
                if what():
                    return time.monotonic() - began
            if time.monotonic() - began > limit_s:
                raise AssertionError(f"not within {limit_s:g} s\n{self.describe()}")
            await asyncio.sleep(0.05)

    async def until_up(self, *names: str, limit_s: float = 20.0) -> float:
        """Wait until the nodes are connected and their memory was read since."""
        wanted = names or tuple(node.name for node in self.state.nodes)

        def up(node: NodeState) -> bool:
            return node.reachable and node.memory.at is not None and node.memory.at >= node.link.since

        return await self.until(lambda: all(up(self.node(name)) for name in wanted), limit_s)

    def describe(self) -> str:
        lines = []
        for node in self.state.nodes:
            link = node.link
            lines.append(f"{node.name}: {link.phase} {link.kind or ''} {link.why or ''} logins {link.logins}")
            lines += [
                f"  {mount.mount_point} {mount.source} {mount.state} read {mount.read_bytes_per_s} {mount.last_probe}"
                for mount in node.nfs
            ]
        lines += [f"! {found.severity} {found.id} {found.node} {found.title}" for found in self.findings]
        return "\n".join(lines)


@contextlib.asynccontextmanager
async def panel(
    *nodes: NodeConfig, limits: Limits | None = None, recipes: tuple[Recipe, ...] = ()
) -> AsyncIterator[Panel]:
    """Watch `nodes` until the block ends."""
    cluster = Cluster(Config(node=nodes), limits, recipes=recipes)
    await cluster.start()
    try:
        yield Panel(cluster)
    finally:
        await cluster.stop()
