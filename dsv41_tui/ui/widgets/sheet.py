"""A pane or a page on the screen: draws a sheet, holds what is selected in it and how far it is scrolled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from dsv41_tui.core.messages import t
from dsv41_tui.ui.keys import Where
from dsv41_tui.ui.line import blank
from dsv41_tui.ui.view import Box, Item, Sheet, View
from dsv41_tui.ui.widgets.rows import RowsWidget


class SheetWidget(RowsWidget, can_focus=True):
    """Rows that do not fit are scrolled in a large sheet and counted in a small one."""

    shows_search = False
    """Whether its rows say what it is filtered by, so that the tabs need not."""
    own_keys: Where | None = None
    """Its place in `keys.KEYS`, if it has keys of its own; the palette lists them while it has the focus."""

    def __init__(self, draw: Callable[[View, Box], Sheet], view: View, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.draw = draw
        self.view = view
        self.large = False
        self.titled = True
        self.selected: str | None = None
        self.search = ""
        self.top = 0
        self.sheet = Sheet(())
        self._follow = False
        self.filter_hint = "ui.filter"
        """Key of what can be typed after `/`."""

    def make(self, width: int, height: int) -> Sequence[Strip]:
        box = Box(
            width, height, large=self.large, focused=self.has_focus, selected=self.selected, titled=self.titled,
            search=self.search,
        )  # fmt: skip
        self.sheet = sheet = self.draw(self.view, box)
        if len(sheet.rows) <= height:
            self.top = 0
            return sheet.rows
        if not self.large:
            return [*sheet.rows[: height - 1], self._note("ui.more_zoom", width)]
        return self._window(sheet, width, height)

    def _window(self, sheet: Sheet, width: int, height: int) -> Sequence[Strip]:
        """The part that is scrolled to, between the fixed rows and a row that says which part it is."""
        room = max(1, height - sheet.fixed - 1)
        body = sheet.rows[sheet.fixed :]
        if self._follow:
            self._show_selected(sheet, room)
        self.top = max(0, min(self.top, len(body) - room))
        shown = body[self.top : self.top + room]
        note = self._note("ui.rows_of", width, first=self.top + 1, last=self.top + len(shown), of=len(body))
        return [*sheet.rows[: sheet.fixed], *shown, note]

    def _note(self, key: str, width: int, **values: object) -> Strip:
        return self.view.line(width).right(t(key, **values), width, "text-muted").strip()

    def _show_selected(self, sheet: Sheet, room: int) -> None:
        self._follow = False
        item = self.item()
        if item is not None and item.rows:
            first, last = item.rows[0] - sheet.fixed, item.rows[-1] - sheet.fixed
            self.top = min(max(self.top, last - room + 1), max(0, first))

    def blank_row(self) -> Strip:
        return blank(self.view.ink, self.size.width)

    def item(self) -> Item | None:
        """What is selected, if it is still there."""
        return next((item for item in self.sheet.items if item.key == self.selected), None)

    def move(self, by: int) -> None:
        """Select the next or previous item; at the end of them, or without any, scroll."""
        items = self.sheet.items
        here = self.item()
        index = items.index(here) if here else (-1 if by > 0 else len(items))
        target = index + by
        if 0 <= target < len(items):
            self.select(items[target].key)
        else:
            self.scroll_rows(by)

    def move_node(self, by: int) -> None:
        """Select the first item of the next or previous node."""
        names = list(dict.fromkeys(item.node for item in self.sheet.items))
        if not names:
            return
        here = self.item()
        index = names.index(here.node) + by if here else (0 if by > 0 else len(names) - 1)
        name = names[index % len(names)]
        self.select(next(item.key for item in self.sheet.items if item.node == name))

    def edge(self, to: int) -> None:
        """The first or the last item, and that end of the rows."""
        self.top = 0 if to < 0 else len(self.sheet.rows)
        items = self.sheet.items
        self.selected = items[0 if to < 0 else -1].key if items else None
        self.renew()

    def back(self) -> bool:
        """Drop the filter, then the selection; whether there was anything to drop."""
        if self.search:
            self.search = ""
        elif self.selected is not None:
            self.selected = None
        else:
            return False
        return True

    def select(self, key: str | None) -> None:
        """Select an item and scroll to it."""
        self.selected, self._follow = key, True
        self.renew()

    def scroll_rows(self, by: int) -> None:
        """Scroll by rows; `make` keeps it within the sheet."""
        self.top = max(0, self.top + by)
        self.renew()

    def scroll_pages(self, by: int) -> None:
        self.scroll_rows(by * max(1, self.size.height - self.sheet.fixed - 2))

    def show(self, view: View) -> None:
        """Draw another view."""
        self.view = view
        self.renew()

    def on_focus(self) -> None:
        self.renew()

    def on_blur(self) -> None:
        self.renew()
