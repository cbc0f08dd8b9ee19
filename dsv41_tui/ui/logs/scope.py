"""Whose lines are shown: all, those of a rank, of a node, of a kind. And how a source is named beside its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import safe

if TYPE_CHECKING:
    from dsv41_tui.core.log import LogKind, LogSource
    from dsv41_tui.ui.view import View

KINDS = ("service", "kernel", "launcher", "proxy", "events")


@dataclass(frozen=True)
class Scope:
    """One of the scopes; `value` is a rank, a node's name or a kind."""

    kind: str = "all"
    value: str = ""

    @property
    def title(self) -> str:
        """`all ranks`, `rank 1`, `spark2`, `kernel`."""
        if self.kind == "node":
            return safe(self.value)
        return t(f"ui.log.scope.{self.value if self.kind == 'kind' else self.kind}", rank=self.value)

    def ids(self, sources: Sequence[LogSource]) -> frozenset[str] | None:
        """The sources in it; None for all."""
        if self.kind == "all":
            return None
        return frozenset(source.id for source in sources if self._has(source))

    def _has(self, source: LogSource) -> bool:
        if self.kind == "rank":
            return source.kind == "rank" and str(source.rank) == self.value
        return self.value == (source.node if self.kind == "node" else source.kind)


ALL = Scope()


def scopes(sources: Sequence[LogSource]) -> list[Scope]:
    """All that there is something of: all, ranks, nodes, kinds."""
    ranks = sorted({source.rank for source in sources if source.kind == "rank" and source.rank is not None})
    nodes = list(dict.fromkeys(source.node for source in sources))
    kinds = {source.kind for source in sources}
    found = [ALL, *(Scope("rank", str(rank)) for rank in ranks), *(Scope("node", node) for node in nodes)]
    return found + [Scope("kind", kind) for kind in KINDS if kind in kinds]


@dataclass(frozen=True)
class Named:
    """How a source is called beside its lines."""

    label: str
    """`r1`, or the name of a node that has no rank."""
    prefix: str
    """`kernel`, `litellm`: what else tells the lines of one rank apart; empty for the rank's own container."""
    node: str
    offset_s: float
    """The node's clock minus the operator's."""
    kind: LogKind = "rank"


def named(view: View) -> dict[str, Named]:
    """Names of all sources by id."""
    if view.state is None:
        return {}
    nodes = {node.name: node for node in view.nodes}
    found = {}
    for source in view.state.log_sources:
        node = nodes.get(source.node)
        rank = source.rank if source.rank is not None else node.rank if node else None
        label = f"r{rank}" if rank is not None else safe(source.node)
        clock = node.clock.value if node else None
        offset_s = clock.offset_s if clock else 0.0
        found[source.id] = Named(label, _prefix(source), source.node, offset_s, source.kind)
    return found


def _prefix(source: LogSource) -> str:
    if source.kind == "rank":
        return ""
    return {"kernel": "kernel", "events": "docker"}.get(source.kind) or safe(source.name)
