"""Log: one timeline over all ranks, with the lines of findings marked. The view that scrolls is `widgets.log`."""

from __future__ import annotations

from dsv41_tui.ui.logs import page
from dsv41_tui.ui.logs.model import LogModel
from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.view import Box, Sheet, View
from dsv41_tui.ui.widgets.log import LogWidget

WIDE = 70
LEAST, FEW, LIKED = 2, 4, 18


def draw(view: View, box: Box) -> Sheet:
    """As it follows, before any key."""
    model = LogModel()
    model.renew(view)
    model.step()
    return page.draw(model, view, box)


def wants(view: View, width: int) -> int:
    """Three lines where it is narrow, a page where it is wide."""
    if view.logs is None or view.logs.end == view.logs.first:
        return LEAST
    return FEW if width < WIDE else LIKED


def mark(view: View) -> tuple[str, str]:
    """The worst finding that a log shows; what is not read is said."""
    glyphs = view.ink.glyphs
    levels = {finding.severity for finding in view.findings if finding.pane == "log"}
    if "error" in levels:
        return glyphs.error, "error"
    if "warn" in levels or any(node.unread_logs for node in view.nodes):
        return glyphs.warn, "warning"
    if view.state is None or not view.state.log_sources:
        return "", ""
    return glyphs.ok, "success"


PANE = PaneSpec(key=6, id="log", unit="", draw=draw, wants=wants, likes=wants, mark=mark, widget=LogWidget)
