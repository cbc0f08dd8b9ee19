"""Not there yet: says so, and what to use meanwhile."""

from __future__ import annotations

from dsv41_tui.ui.pane import no_mark, placeholder
from dsv41_tui.ui.panes import PaneSpec

_draw, _wants = placeholder(5, "chat")
PANE = PaneSpec(key=5, id="chat", unit="", draw=_draw, wants=_wants, likes=_wants, mark=no_mark)
