"""One node in full: every number with its source, unit and age."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import safe, wrap
from dsv41_tui.ui.numbers import gib
from dsv41_tui.ui.pages.finding import section
from dsv41_tui.ui.pane import node_note
from dsv41_tui.ui.trace import Fact, Group, groups
from dsv41_tui.ui.view import Box, Rows, Sheet, View

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

NAME = 32
VALUE = 20
"""`130,663,165,952` ends here, its unit stands behind."""


def find(view: View, name: str) -> NodeState | None:
    """The node of that name, if it is still configured."""
    return next((node for node in view.nodes if node.name == name), None)


def drawing(name: str) -> Callable[[View, Box], Sheet]:
    """The page of the node `name`."""

    def draw(view: View, box: Box) -> Sheet:
        rows = Rows(view, box)
        node = find(view, name)
        if node is None:
            rows.add(rows.line().put(t("ui.trace.gone", node=name), "text-muted"))
            return rows.sheet(fixed=0)
        role = t(f"ui.role.{node.role}") + (f", rank {node.rank}" if node.rank is not None else "")
        rows.add(rows.line().put(node.name, "text+bold").gap(2).put(role, "text-muted"))
        node_note(rows, node)
        for group in groups(node, view):
            _group(rows, group)
        return rows.sheet(fixed=0)

    return draw


def _group(rows: Rows, group: Group) -> None:
    right = ", ".join(part for part in (group.source, group.read) if part)
    section(rows, group.title, right)
    for fact in group.facts:
        _fact(rows, fact, stale=group.stale)


def _fact(rows: Rows, fact: Fact, *, stale: bool) -> None:
    style = "text-muted+italic" if stale else "text"
    name = min(NAME, rows.box.width // 3)
    line = rows.line().fit(fact.name, name - 1, "text-muted").to(name)
    if fact.unit:
        line.right(safe(fact.value), name + VALUE, style).gap().put(fact.unit, "text-muted")
        shown = readable(fact)
        if shown:
            line.to(name + VALUE + 6).put(shown, "text-muted")
        start = name + VALUE + (18 if fact.unit == "B" else 7)
        room = rows.box.width - start
        parts = wrap(safe(fact.made_of), room) if fact.made_of and room > 10 else []
        rows.add(line.to(start).put(parts[0], "text-muted") if parts else line)
        for part in parts[1:]:
            rows.add(rows.line().to(start).put(part, "text-muted"))
        return
    text = f"{fact.value}   {fact.made_of}" if fact.made_of else fact.value
    for index, part in enumerate(wrap(safe(text), rows.box.width - name)):
        rows.add((line if index == 0 else rows.line().to(name)).put(part, style))


def readable(fact: Fact) -> str:
    """A byte count as the panes show it."""
    digits = fact.value.replace(",", "")
    return f"{gib(int(digits))} GiB" if fact.unit == "B" and digits.isdigit() else ""


def as_text(node: NodeState, view: View) -> str:
    """What `y` copies: the same as tab-separated lines."""
    lines = [f"{node.name}\t{view.wall.isoformat(timespec='seconds')}"]
    for group in groups(node, view):
        lines.append(f"[{group.title}]\t{group.source}\t{group.read}")
        lines += ["\t".join((fact.name, fact.value, fact.unit, fact.made_of)).rstrip() for fact in group.facts]
    return "\n".join(safe(line) if "\t" not in line else "\t".join(map(safe, line.split("\t"))) for line in lines)
