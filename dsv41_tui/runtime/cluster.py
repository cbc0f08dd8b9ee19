"""A cluster under watch: its configuration, its store, one session a node."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from dsv41_tui.config import Config, NodeConfig
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.events import BookRead, Elapsed
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_live import facts_of
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.runtime import own_memory
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.node import NodeLogs
from dsv41_tui.runtime.logs.record import Record
from dsv41_tui.runtime.session import NodeSession
from dsv41_tui.runtime.store import Store
from dsv41_tui.transport.channel import Node
from dsv41_tui.transport.nodes import open_node

BOOK_AFTER_S = 1.0
"""The book takes 0.3 s of Python, also in a thread of its own; the first readings of the nodes come before it."""


class Cluster:
    """What the front ends hold. `start` returns at once; everything else arrives as changes of the store."""

    def __init__(
        self,
        config: Config,
        limits: Limits | None = None,
        opener: Callable[[NodeConfig], Awaitable[Node]] = open_node,
        recipes: tuple[Recipe, ...] = (),
        record: Path | None = None,
    ) -> None:
        self.config = config
        self.limits = limits or Limits()
        nodes = tuple(
            NodeState(name=node.name, role=node.role, rank=node.rank, target=_target(node)) for node in config.node
        )
        self.store = Store(
            ClusterState(name=config.cluster.name, started_at=time.monotonic(), limits=self.limits, nodes=nodes)
        )
        self.logs = LogHub(Record(record, config.cluster.name) if record is not None else None)
        """The log lines of all nodes; recorded below the folder `record`."""
        self._recipes = recipes
        self._followers = [self._node_logs(node) for node in config.node]
        self._opener = opener
        self._sessions: list[NodeSession] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to watch every configured node, and no other host."""
        for node, logs in zip(self.config.node, self._followers, strict=True):
            session = NodeSession(node, self._state_of(node.name), self.store.dispatch, self._opener, logs)
            self._sessions.append(session)
            self._tasks.append(asyncio.create_task(session.run(), name=f"session {node.name}"))
        self._tasks.append(asyncio.create_task(self._heartbeat(), name="heartbeat"))
        self._tasks.append(asyncio.create_task(self._read_book(), name="failure book"))

    def _node_logs(self, node: NodeConfig) -> NodeLogs | None:
        if node.role == "nas":
            return None
        folders = tuple(item.path for item in self.config.recipe if item.path)
        state = self._state_of(node.name)

        def facts() -> Facts:
            return facts_of(state(), self.store.state, self.store.now())

        return NodeLogs(node, self._recipes, folders, self.logs, state, self.store.dispatch, facts)

    async def _read_book(self) -> None:
        """Read what is known of failures beside everything else, and scan with it what came meanwhile."""
        await asyncio.sleep(BOOK_AFTER_S)
        book, notes = await asyncio.to_thread(_compiled_book)
        self.store.dispatch(BookRead(at=self.store.now(), book=book.book, notes=notes))
        for logs in self._followers:
            if logs is not None:
                logs.failures.use(book)
                await asyncio.sleep(0)

    def logs_settled(self) -> bool:
        """Whether what the logs of all reachable nodes held before this panel was read."""
        up = {node.name for node in self.store.state.nodes if node.reachable}
        followed = [logs for logs in self._followers if logs is not None and logs.node in up]
        return bool(self.store.state.book.failures) and all(logs.settled() for logs in followed)

    def _state_of(self, name: str) -> Callable[[], NodeState]:
        return lambda: self.store.state.node(name)

    async def _heartbeat(self) -> None:
        """Silence is news too: verdicts that depend on an age are renewed each second."""
        for second in itertools.count():
            await asyncio.sleep(1.0)
            self.store.dispatch(Elapsed(at=self.store.now()))
            if second % own_memory.EVERY_S == own_memory.FIRST_S:
                own_memory.give_back()

    def refresh(self) -> None:
        """Ask for every reading now."""
        for session in self._sessions:
            session.refresh()

    async def stop(self) -> None:
        """End all sessions; on the nodes everything of ours ends with them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self._sessions.clear()
        await self.logs.close()


def _compiled_book() -> tuple[CompiledBook, tuple[str, ...]]:
    from dsv41_tui.runtime.failures import load_book

    loaded = load_book()
    return CompiledBook(loaded.book), loaded.notes


def _target(node: NodeConfig) -> str:
    if node.local:
        return "local"
    place = node.ssh or node.host or "?"
    user = f"{node.user}@" if node.user else ""
    return f"{user}{place}" + (f":{node.port}" if node.port else "")
