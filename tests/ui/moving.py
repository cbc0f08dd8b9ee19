"""A cluster on the real clock whose readings change once a second, node after node, as those of real boxes do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime

from dsv41_tui.config import Config
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState, Reading
from dsv41_tui.core.readings import GIB, MIB
from dsv41_tui.core.text import clean
from dsv41_tui.runtime.logs.hub import LogHub
from tests.ui import log_lines, states


class MovingStore:
    """Newest state, listeners, real clocks."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.findings: tuple[Finding, ...] = ()
        self.listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> datetime:
        return datetime.now().astimezone()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(callback)
        return lambda: self.listeners.remove(callback)


class MovingCluster:
    """Every reading is renewed each second; its values change too unless the cluster is still."""

    def __init__(self, name: str, *, still: bool, hostile: bool = False, flood: int = 0) -> None:
        made: ClusterState = getattr(states, name)()
        self.still = still
        self.step = 0
        self.limits = states.LIMITS
        self.config = Config()
        self.logs: LogHub | None = LogHub() if hostile or flood else None
        self.hostile = hostile
        self.flood = flood
        self._shift = time.monotonic() - states.NOW
        self.store = MovingStore(made)
        self.store.state = made.model_copy(update={"nodes": tuple(self._renewed(node) for node in made.nodes)})
        self._tasks: list[asyncio.Task[None]] = []
        if self.logs is not None:
            self.store.state = self.store.state.model_copy(update={"log_sources": log_lines.SOURCES})

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._log())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    def refresh(self) -> None:
        pass

    async def _log(self) -> None:
        """Hostile lines once, raw and as the edge cleans them; then the flood, in batches as a pipe gives them."""
        if self.logs is None:
            return
        if self.hostile:
            raw = [*log_lines.HOSTILE, *map(clean, log_lines.HOSTILE), "last hostile line"]
            self.logs.add(log_lines.HEAD, [None] * len(raw), raw, ["E"] * len(raw))
        batch, sent, began = max(1, min(500, self.flood // 20)), 0, time.monotonic()
        while self.flood:
            due = int((time.monotonic() - began) * self.flood)
            while sent + batch <= due:
                texts = [f"flood {number} {log_lines.ERROR}" for number in range(sent, sent + batch)]
                at = [time.time()] * batch
                self.logs.add((log_lines.HEAD, log_lines.WORKER)[sent // batch % 2], at, texts, ["I"] * batch)
                sent += batch
            await asyncio.sleep(batch / self.flood)

    async def _run(self) -> None:
        count = len(self.store.state.nodes)
        while True:
            self.step += 1
            for index in range(count):
                await asyncio.sleep(1 / count)
                nodes = list(self.store.state.nodes)
                nodes[index] = self._renewed(nodes[index])
                self.store.state = self.store.state.model_copy(update={"nodes": tuple(nodes)})
                for listener in list(self.store.listeners):
                    listener()

    def _renewed(self, node: NodeState) -> NodeState:
        now = time.monotonic()
        update: dict[str, object] = {}
        for field in ("memory", "pressure", "net", "gpu", "mountstats", "mountinfo", "host", "shm", "nas"):
            reading: Reading = getattr(node, field)  # type: ignore[type-arg]
            if reading.at is not None:
                update[field] = reading.model_copy(update={"at": now})
        if not self.still:
            update |= self._moved(node, now)
        link = node.link.model_copy(update={"since": now - 60})
        return node.model_copy(update=update | {"link": link})

    def _moved(self, node: NodeState, now: float) -> dict[str, object]:
        """A serving node: free memory breathes by some 100 MiB, the NAS is read at a changing rate."""
        memory, gpu = node.memory.value, node.gpu.value
        swing = (self.step * 7 % 13 - 6) * 40 * MIB
        moved: dict[str, object] = {}
        if memory is not None and memory.free is not None and memory.available is not None:
            new = memory.model_copy(
                update={
                    "free": max(GIB, memory.free + swing),
                    "available": max(GIB, memory.available + swing),
                    "cached": (memory.cached or 0) + self.step % 3 * 30 * MIB,
                }
            )
            moved["memory"] = node.memory.model_copy(update={"value": new, "at": now})
        if gpu is not None:
            hot = gpu.model_copy(
                update={"power_w": 60.0 + self.step * 5 % 7, "utilization_percent": 90 + self.step % 9}
            )
            moved["gpu"] = node.gpu.model_copy(update={"value": hot, "at": now})
        if self.step % 2 == 0:
            moved["nfs"] = tuple(self._read(mount) for mount in node.nfs)
        return moved

    def _read(self, mount: NfsMount) -> NfsMount:
        if mount.state != "fine" or mount.read_bytes_per_s is None or mount.stats is None:
            return mount
        rate = (600 + self.step * 11 % 17) * MIB
        read = (mount.stats.server_read_bytes or 0) + int(2 * rate)
        stats = mount.stats.model_copy(update={"server_read_bytes": read})
        return mount.model_copy(
            update={"read_bytes_per_s": float(rate), "stats": stats, "rtt_ms": 1.0 + self.step % 5 / 10}
        )
