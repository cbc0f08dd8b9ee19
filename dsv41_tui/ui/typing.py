"""What is typed between the key that opens a text field and the field's focus: held, then given to the field.

Opening takes a few messages; without this, letters that arrive in the same read would still act as commands.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual import events

from dsv41_tui.ui.keys import ascii_of, named

if TYPE_CHECKING:
    from textual.widget import Widget

PATIENCE_S = 5.0
"""A field that did not come by then never will; what was typed is dropped."""


class Typing:
    """Closed, or waiting for a field."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._held: list[events.Key] = []

    def begin(self) -> None:
        """A field is being opened."""
        self._since, self._held = time.monotonic(), []

    def takes(self, event: events.Key) -> bool:
        """Whether the key is held; ctrl+c and its like still act."""
        if self._since is None or event.key.startswith("ctrl+"):
            return False
        if time.monotonic() - self._since > PATIENCE_S:
            self._since = None
            return False
        self._held.append(event)
        return True

    def end(self, field: Widget) -> None:
        """The field has the focus: it gets the keys in the order in which they were typed."""
        if self._since is None:
            return
        held, self._since, self._held = sorted(self._held, key=lambda event: event.time), None, []
        for event in held:
            field._forward_event(events.Key(event.key, event.character))


def half_width(event: events.Key) -> events.Key:
    """A full-width character of an input method as its ASCII key."""
    character = ascii_of(event.character or "")
    return event if character is None else events.Key(named(character), character)
