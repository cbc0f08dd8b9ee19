"""The log view as rows: title with scope and state, the lines in sight, what keeps lines away."""

from __future__ import annotations

from textual.strip import Strip

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import cut
from dsv41_tui.ui.logs import brief, lines, notes
from dsv41_tui.ui.logs.model import LogModel
from dsv41_tui.ui.logs.scope import ALL, Scope
from dsv41_tui.ui.pane import title_row
from dsv41_tui.ui.view import Box, Rows, Sheet, View


def empty_text(view: View, scope: Scope = ALL, search: str = "") -> str:
    """Why there is no line."""
    if view.state is None:
        return t("ui.waiting")
    if view.logs is None or not view.state.log_sources:
        return t("ui.log.no_sources")
    if search:
        return t("ui.no_match", text=search)
    return t("ui.log.no_line") if scope == ALL else t("ui.log.no_line_of", scope=scope.title)


def status(model: LogModel) -> str:
    """`all ranks, W+E, 42 match, following`."""
    parts = [model.scope.title]
    if model.levels:
        parts.append("+".join(model.levels))
    if model.query is not None and model.only_matches:
        parts.append(t("ui.log.count", count=f"{len(model.entries):,}"))
    if model.following:
        parts.append(t("ui.log.following"))
    elif model.missed:
        parts.append(t("ui.log.paused_new", count=f"{model.missed:,}"))
    else:
        parts.append(t("ui.log.paused"))
    return t("ui.list").join(parts)


def draw(model: LogModel, view: View, box: Box) -> Sheet:
    """Exactly the rows of the box."""
    rows = Rows(view, box)
    title_row(rows, "6", t("ui.pane.log"), status(model))
    if not box.titled:
        _status_row(rows, model)
    below = Rows(view, box)
    if model.trouble:
        notes.write(below, [(f"/{model.search}", t(model.trouble), "warning")], whole=True)
    notes.write(below, notes.notes(view, model.scope), whole=box.large)
    del below.rows[max(0, box.height // 2) :]
    model.room = max(1, box.height - len(rows.rows) - len(below.rows))
    shown = _window(model, view, box)
    if not shown:
        for part in notes.wrapped(empty_text(view, model.scope, model.search), box.width):
            rows.add(rows.line().put(part, "text-muted"))
    rows.rows += shown
    while len(rows.rows) + len(below.rows) < box.height:
        rows.blank()
    rows.rows += below.rows
    return rows.sheet()


def _status_row(rows: Rows, model: LogModel) -> None:
    """Under tabs, where the tab is the title."""
    line = rows.line()
    if model.search:
        line.put(cut(f"/{model.search}", rows.box.width // 3, rows.view.ink.glyphs.ellipsis), "primary+bold").gap(2)
    rows.add(line.put(status(model), "text-muted"))


class _Drawer:
    """Draws entries by index, with tint, cursor and range."""

    def __init__(self, model: LogModel, view: View, box: Box) -> None:
        self.model, self.view = model, view
        self.look = model.look(box.width)
        self.tints = brief.tints(view)
        here = -1 if model.following or not box.focused else model.index()
        self.chosen = range(here, here + 1)
        if model.mark is not None and here >= 0:
            first, last = sorted((here, model.marked()))
            self.chosen = range(first, last + 1)

    def rows(self, index: int) -> list[Strip]:
        entry = self.model.entries[index]
        name = self.model.names.get(entry[2].source, lines.NOBODY)
        self.model.longest = max(self.model.longest, lines.text_cells(entry, name) - self.look.room)
        return lines.rows(
            self.view, entry, name, self.look, tint=self.tints.get(entry[1], ""), chosen=index in self.chosen,
            most=self.model.room,
        )  # fmt: skip

    def up(self, last: int, room: int) -> tuple[int, list[Strip]]:
        """Rows that end with the line `last`, and the index of the first line of them."""
        shown: list[Strip] = []
        index = last + 1
        while index > 0 and len(shown) < room:
            index -= 1
            shown = self.rows(index) + shown
        return index, shown[-room:]

    def down(self, first: int, room: int) -> tuple[int, list[Strip]]:
        """Rows that begin with the line `first`, and the index of the last line that is whole."""
        shown: list[Strip] = []
        index = first
        while index < len(self.model.entries) and len(shown) < room:
            shown += self.rows(index)
            index += 1
        return index - 1 - (len(shown) > room), shown[:room]


def _window(model: LogModel, view: View, box: Box) -> list[Strip]:
    """The rows in sight; while paused the top stays where it is unless the cursor leaves it."""
    drawer, room = _Drawer(model, view, box), model.room
    model.longest = 0
    last = len(model.entries) - 1
    if last < 0:
        return []
    if model.following:
        top, shown = drawer.up(last, room)
        model.top = model.entries[top][:2]
        return shown
    here = model.index()
    top = min(model.placed(), here)
    end, shown = drawer.down(top, room)
    if here > end:
        top, shown = drawer.up(here, room)
    elif len(shown) < room:
        top, shown = drawer.up(last, room)
    model.top = model.entries[top][:2]
    return shown
