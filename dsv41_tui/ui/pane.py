"""What panes share: the title rule, notes under a table, rows that are old, and the pane that is not there yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import language, t
from dsv41_tui.ui.cells import safe, wrap, wrap_command
from dsv41_tui.ui.numbers import short_age
from dsv41_tui.ui.standing import node_standing
from dsv41_tui.ui.view import Box, Rows, Sheet, View

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

KEPT = 16
Draw = Callable[[View, Box], Sheet]


def title_row(rows: Rows, key: str, name: str, unit: str) -> None:
    """`1 Memory ───── GiB`; focus: the rule is heavy, rule and name in primary. Nothing where the tab is the title."""
    box, glyphs = rows.box, rows.view.ink.glyphs
    if not box.titled:
        return
    line = rows.line().put(key, "primary+bold").gap()
    line.put(name, "primary+bold" if box.focused else "text+bold").gap()
    if box.search:
        line.put(f"/{box.search}", "primary+bold").gap()
    end = box.width - (cell_len(unit) + 1 if unit else 0)
    rule = glyphs.focus if box.focused else glyphs.rule
    line.put(rule * max(0, end - line.column), "primary" if box.focused else "rule")
    rows.add(line.gap().put(unit, "text-muted") if unit else line)


def name_style(stale: bool, chosen: bool) -> str:
    """A node's name: bold, muted italics while it is not read, in primary while it is selected."""
    if chosen:
        return "primary+bold"
    return "text-muted+italic" if stale else "text+bold"


def matches(box: Box, *texts: str) -> bool:
    """Whether the filter lets an item through."""
    return not box.search or any(box.search.lower() in text.lower() for text in texts)


def labelled(rows: Rows, label: str, text: str, *, label_style: str = "text-muted", style: str = "text") -> None:
    """A label and running text beside it, wrapped, whole."""
    start = rows.view.label
    for index, part in enumerate(wrap(safe(text), max(8, rows.box.width - start))):
        line = rows.line()
        if index == 0:
            line.fit(label, start - 1, label_style)
        rows.add(line.to(start).put(part, style))


def command(rows: Rows, text: str) -> None:
    """A command in its colour, whole: wrapped, never cut."""
    start = rows.view.label
    for part in wrap_command(safe(text), max(8, rows.box.width - start)):
        rows.add(rows.line().to(start).put(part, "code"))


def node_notes(rows: Rows, nodes: Sequence[NodeState]) -> None:
    """One note for each node that cannot be read: since when, why, and the exact commands that mend it."""
    for node in nodes:
        node_note(rows, node)


def node_note(rows: Rows, node: NodeState) -> None:
    """The note of one node, nothing if its readings are fresh."""
    view = rows.view
    standing = node_standing(node, view)
    if not standing.stale:
        return
    link = node.link
    label = f"{standing.glyph} {node.name}"
    if link.phase == "up":
        age = node.memory.age_s(view.now)
        key = "ui.note.silent" if age is not None else "ui.note.never_read"
        text = t(key, age=short_age(age or 0.0))
        if node.memory.error:
            text = t("ui.note.read_error", text=text, why=node.memory.error)
    elif link.kind is None:
        text = t("ui.note.connecting", target=node.target or node.name)
    else:
        text = link.why or t(f"ui.node.{link.kind}")
        if link.retry_at is not None and link.retry_at > view.now:
            text = t("ui.note.retry", why=text, at=view.clock(link.retry_at, seconds=True))
    labelled_note(rows, label, text, standing.style)
    for fix in link.fix if link.phase != "up" else ():
        command(rows, fix)


def labelled_note(rows: Rows, label: str, text: str, style: str) -> None:
    """A coloured label as long as it is, its text beside it, wrapped below the label column."""
    start = rows.view.label
    first = rows.line().put(label, style).gap()
    first.to(start)
    room = rows.box.width - first.column
    lines = wrap(safe(text), max(8, room))
    rows.add(first.put(lines[0]))
    rest = text[len(lines[0]) :].strip() if len(lines) > 1 else ""
    for part in wrap(safe(rest), max(8, rows.box.width - start)) if rest else ():
        rows.add(rows.line().to(start).put(part))


def placeholder(key: int, name: str) -> tuple[Draw, Callable[[View, int], int]]:
    """Draw and wants of a pane that is not there yet: one muted line, and what to use meanwhile."""
    drawn: dict[object, Sheet] = {}

    def draw(view: View, box: Box) -> Sheet:
        """Once for all views in which it says the same."""
        same = (view.ink, view.label, box, language())
        if same not in drawn:
            if len(drawn) > KEPT:
                drawn.clear()
            drawn[same] = _placeholder(view, box, key, name)
        return drawn[same]

    def wants(view: View, width: int) -> int:
        return len(draw(view, Box(width, 99)).rows)

    return draw, wants


def _placeholder(view: View, box: Box, key: int, name: str) -> Sheet:
    rows = Rows(view, box)
    title_row(rows, str(key), t(f"ui.pane.{name}"), "")
    start = view.label
    for part in wrap(t("ui.pane.not_yet", use=t(f"ui.meanwhile.{name}.text")), box.width - start):
        rows.add(rows.line().to(start).put(part, "text-muted"))
    command(rows, t(f"ui.meanwhile.{name}.command"))
    return rows.sheet()


def no_mark(view: View) -> tuple[str, str]:
    """A pane of which nothing is known yet has no glyph in its tab."""
    return "", ""
