"""The rows around the panes as widgets; what they draw is in `strips`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from dsv41_tui.ui.bindings import Hint
from dsv41_tui.ui.line import blank
from dsv41_tui.ui.view import View
from dsv41_tui.ui.widgets import strips
from dsv41_tui.ui.widgets.rows import RowsWidget


class ViewRows(RowsWidget):
    """Rows of a view."""

    def __init__(self, view: View, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = view

    def show(self, view: View) -> None:
        """Draw another view."""
        self.view = view
        self.renew()

    def blank_row(self) -> Strip:
        return blank(self.view.ink, self.size.width)


class Header(ViewRows):
    """Name, cluster, pill, proofs, findings."""

    def make(self, width: int, height: int) -> Sequence[Strip]:
        return [strips.header(self.view, width)]


class Clock(ViewRows):
    """The only thing that ticks on an idle cluster: its own widget of nine cells."""

    text = ""

    def tick(self, text: str) -> None:
        """Show another time."""
        if text != self.text:
            self.text = text
            self.renew()

    def make(self, width: int, height: int) -> Sequence[Strip]:
        return [strips.clock(self.view, self.text, width)]


class FindingRow(ViewRows):
    """The worst finding, in one row or two."""

    opens = True
    """Whether Enter opens it here."""

    def make(self, width: int, height: int) -> Sequence[Strip]:
        return strips.finding_rows(self.view, width, height, opens=self.opens)


class Tabs(ViewRows):
    """Tabs on a small screen, a blank row on a large one."""

    def __init__(self, view: View, names: Callable[[View], Sequence[tuple[str, str, str, str]]]) -> None:
        super().__init__(view, id="tabs")
        self.names = names
        self.active = 0
        self.right: list[tuple[str, str]] = []

    def make(self, width: int, height: int) -> Sequence[Strip]:
        return strips.tabs(self.view, self.names(self.view), self.active, self.right, width) if height > 1 else ()


class Footer(ViewRows):
    """Keys, and what we cost; a message takes that place for a while."""

    def __init__(self, view: View) -> None:
        super().__init__(view, id="footer")
        self.hints: Sequence[Hint] = ()
        self.message = ""

    def make(self, width: int, height: int) -> Sequence[Strip]:
        return [strips.footer(self.view, self.hints, self.message, width)]
