"""NFS: every mount of every node, what it does now, and what all of them take of the server's link."""

from __future__ import annotations

from dsv41_tui.core.messages import t
from dsv41_tui.ui.nfs import charts, detail, mounts, options, servers
from dsv41_tui.ui.pane import node_note, title_row
from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.standing import RANK, STYLES, mount_standing, mounts_known
from dsv41_tui.ui.view import Box, Rows, Sheet, View

UNIT = "MiB/s, ms, GiB"
WIDE = 70
CHART, CHART_LARGE = 3, 8


def draw(view: View, box: Box) -> Sheet:
    """Overview or large form."""
    rows = Rows(view, box)
    title_row(rows, "2", t("ui.pane.nfs"), UNIT)
    if view.state is None or not view.boxes:
        rows.add(rows.line().to(view.label).put(t("ui.waiting"), "text-muted"))
        return rows.sheet()
    found = servers.servers(view)
    entries = mounts.entries(view, box, found)
    tail = _tail(view, box, found, entries)
    if entries:
        room = box.height - 1 - len(rows.rows) - len(tail.rows)
        mounts.write(rows, entries, max(3, room))
    else:
        rows.add(rows.line().to(view.label).put(_empty(view, box), "text-muted"))
    rows.join(tail)
    if not box.large:
        _spare(rows, found)
    return rows.sheet(fixed=box.titled + bool(entries))


def _spare(rows: Rows, found: list[servers.Server]) -> None:
    """Charts where there is room, as high as it allows."""
    left = rows.box.height - len(rows.rows) - 2
    if left >= CHART:
        rows.blank()
        charts.write(rows, found, min(CHART_LARGE, left))


def _empty(view: View, box: Box) -> str:
    if box.search:
        return t("ui.no_match", text=box.search)
    if mounts_known(view):
        return t("ui.nfs.no_mounts")
    return f"{view.ink.glyphs.none}  {t('ui.nfs.not_read')}"


def _tail(view: View, box: Box, found: list[servers.Server], entries: list[mounts.Entry]) -> Rows:
    """Everything under the table: it is drawn first, since the table takes the room that is left."""
    wide = box.large or box.width >= WIDE
    rows = Rows(view, box)
    if wide and found:
        rows.blank()
    servers.write(rows, found[: servers.SHOWN] if not box.large else found)
    servers.raid_alarms(rows, found)
    options.probes(rows, entries)
    for node in view.nodes:
        if node.role == "nas":
            node_note(rows, node)
    if wide:
        servers.details(rows, found)
    if box.large:
        rows.blank()
        detail.write(rows, entries)
        rows.blank()
        charts.write(rows, found, CHART_LARGE)
    else:
        _options(rows, entries, wide)
    options.unused(rows, view)
    return rows


def _options(rows: Rows, entries: list[mounts.Entry], wide: bool) -> None:
    if wide and entries:
        rows.blank()
    options.write(rows, entries, 3 if wide else 2)


def wants(view: View, width: int) -> int:
    """Rows of the overview form."""
    if not view.boxes:
        return 2
    box = Box(width, 0)
    found = servers.servers(view)
    entries = mounts.entries(view, box, found)
    return 2 + max(1, len(entries)) + len(_tail(view, box, found, entries).rows)


def likes(view: View, width: int) -> int:
    """Rows with a high chart."""
    return wants(view, width) + 2 + CHART_LARGE


def mark(view: View) -> tuple[str, str]:
    """The worst mount."""
    standings = [mount_standing(mount, node, view) for node in view.boxes for mount in node.nfs]
    if not standings:
        return "", ""
    worst = min(standings, key=lambda standing: RANK[standing.level])
    if RANK[worst.level] == RANK["ok"]:
        return view.ink.glyphs.ok, "success"
    return worst.glyph, STYLES[worst.level]


PANE = PaneSpec(key=2, id="nfs", unit=UNIT, draw=draw, wants=wants, likes=likes, mark=mark)
