"""The filter's text field, in the footer's place while it is open. Textual's Input loads only then."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from dsv41_tui.core.messages import t
from dsv41_tui.ui.widgets.chrome import Footer
from dsv41_tui.ui.widgets.sheet import SheetWidget


class FilterBar(Horizontal):
    """Filters a pane while it is typed; Enter keeps the filter, Esc drops it."""

    BINDINGS = [("escape", "drop", "")]

    class Changed(Message):
        """The pane's filter has another text."""

    def __init__(self, pane: SheetWidget) -> None:
        super().__init__(id="filter")
        self._pane = pane

    def compose(self) -> ComposeResult:
        yield Label("/", id="filter-mark")
        yield Input(self._pane.search, placeholder=t("ui.filter"), compact=True, select_on_focus=False)
        yield Label(t("ui.filter_keys"), id="filter-keys")

    def on_mount(self) -> None:
        self.screen.query_one(Footer).display = False
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._pane.search = event.value.strip()
        self.post_message(self.Changed())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close()

    def action_drop(self) -> None:
        self._pane.search = ""
        self._close()

    def _close(self) -> None:
        self.post_message(self.Changed())
        self.screen.query_one(Footer).display = True
        self._pane.focus()
        self.remove()
