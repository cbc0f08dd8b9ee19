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
        super().__init__()
        self._pane = pane
        self.closed = False
        """Being taken down, which takes a moment."""

    def compose(self) -> ComposeResult:
        yield Label("/", id="filter-mark")
        yield Input(self._pane.search, placeholder=t(self._pane.filter_hint), compact=True, select_on_focus=False)
        yield Label(t("ui.filter_keys"), id="filter-keys")

    def on_mount(self) -> None:
        for footer in self.screen.query(Footer):
            footer.display = False
        self._focus()

    def aim(self, pane: SheetWidget) -> None:
        """Filter another pane, or the same one further."""
        if pane is not self._pane:
            self._pane = pane
            field = self.query_one(Input)
            field.value, field.placeholder = pane.search, t(pane.filter_hint)
        self._focus()

    def _focus(self) -> None:
        for field in self.query(Input):
            field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.closed:
            return
        self._pane.search = event.value.strip()
        self.post_message(self.Changed())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close()

    def action_drop(self) -> None:
        self._pane.search = ""
        self._close()

    def _close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.post_message(self.Changed())
        for footer in self.screen.query(Footer):
            footer.display = True
        self._pane.focus()
        self.remove()
