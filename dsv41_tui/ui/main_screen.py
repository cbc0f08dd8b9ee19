"""The main screen: all panes at once where there is room, else an overview and one pane a tab."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.containers import Container
from textual.widget import Widget

from dsv41_tui.core.messages import t
from dsv41_tui.ui import navigate, overview
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.cells import cut
from dsv41_tui.ui.layout import Arrangement, arrange
from dsv41_tui.ui.panes import PaneSpec, panes
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.view import View
from dsv41_tui.ui.widgets.chrome import FindingRow, Tabs
from dsv41_tui.ui.widgets.filter import FilterBar
from dsv41_tui.ui.widgets.log import LogWidget
from dsv41_tui.ui.widgets.sheet import SheetWidget

SEARCH = 8
"""Cells of a filter beside the tabs."""
ALL = 0
"""Key of the overview."""


class MainScreen(LiveScreen):
    """`active` is the key of the pane that is looked at; 0 is all of them."""

    BINDINGS = bindings("main")

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.specs: tuple[PaneSpec, ...] = panes()
        self.active = ALL
        self.zoomed = False
        self._arranged: Arrangement | None = None
        self._asked: object = None

    def compose_body(self) -> Iterable[Widget]:
        yield Tabs(self.view, self._tab_names)
        sheets = [SheetWidget(overview.draw, self.view, id="pane-0")]
        sheets += [spec.widget(spec.draw, self.view, id=f"pane-{spec.key}") for spec in self.specs]
        yield Container(*sheets, id="body")

    def on_mount(self) -> None:
        self.lay_out()

    def sheet(self, key: int) -> SheetWidget:
        """The pane of a key."""
        return self.query_one(f"#pane-{key}", SheetWidget)

    @property
    def current(self) -> SheetWidget:
        """The pane that has the focus, or would have it."""
        if isinstance(self.focused, SheetWidget):
            return self.focused
        return self.sheet(self.active or (ALL if self.small else self.specs[0].key))

    def _tab_names(self, view: View) -> list[tuple[str, str, str, str]]:
        names = [(str(ALL), t("ui.pane.all"), "", "")]
        return names + [(str(spec.key), t(f"ui.pane.{spec.id}"), *spec.mark(view)) for spec in self.specs]

    def paint_body(self, view: View) -> None:
        self.lay_out()
        tabs = self.query_one(Tabs)
        unit = next((spec.unit for spec in self.specs if spec.key == self._alone()), "GiB")
        search = "" if self.current.shows_search else cut(self.current.search, SEARCH, view.ink.glyphs.ellipsis)
        tabs.right = [(f"/{search}  ", "primary+bold")] if search else []
        tabs.right.append((unit, "text-muted"))
        tabs.show(view)
        for sheet in self.query(SheetWidget):
            sheet.view = view
            if sheet.display:
                sheet.renew()

    def lay_out(self) -> None:
        """Which panes are shown, and how high each row of them is; what panes want is asked once a second."""
        alone, view = self._alone(), self.view
        asked = (alone, self.app.size, view.state is None, int(view.now))
        if asked == self._asked:
            return
        self._asked = asked
        new = arrange(self.specs, view, *self.app.size, alone)
        if new == self._arranged:
            return
        self._arranged = new
        tabs, body = self.query_one(Tabs), self.query_one("#body", Container)
        tabs.styles.height, tabs.active = (2 if self.small else 1), (alone or ALL)
        body.styles.grid_size_columns = new.columns
        body.styles.grid_rows = new.rows
        for key in (ALL, *(spec.key for spec in self.specs)):
            sheet = self.sheet(key)
            sheet.display, sheet.large, sheet.titled = key in new.shown, new.large, not self.small
        if not self.current.display or self.focused is None:
            self.sheet(alone if alone is not None else self.specs[0].key).focus()

    def _alone(self) -> int | None:
        """The key of the only pane that is shown, None for all panes."""
        if self.small:
            return self.active
        return self.active if self.zoomed and self.active else None

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        if not self.small and not self.zoomed:
            self.active = ALL
        self.lay_out()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.renew_hints()

    def go(self, key: int) -> None:
        """Look at the pane of a key; 0 is all of them."""
        if key != ALL and key not in {spec.key for spec in self.specs}:
            return
        if key == ALL:
            self.active, self.zoomed = ALL, False
        elif self.small or self.zoomed:
            self.active = key
        self.lay_out()
        self.sheet(key or (ALL if self.small else self.specs[0].key)).focus()
        self.paint(self.panel.feed.view())

    def _key_of(self, sheet: SheetWidget) -> int:
        return int((sheet.id or "pane-0").removeprefix("pane-"))

    def action_go(self, key: int) -> None:
        self.go(key)

    def action_step_pane(self, by: int) -> None:
        keys = [spec.key for spec in self.specs]
        keys = [ALL, *keys] if self.small else keys
        self.go(keys[(keys.index(self._key_of(self.current)) + by) % len(keys)])

    def action_beside(self, by: int) -> None:
        self.action_step_pane(by)

    def action_zoom(self) -> None:
        key = self._key_of(self.current)
        if self.small:
            self.go(ALL if self.active else self.specs[0].key)
        elif self.zoomed:
            self.zoomed, self.active = False, ALL
            self.go(ALL)
            self.sheet(key).focus()
        else:
            self.zoomed, self.active = True, key
            self.go(key)

    def action_row(self, by: int) -> None:
        self.current.move(by)

    def action_node(self, by: int) -> None:
        self.current.move_node(by)

    def action_page(self, by: int) -> None:
        self.current.scroll_pages(by)

    def action_edge(self, to: int) -> None:
        self.current.edge(to)

    def action_open(self) -> None:
        """The selected node, else the finding of row 1, else the first node."""
        item = self.current.item()
        if item is not None:
            navigate.show_node(self.panel, item.node)
        elif self.view.finding is not None:
            navigate.show_finding(self.panel)
        elif self.view.nodes:
            navigate.show_node(self.panel, self.view.nodes[0].name)

    def action_finding(self, by: int) -> None:
        self.current.select(None)
        super().action_finding(by)

    def action_pause(self) -> None:
        self.panel.feed.pause()
        self.paint(self.panel.feed.view())

    def action_copy(self) -> None:
        item = self.current.item()
        navigate.copy_about(self.panel, item.node if item else None)

    def action_filter(self) -> None:
        """One field at most; a second press goes to the one that is open."""
        if not (self.complete and self.is_attached):
            return
        self.panel.typing.begin()
        bars = [bar for bar in self.query(FilterBar) if not bar.closed]
        if bars:
            bars[0].aim(self.current)
        else:
            self.mount(FilterBar(self.current), after=self.query_one("#body"))

    def action_back(self) -> None:
        """One level back: the filter, the selection, the chosen finding, the zoom or tab; never out of the panel."""
        current, feed = self.current, self.panel.feed
        if current.back():
            self.query_one(FindingRow).renew()
        elif self.zoomed:
            self.action_zoom()
        elif self.small and self.active:
            self.go(ALL)
        else:
            feed.choose_worst()
        self.paint(feed.view())

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        self.query_one(FindingRow).renew()
        self.paint(self.panel.feed.view())

    def on_log_widget_told(self) -> None:
        """Which keys have a use."""
        self.renew_hints()

    def show_line(self, number: int) -> bool:
        """Go to a log line, the log in sight as a whole; whether it is still there."""
        pane = next(spec for spec in self.specs if spec.id == "log")
        sheet = self.sheet(pane.key)
        assert isinstance(sheet, LogWidget)
        if not sheet.jump(number):
            return False
        self.zoomed = not self.small
        self.active = pane.key
        self.go(pane.key)
        return True
