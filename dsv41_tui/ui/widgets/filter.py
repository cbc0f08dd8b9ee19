"""The filter's text field, in the footer's place while it is open. Textual's Input loads only then."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from dsv41_tui.ui.widgets.sheet import SheetWidget


class FilterBar(Horizontal):
    """Filters a pane while it is typed; Enter keeps the filter, Esc drops it."""

    BINDINGS = [("escape", "drop", "")]

    class Changed(Message):
        """The pane's filter has another text."""

    def __init__(self, pane: SheetWidget, label: str) -> None:
        super().__init__(id="filter")
        self._pane = pane
        self._label = label

    def compose(self) -> ComposeResult:
        yield Input(self._pane.search, placeholder=self._label, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
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
        self._pane.focus()
        self.remove()
