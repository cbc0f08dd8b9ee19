"""The base of every full screen: header, clock, worst finding, a body, footer; painted from views by the app."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from dsv41_tui.core.messages import t
from dsv41_tui.ui.bindings import hints
from dsv41_tui.ui.view import View
from dsv41_tui.ui.widgets.chrome import Clock, FindingRow, Footer, Header

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp

CHROME = 4
MESSAGE_S = 4.0
ROOMY = 20
CLOCKED = 60
"""Columns from which on there is a clock."""
WIDE, HIGH = 120, 36
"""From this size on all panes are shown at once."""


class LiveScreen(Screen[None], inherit_bindings=False):
    """Knows its chrome; a subclass composes its body and paints it."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self._saying: Timer | None = None

    @property
    def panel(self) -> PanelApp:
        return cast("PanelApp", self.app)

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Header(self.view)
            yield Clock(self.view)
        yield FindingRow(self.view)
        yield from self.compose_body()
        yield Footer(self.view)

    def compose_body(self) -> Iterable[Widget]:
        """What stands between the finding and the footer."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        """Composed and not yet taken down: a clock ticks before and after."""
        return self.is_mounted and len(self.query("Header, Clock, FindingRow, Footer")) == CHROME

    @property
    def small(self) -> bool:
        """Too small for all panes at once."""
        return self.app.size.width < WIDE or self.app.size.height < HIGH

    def paint(self, view: View) -> None:
        """Draw a view; only what changed goes to the terminal."""
        self.view = view
        self.query_one(Header).show(view)
        self.query_one(Clock).show(view)
        self.query_one(FindingRow).show(view)
        self.query_one(Footer).show(view)
        self.paint_body(view)

    def paint_body(self, view: View) -> None:
        """Draw the body."""
        raise NotImplementedError

    def tick(self, text: str) -> None:
        """The clock's second."""
        self.query_one(Clock).tick(text)

    def say(self, key: str, **values: object) -> None:
        """A passing message in the footer."""
        footer = self.query_one(Footer)
        footer.message = t(key, **values)
        footer.renew()
        if self._saying is not None:
            self._saying.stop()
        self._saying = self.set_timer(MESSAGE_S, self._unsay)

    def _unsay(self) -> None:
        footer = self.query_one(Footer)
        footer.message = ""
        footer.renew()

    def renew_hints(self) -> None:
        """The footer's keys, after focus or key map changed."""
        footer = self.query_one(Footer)
        footer.hints = hints(self.app, self)
        footer.renew()

    def on_screen_resume(self) -> None:
        self.tick(self.panel.feed.clock())
        self.paint(self.panel.feed.view())
        self.renew_hints()

    @property
    def finding_rows(self) -> int:
        """One row for the finding; on a small screen, where the panes are not all in sight, also what to do."""
        return 1 if not self.small else 3 if self.app.size.height >= ROOMY else 2

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """Rows for the finding; no clock where the pill needs its cells."""
        self.query_one(FindingRow).styles.height = self.finding_rows
        self.query_one(Clock).display = self.app.size.width >= CLOCKED

    def action_finding(self, by: int) -> None:
        self.panel.feed.step_finding(by)
        self.paint(self.panel.feed.view())
