"""Not there yet: says so, and what to use meanwhile."""

from __future__ import annotations

from dsv41_tui.ui.pane import no_mark, placeholder
from dsv41_tui.ui.panes import PaneSpec

_draw, _wants = placeholder(4, "rdma")
PANE = PaneSpec(key=4, id="rdma", unit="", draw=_draw, wants=_wants, likes=_wants, mark=no_mark)
