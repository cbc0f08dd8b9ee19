"""What a pane sees: one frozen value a paint, made by the feed; and the sheet of rows it answers with.

A pane is a pure function `draw(view, box) -> Sheet`: no clock, no I/O, no Textual widget.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.strip import Strip

from dsv41_tui.ui.line import Line
from dsv41_tui.ui.palette import Ground, Palette

if TYPE_CHECKING:
    from dsv41_tui.config import Config
    from dsv41_tui.core.finding import Finding
    from dsv41_tui.core.limits import Limits
    from dsv41_tui.core.model import ClusterState, NodeState
    from dsv41_tui.ui.source import LogRing

LABEL = 8
"""Cells of the label column; values start there in every pane."""
LABEL_MAX = 13


@dataclass(frozen=True, eq=False)
class View:
    """Everything that is known at one moment, and how it is painted."""

    ink: Palette
    now: float = 0.0
    wall: datetime = datetime(2026, 1, 1)
    state: ClusterState | None = None
    """None until the cluster is opened."""
    findings: tuple[Finding, ...] = ()
    limits: Limits | None = None
    config: Config | None = None
    chosen: int = 0
    """Index of the finding that row 1 shows."""
    paused_s: float | None = None
    """How long the view has been stopped."""
    trouble: str | None = None
    """Why there is no cluster."""
    unset: bool = False
    """There is no configuration yet."""
    logs: LogRing | None = None
    """The newest log lines; it goes on while the view stands."""

    @property
    def nodes(self) -> tuple[NodeState, ...]:
        return self.state.nodes if self.state else ()

    @cached_property
    def boxes(self) -> tuple[NodeState, ...]:
        """The nodes that compute; a NAS is not one."""
        return tuple(node for node in self.nodes if node.role != "nas")

    @property
    def finding(self) -> Finding | None:
        """The one that row 1 shows: the worst, or the one that n and N went to."""
        return self.findings[self.chosen % len(self.findings)] if self.findings else None

    @cached_property
    def label(self) -> int:
        """Cells of the label column: 8, or as many as the longest node name needs, at most 13."""
        longest = max((cell_len(node.name) for node in self.nodes), default=0)
        return min(max(LABEL, longest + 1), LABEL_MAX)

    def clock(self, at: float, *, seconds: bool = False) -> str:
        """The wall clock's reading at the monotonic time `at`."""
        return (self.wall + timedelta(seconds=at - self.now)).strftime("%H:%M:%S" if seconds else "%H:%M")

    def line(self, width: int, ground: Ground = "background") -> Line:
        return Line(self.ink, width, ground)


@dataclass(frozen=True)
class Box:
    """The room a pane has, and what is chosen in it."""

    width: int
    height: int
    large: bool = False
    focused: bool = False
    selected: str | None = None
    """Key of the selected item."""
    titled: bool = True
    """Whether the pane writes its own title; under tabs the tab is the title."""
    search: str = ""
    """Only items that contain this, whatever their case."""


@dataclass(frozen=True)
class Item:
    """Something in a pane that can be selected."""

    key: str
    node: str
    rows: tuple[int, ...]
    """Rows that belong to it."""


@dataclass(frozen=True)
class Sheet:
    """Rows from top to bottom; items in reading order."""

    rows: tuple[Strip, ...]
    items: tuple[Item, ...] = ()
    fixed: int = 1
    """Rows at the top that do not scroll."""
    hidden: int = 0


@dataclass
class Rows:
    """Collects rows and items while a sheet is drawn."""

    view: View
    box: Box
    rows: list[Strip] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)

    def line(self, ground: Ground = "background") -> Line:
        return Line(self.view.ink, self.box.width, ground)

    def add(self, line: Line) -> None:
        self.rows.append(line.strip())

    def extend(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.add(line)

    def blank(self) -> None:
        self.add(self.line())

    def item(self, key: str, node: str, *numbers: int) -> None:
        """Say that rows belong to an item; more rows can be added later."""
        before = self.items.get(key)
        self.items[key] = Item(key, node, (*before.rows, *numbers) if before else numbers)

    def join(self, other: Rows) -> None:
        """Put the rows of another part below, with its items."""
        offset = len(self.rows)
        self.rows += other.rows
        for item in other.items.values():
            self.item(item.key, item.node, *(row + offset for row in item.rows))

    def ground(self, key: str) -> Ground:
        """The ground of an item's rows: raised while it is selected."""
        return "panel" if self.box.focused and self.box.selected == key else "background"

    def sheet(self, fixed: int = 1) -> Sheet:
        return Sheet(tuple(self.rows), tuple(self.items.values()), fixed)
