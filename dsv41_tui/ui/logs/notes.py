"""What stands under the lines: sources that cannot be read and what allows it, nodes whose log stands still, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import cut_word, safe, wrap
from dsv41_tui.ui.logs.scope import Scope
from dsv41_tui.ui.numbers import short_age
from dsv41_tui.ui.standing import node_standing
from dsv41_tui.ui.view import Rows, View

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

AHEAD_S = 2.0
"""A clock that is off by more is said, since the node's own files carry its times."""
Note = tuple[str, str, str]
"""Glyph and name, text, style."""


def notes(view: View, scope: Scope) -> list[Note]:
    """One for each thing that keeps lines away or times apart, worst first."""
    found: list[Note] = []
    if view.state is None:
        return found
    if view.logs is not None and view.logs.record_error:
        label = f"{view.ink.glyphs.warn} {t('ui.log.record')}"
        found.append((label, view.logs.record_error, "warning"))
    asked = {source.node for source in view.state.log_sources}
    nodes = [node for node in view.nodes if scope.kind != "node" or node.name == scope.value]
    for node in nodes:
        found += _unread(view, node)
    found += [note for node in nodes if node.name in asked for note in _stopped(view, node)]
    return found + [note for node in nodes if node.name in asked for note in _clock(view, node)]


def _unread(view: View, node: NodeState) -> list[Note]:
    mark = f"{view.ink.glyphs.warn} {node.name}"
    told = [
        (mark, t("ui.log.unread", source=_source(view, source), why=why), "warning")
        for source, why in node.unread_logs.items()
    ]
    if node.link.unwatched:
        names = t("ui.list").join(node.link.unwatched)
        told.append((mark, t("ui.log.unwatched", names=names), "warning"))
    return told


def _source(view: View, key: str) -> str:
    """The name of a source; its id where nobody knows it."""
    assert view.state is not None
    return next((source.name for source in view.state.log_sources if source.id == key), key.rpartition("/")[2])


def _stopped(view: View, node: NodeState) -> list[Note]:
    link, glyphs = node.link, view.ink.glyphs
    if link.phase == "up" or not node_standing(node, view).stale:
        return []
    since = link.down_since
    key = "ui.log.stopped_since" if since is not None else "ui.log.stopped"
    text = t(key, at=view.clock(since, seconds=True) if since is not None else "")
    return [(f"{glyphs.stale} {node.name}", text, "warning")]


def _clock(view: View, node: NodeState) -> list[Note]:
    clock = node.clock.value
    if clock is None or abs(clock.offset_s) < AHEAD_S:
        return []
    key = "ui.log.clock_ahead" if clock.offset_s > 0 else "ui.log.clock_behind"
    text = t(key, age=short_age(abs(clock.offset_s)))
    return [(f"{view.ink.glyphs.stale} {node.name}", text, "text-muted")]


def write(rows: Rows, told: list[Note], *, whole: bool) -> None:
    """In full with the fix where there is room, else the first in one row and how many more there are."""
    if not told:
        return
    if whole:
        for label, text, style in told:
            _whole(rows, label, safe(text), style)
        return
    label, text, style = told[0]
    more = t("ui.log.more_notes", count=len(told) - 1) if len(told) > 1 else ""
    line = rows.line().put(label, style).gap()
    line.put(cut_word(safe(text), rows.box.width - line.column - len(more) - 2, rows.view.ink.glyphs.ellipsis))
    rows.add(line.gap(2).put(more, "text-muted") if more else line)


def _whole(rows: Rows, label: str, text: str, style: str) -> None:
    line = rows.line().put(label, style).gap(2)
    start = line.column
    for part in wrapped(text, rows.box.width - start):
        rows.add(line.to(start).put(part))
        line = rows.line()


def wrapped(text: str, cells: int) -> list[str]:
    """Running text for a narrow pane."""
    return wrap(safe(text), max(8, cells))
