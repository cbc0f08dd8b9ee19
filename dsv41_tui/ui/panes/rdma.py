"""RDMA: every port that a rank uses, its GID index, what it carries and loses, and what differs between the nodes."""

from __future__ import annotations

from dsv41_tui.core.messages import t
from dsv41_tui.ui.pane import title_row
from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.rdma import alike, detail, ports
from dsv41_tui.ui.standing import RANK, STYLES
from dsv41_tui.ui.view import Box, Rows, Sheet, View
from dsv41_tui.ui.widgets.rdma import RdmaWidget

WIDE = 70


def draw(view: View, box: Box) -> Sheet:
    """Overview or large form."""
    rows = Rows(view, box)
    title_row(rows, "4", t("ui.pane.rdma"), _unit(view))
    if view.state is None or not view.boxes:
        rows.add(rows.line().to(view.label).put(t("ui.waiting"), "text-muted"))
        return rows.sheet()
    found = ports.entries(view, box)
    if not found:
        rows.add(rows.line().to(view.label).put(t("ui.no_match", text=box.search), "text-muted"))
        return rows.sheet()
    tail = _tail(view, box)
    ports.write(rows, found, max(2, box.height - 1 - len(rows.rows) - len(tail.rows)))
    rows.join(tail)
    if box.large:
        rows.blank()
        detail.write(rows, found)
    return rows.sheet(fixed=box.titled + 1)


def _unit(view: View) -> str:
    """The NCCL that the ranks said they use, where it is one."""
    versions = {log.nccl_version for node in view.boxes for log in node.logs if log.nccl_version}
    return f"NCCL {versions.pop()}" if len(versions) == 1 else ""


def _tail(view: View, box: Box) -> Rows:
    wide = box.large or box.width >= WIDE
    rows = Rows(view, box)
    alike.write(rows, wide=wide)
    if wide and rows.rows:
        spaced = Rows(view, box)
        spaced.blank()
        spaced.join(rows)
        return spaced
    return rows


def wants(view: View, width: int) -> int:
    """Rows of the overview form."""
    if not view.boxes:
        return 2
    box = Box(width, 0)
    return 2 + max(1, len(ports.entries(view, box))) + len(_tail(view, box).rows)


def mark(view: View) -> tuple[str, str]:
    """The worst port that a rank uses."""
    standings = [entry.standing for entry in ports.entries(view, Box(80, 0))]
    if not standings:
        return "", ""
    worst = min(standings, key=lambda standing: RANK[standing.level])
    if worst.level == "ok":
        return view.ink.glyphs.ok, "success"
    return ("", "") if worst.level == "muted" else (worst.glyph, STYLES[worst.level])


PANE = PaneSpec(key=4, id="rdma", unit="", draw=draw, wants=wants, likes=wants, mark=mark, widget=RdmaWidget)
