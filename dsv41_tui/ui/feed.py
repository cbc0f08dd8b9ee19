"""Between the store and the screen: makes the view, slows it to what can be read, and stops it while paused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from dsv41_tui.ui.palette import Palette
from dsv41_tui.ui.source import Cluster
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Finding

MIN_GAP_S = 0.5
"""Between two paints that new readings cause, each of which costs CPU and bytes; keys paint at once."""
SECOND_S = 0.9
MANY_NODES = 8
MANY_GAP_S = 1.0


class Feed:
    """Holds the cluster and what the operator does to the view of it; `paint` is called on the loop."""

    def __init__(self, ink: Palette, paint: Callable[[], None]) -> None:
        self.ink = ink
        self.cluster: Cluster | None = None
        self.trouble: str | None = None
        self.unset = False
        """There is no configuration yet."""
        self._paint = paint
        self._frozen: View | None = None
        self._chosen: tuple[str, str | None, str] | None = None
        self._worse_then: frozenset[tuple[str, str | None, str]] = frozenset()
        """What was worse than information when the operator chose; a new one takes an information's place."""
        self._handle: asyncio.TimerHandle | None = None
        self._painted_at = float("-inf")
        self._stop: Callable[[], None] | None = None

    def attach(self, cluster: Cluster) -> None:
        """Watch a cluster from now on, instead of another one."""
        self.detach()
        self.cluster, self.trouble = cluster, None
        self._stop = cluster.store.on_change(self._changed)

    def detach(self) -> None:
        """Watch no more."""
        if self._stop is not None:
            self._stop()
        if self._handle is not None:
            self._handle.cancel()
        self._stop = self._handle = self._frozen = None

    def _changed(self) -> None:
        if self._handle is None and self._frozen is None:
            many = self.cluster is not None and len(self.cluster.store.state.nodes) > MANY_NODES
            loop = asyncio.get_running_loop()
            gap = MANY_GAP_S if many else MIN_GAP_S
            self._handle = loop.call_later(max(0.0, self._painted_at + gap - loop.time()), self._due)

    def _due(self) -> None:
        self._handle = None
        self._painted_at = asyncio.get_running_loop().time()
        self._paint()

    def second(self) -> None:
        """A second has passed: paint unless new readings did so in this one."""
        if self._handle is None and asyncio.get_running_loop().time() - self._painted_at >= SECOND_S:
            self._due()

    def view(self) -> View:
        """Everything that is known now; what was known then, while paused."""
        if self._frozen is not None:
            assert self.cluster is not None
            held = self.cluster.store.now() - self._frozen.now
            return replace(self._frozen, ink=self.ink, paused_s=held, chosen=self._index(self._frozen))
        if self.cluster is None:
            return View(self.ink, wall=datetime.now().astimezone(), trouble=self.trouble, unset=self.unset)
        store = self.cluster.store
        view = View(
            self.ink, store.now(), store.wall(), store.state, store.findings, self.cluster.limits, self.cluster.config,
            logs=self.cluster.logs,
        )  # fmt: skip
        return replace(view, chosen=self._index(view))

    def clock(self) -> str:
        """The time of day, also while paused."""
        wall = self.cluster.store.wall() if self.cluster else datetime.now().astimezone()
        return wall.strftime("%H:%M:%S")

    @property
    def paused(self) -> bool:
        return self._frozen is not None

    def pause(self) -> None:
        """Stop the view, or let it go on."""
        if self._frozen is not None:
            self._frozen = None
        elif self.cluster is not None:
            self._frozen = self.view()

    def step_finding(self, by: int) -> None:
        """Choose the next or previous finding; it stays chosen while others come and go."""
        view = self.view()
        if view.findings:
            finding = view.findings[(view.chosen + by) % len(view.findings)]
            self._chosen = _name(finding)
            self._worse_then = frozenset(self._worse(view))

    def choose_worst(self) -> None:
        """Show the worst finding again."""
        self._chosen = None

    def _index(self, view: View) -> int:
        if self._chosen is None:
            return 0
        keys = [_name(finding) for finding in view.findings]
        index = keys.index(self._chosen) if self._chosen in keys else 0
        if index and view.findings[index].severity == "info" and set(self._worse(view)) - self._worse_then:
            self._chosen = None
            return 0
        return index

    def _worse(self, view: View) -> list[tuple[str, str | None, str]]:
        """The findings that are more than information."""
        return [_name(finding) for finding in view.findings if finding.severity != "info"]


def _name(finding: Finding) -> tuple[str, str | None, str]:
    """What stays the same of a finding while its numbers move: two mounts of one node differ in their title."""
    return finding.id, finding.node, re.sub(r"[0-9.]+", "", finding.title)
