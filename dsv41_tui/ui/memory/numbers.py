"""The number table of the memory pane, in GiB; its head is the legend of the bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import gib
from dsv41_tui.ui.pane import name_style
from dsv41_tui.ui.standing import STYLES, available_level, node_standing, starved
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets import skyline, table

if TYPE_CHECKING:
    from dsv41_tui.core.model import LowWater, NodeState

PARTS = ("gpu", "proc", "shm", "kern", "cache", "free")
NARROW = ("gpu", "proc", "other", "cache", "free")
NUMBER = 5
"""`121.7`"""


def columns(view: View, *, narrow: bool) -> list[table.Column]:
    """All columns; those with a `keep` go first where there is no room."""
    glyphs = view.ink.glyphs
    made = []
    for part in NARROW if narrow else PARTS:
        shown = "kern" if part == "other" else part
        glyph = (skyline.glyph_of(glyphs, shown), f"mem-{shown}")
        made.append(table.Column(part, t(f"ui.memory.{part}"), NUMBER, glyph=glyph))
    low, available = t("ui.memory.low"), t("ui.memory.avail")
    made.append(table.Column("low_free", low, NUMBER, keep=3))
    made.append(table.Column("avail", available, NUMBER))
    made.append(table.Column("low_avail", low, NUMBER, keep=2))
    made.append(table.Column("psi", t("ui.memory.psi"), 4, keep=1))
    return made


def write(rows: Rows, nodes: list[NodeState], placed: list[table.Placed]) -> None:
    """The head and one row a node."""
    view = rows.view
    rows.add(table.head(rows.line(), placed))
    for node in nodes:
        chosen = rows.box.focused and rows.box.selected == node.name
        line = rows.line(rows.ground(node.name))
        stale = node_standing(node, view).stale
        style = name_style(stale, chosen) if stale or chosen else "text-muted"
        line.fit(node.name, view.label - 1, style)
        rows.item(node.name, node.name, len(rows.rows))
        rows.add(table.row(line, placed, cells(node, view)))


def cells(node: NodeState, view: View) -> dict[str, table.Cell]:
    """Every number of one node with its style, by column."""
    none = view.ink.glyphs.none
    memory = node.memory.value
    parts = skyline.parts_of(memory)
    made = {part: (gib(getattr(parts, part), none), "text") for part in (*PARTS, "other")}
    available = memory.available if memory else None
    made["free"] = (made["free"][0], "text+bold")
    made["avail"] = (gib(available, none), "text")
    made["low_free"] = (gib(_value(node.low_free), none), "text")
    made["low_avail"] = (gib(_value(node.low_available), none), "text")
    made["psi"] = psi_cell(node, view)
    if node_standing(node, view).stale:
        return {key: (text, "text-muted+italic") for key, (text, _) in made.items()}
    _judge(made, node, view)
    return {key: (text, "text-muted" if text == none else style) for key, (text, style) in made.items()}


def _value(low: LowWater | None) -> int | None:
    return low.value if low else None


def _judge(made: dict[str, table.Cell], node: NodeState, view: View) -> None:
    """Colour what is too little; page cache that holds MemFree colours both."""
    memory, limits = node.memory.value, view.limits
    if memory is None or limits is None:
        return
    if starved(memory, limits):
        made["cache"] = (made["cache"][0], "warning+bold")
        made["free"] = (made["free"][0], "error+bold")
    for key, value in (("avail", memory.available), ("low_avail", _value(node.low_available))):
        level = available_level(value, limits)
        if level in ("warn", "error"):
            made[key] = (made[key][0], STYLES[level] + ("+bold" if key == "avail" else ""))


def psi_cell(node: NodeState, view: View) -> table.Cell:
    """`full avg10` of memory pressure in percent."""
    pressure = node.pressure.value
    if pressure is None or pressure.full_avg10 is None:
        return view.ink.glyphs.none, "text-muted"
    if node.pressure.read(view.now) != "ok":
        return f"{pressure.full_avg10:.1f}", "text-muted+italic"
    bites = view.limits is not None and pressure.full_avg10 >= view.limits.psi_warn_percent
    return f"{pressure.full_avg10:.1f}", "warning" if bites else "text"
