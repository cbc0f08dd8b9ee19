"""NFS: every mount of every node, what it does now, and what all of them take of the server's link."""

from __future__ import annotations

from dsv41_tui.core.messages import t
from dsv41_tui.ui.nfs import detail, mounts, options, servers
from dsv41_tui.ui.pane import node_note, title_row
from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.standing import RANK, STYLES, mount_standing
from dsv41_tui.ui.view import Box, Rows, Sheet, View

WIDE = 70


def draw(view: View, box: Box) -> Sheet:
    """Overview or large form."""
    rows = Rows(view, box)
    rows.add(title_row(view, box, "2", t("ui.pane.nfs"), t("ui.nfs.units")))
    if view.state is None or not view.boxes:
        rows.add(rows.line().to(view.label).put(t("ui.waiting"), "text-muted"))
        return rows.sheet()
    found = servers.servers(view)
    entries = mounts.entries(view, box, found)
    tail = _tail(view, box, found, entries)
    full = _tail(view, box, found, entries, full=True)
    if 2 + len(entries) + len(full.rows) <= box.height or box.large:
        tail = full
    if entries:
        room = box.height - 2 - len(tail.rows)
        mounts.write(rows, entries, max(3, room))
    else:
        rows.add(rows.line().to(view.label).put(_empty(view, box), "text-muted"))
    rows.rows += tail.rows
    return rows.sheet(fixed=2 if entries else 1)


def _empty(view: View, box: Box) -> str:
    if box.search:
        return t("ui.no_match", text=box.search)
    read = all(node.mountinfo.value is not None or node.mountstats.value is not None for node in view.boxes)
    return t("ui.nfs.no_mounts") if read else t("ui.nfs.not_read")


def _tail(
    view: View, box: Box, found: list[servers.Server], entries: list[mounts.Entry], *, full: bool = False
) -> Rows:
    """Everything under the table: it is drawn first, since the table takes the room that is left."""
    wide = full or box.width >= WIDE
    rows = Rows(view, box)
    if wide and found:
        rows.blank()
    servers.write(rows, found[: servers.SHOWN] if not full else found)
    servers.raid_alarms(rows, found)
    options.probes(rows, entries)
    for node in view.nodes:
        if node.role == "nas":
            node_note(rows, node)
    if wide:
        servers.details(rows, found)
    if full:
        rows.blank()
        detail.write(rows, entries)
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
    """Rows with every mount's options and counts."""
    return wants(view, width) + 4 * sum(len(node.nfs) for node in view.boxes)


def mark(view: View) -> tuple[str, str]:
    """The worst mount."""
    standings = [mount_standing(mount, node, view) for node in view.boxes for mount in node.nfs]
    if not standings:
        return "", ""
    worst = min(standings, key=lambda standing: RANK[standing.level])
    if RANK[worst.level] == RANK["ok"]:
        return view.ink.glyphs.ok, "success"
    return worst.glyph, STYLES[worst.level]


PANE = PaneSpec(key=2, id="nfs", draw=draw, wants=wants, likes=likes, mark=mark)
