"""A page over the main screen: one finding, one node, or the help; scrolled by rows, Esc goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.widget import Widget

from dsv41_tui.ui import navigate
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.view import Box, Sheet, View
from dsv41_tui.ui.widgets.chrome import FindingRow, ViewRows
from dsv41_tui.ui.widgets.sheet import SheetWidget

Draw = Callable[[View, Box], Sheet]


class Gap(ViewRows):
    """A blank row."""

    def make(self, width: int, height: int) -> tuple[()]:
        return ()


class PageScreen(LiveScreen):
    """Shows what `draw` gives for each view; `copied` is the text of `y`."""

    BINDINGS = bindings("page")

    def __init__(self, view: View, draw: Draw, copied: Callable[[View], str]) -> None:
        super().__init__(view)
        self._draw = draw
        self._copied = copied

    def compose_body(self) -> Iterable[Widget]:
        yield Gap(self.view, id="gap")
        page = SheetWidget(self._draw, self.view, id="page")
        page.large = True
        yield page

    @property
    def finding_rows(self) -> int:
        """The page itself has the rest."""
        return 1

    def on_mount(self) -> None:
        self.query_one(FindingRow).opens = False

    @property
    def page(self) -> SheetWidget:
        return self.query_one("#page", SheetWidget)

    def paint_body(self, view: View) -> None:
        self.page.show(view)

    def action_scroll_rows(self, by: int) -> None:
        self.page.scroll_rows(by)

    def action_scroll_pages(self, by: int) -> None:
        self.page.scroll_pages(by)

    def action_scroll_edge(self, to: int) -> None:
        self.page.edge(to)

    def action_finding(self, by: int) -> None:
        self.page.top = 0
        super().action_finding(by)

    def action_copy(self) -> None:
        navigate.copy(self.panel, self._copied(self.view))

    def action_back(self) -> None:
        self.dismiss()


class FindingScreen(PageScreen):
    """One finding; `l` or Enter goes to the log line that shows it."""

    BINDINGS = bindings("finding")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No dead key: a finding of a reading has no line."""
        if action == "line":
            return self.view.finding is not None and self.view.finding.log_number is not None
        return True

    def action_line(self) -> None:
        if self.view.finding is not None and self.view.finding.log_number is not None:
            navigate.show_line(self.panel, self.view.finding.log_number)

    def action_finding(self, by: int) -> None:
        super().action_finding(by)
        self.renew_hints()


class HelpScreen(PageScreen):
    """The help; `?` or Esc goes back."""
