"""The page for small screens: every node, the server, what comes later; one row each, worst first when many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import cut_word, safe
from dsv41_tui.ui.logs import brief
from dsv41_tui.ui.memory import notes
from dsv41_tui.ui.memory.many import ordered
from dsv41_tui.ui.memory.numbers import NUMBER, cells
from dsv41_tui.ui.nfs import mounts, servers
from dsv41_tui.ui.numbers import link_speed, mib_rate
from dsv41_tui.ui.pane import labelled, matches, name_style
from dsv41_tui.ui.rdma import brief as fabric
from dsv41_tui.ui.standing import RANK, STYLES, mounts_known, node_level, node_standing
from dsv41_tui.ui.view import Box, Rows, Sheet, View
from dsv41_tui.ui.widgets import skyline, table

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState

BAR = 14
LOG_LEAST = 4
LATER = ("engram", "proxy", "users")


def draw(view: View, box: Box) -> Sheet:
    """The whole cluster on one page."""
    rows = Rows(view, box)
    nodes = [node for node in view.boxes if matches(box, node.name)]
    if view.state is None:
        rows.add(rows.line().to(view.label).put(t("ui.waiting"), "text-muted"))
    bottom = _bottom(view, box)
    if nodes:
        _nodes(rows, nodes, box.height - len(bottom.rows) - 1)
    elif view.state is not None:
        rows.add(rows.line().to(view.label).put(t("ui.no_match", text=box.search), "text-muted"))
    _notes(rows, nodes, box.height - len(rows.rows) - len(bottom.rows) - 1)
    _also(bottom, box.height - len(rows.rows) - len(bottom.rows) - 2)
    if box.height - len(rows.rows) - len(bottom.rows) > 0:
        rows.blank()
    rows.join(bottom)
    _log(rows, box.height - len(rows.rows))
    return rows.sheet(fixed=1)


def _log(rows: Rows, room: int) -> None:
    """The last lines of the worst scope at the bottom, where there is room for two."""
    view, scope = rows.view, brief.worst_scope(rows.view)
    strips = brief.last_lines(view, rows.box.width, room - 2, scope)
    if room < LOG_LEAST or not strips:
        return
    for _ in range(room - 1 - len(strips)):
        rows.blank()
    line = rows.line().put(t("ui.pane.log"), "text+bold").gap().put(scope.title, "text-muted").gap()
    rows.add(line.put(view.ink.glyphs.rule * (rows.box.width - line.column), "rule"))
    rows.rows += strips


def _columns(view: View) -> list[table.Column]:
    return [
        table.Column("role", "", 6, left=True, keep=2),
        table.Column("bar", "", BAR, left=True),
        table.Column("free", t("ui.memory.free"), NUMBER),
        table.Column("avail", t("ui.memory.avail"), NUMBER),
        table.Column("low_avail", t("ui.memory.low"), NUMBER),
        table.Column("cache", t("ui.memory.cache"), NUMBER),
        table.Column("gpu", "GPU", 18, left=True, keep=1),
    ]


def _nodes(rows: Rows, nodes: list[NodeState], room: int) -> None:
    """At most `room` rows with the head; what is not shown is counted."""
    view = rows.view
    placed = table.place(_columns(view), view.label, rows.box.width, gap=2)
    head = table.head(rows.line(), placed)
    rows.add(head)
    nodes = ordered(nodes, view, room - 1)
    hidden = nodes[max(1, room - 2) :] if len(nodes) > room - 1 else []
    for node in nodes[: len(nodes) - len(hidden)]:
        _node(rows, node, placed)
    if hidden:
        bad = sum(1 for node in hidden if RANK[node_level(node, view)] < RANK["ok"])
        key, style = ("ui.memory.more_bad", "warning") if bad else ("ui.memory.more_fine", "text-muted")
        rows.add(rows.line().to(view.label).put(t(key, count=len(hidden), bad=bad), style))


def _node(rows: Rows, node: NodeState, placed: list[table.Placed]) -> None:
    view = rows.view
    standing = node_standing(node, view)
    chosen = rows.box.focused and rows.box.selected == node.name
    line = rows.line(rows.ground(node.name)).fit(node.name, view.label - 1, name_style(standing.stale, chosen))
    values = cells(node, view)
    rank = "" if node.rank is None or node.role == "head" else str(node.rank)
    values["role"] = (t(f"ui.role.{node.role}") + rank, "text-muted")
    values["gpu"] = notes.gpu_cell(node, view)
    if standing.level != "ok":
        values["gpu"] = (standing.text, standing.style)
    split = [at.column.key for at in placed].index("bar")
    table.row(line, placed[:split], values).to(placed[split].start)
    parts = skyline.parts_of(node.memory.value)
    skyline.draw(line, parts, placed[split].cells, drained=standing.stale)
    rows.item(node.name, node.name, len(rows.rows))
    rows.add(table.row(line, placed[split + 1 :], values))


def _notes(rows: Rows, nodes: list[NodeState], room: int) -> None:
    """Notes as far as there is room for whole ones; the pane's tab has them all."""
    if room <= 0 or len(nodes) > 8:
        return
    extra = Rows(rows.view, rows.box)
    for node in sorted(nodes, key=lambda node: RANK[node_level(node, rows.view)]):
        one = Rows(rows.view, rows.box)
        notes.write(one, [node], pressure=True)
        if len(extra.rows) + len(one.rows) <= room:
            extra.rows += one.rows
    rows.rows += extra.rows


def _also(rows: Rows, room: int) -> None:
    """The findings that row 1 does not show, worst first, as far as there is room."""
    view, glyphs = rows.view, rows.view.ink.glyphs
    others = [finding for finding in view.findings if finding is not view.finding]
    if not others or room < 2:
        return
    rows.blank()
    for index, finding in enumerate(others[: room - 1]):
        glyph, style = {"error": (glyphs.error, "error"), "warn": (glyphs.warn, "warning")}.get(
            finding.severity, (glyphs.idle, "text-muted")
        )
        line = rows.line().put(t("ui.finding.also") if index == 0 else "", "text-muted").to(view.label)
        line.put(glyph, style).gap().put(f"{finding.node} " if finding.node else "", style)
        rows.add(line.put(cut_word(safe(finding.title), rows.box.width - line.column, glyphs.ellipsis)))


def _bottom(view: View, box: Box) -> Rows:
    """Servers and their mounts, and in one muted line what this panel does not show yet."""
    rows = Rows(view, box)
    if view.state is not None:
        found = servers.servers(view)
        entries = mounts.entries(view, Box(box.width, 0), found)
        for server in found[:2]:
            _server(rows, server, [entry for entry in entries if _reads(entry, server)])
        if not found:
            text = t("ui.nfs.no_mounts") if _no_mount(view) else view.ink.glyphs.none
            rows.add(rows.line().fit("NFS", view.label - 1, "text-muted").to(view.label).put(text, "text-muted"))
    if view.state is not None:
        fabric.write(rows)
    names = t("ui.list").join(t(f"ui.later.{name}") for name in LATER)
    labelled(rows, t("ui.later.label"), t("ui.later.text", names=names), style="text-muted")
    return rows


def _no_mount(view: View) -> bool:
    return mounts_known(view) and not any(node.nfs for node in view.boxes)


def _reads(entry: mounts.Entry, server: servers.Server) -> bool:
    from dsv41_tui.core.health.mounts import server_key

    return server.key == server_key(entry.mount)


def _server(rows: Rows, server: servers.Server, entries: list[mounts.Entry]) -> None:
    """`nas  10G  612 of 1,192 MiB/s  * fine 3 of 3`."""
    view = rows.view
    none = view.ink.glyphs.none
    line = servers.head(rows, server)
    if server.link_mbit is not None:
        line.put(f"{link_speed(server.link_mbit)}  ", "text-muted")
    rate = None if server.hung and not server.rate else server.rate
    line.put(mib_rate(rate, none), "text+bold")
    if server.capacity is not None:
        line.put(t("ui.nfs.of"), "text-muted").put(mib_rate(server.capacity))
    line.put(" MiB/s   ", "text-muted")
    if entries:
        worst = min(entries, key=lambda entry: (RANK[entry.standing.level], entry.standing.level != "ok"))
        same = sum(1 for entry in entries if RANK[entry.standing.level] == RANK[worst.standing.level])
        line.put(worst.standing.text, STYLES[worst.standing.level])
        line.put(f"  {t('ui.nfs.mounts_of', got=same, of=len(entries))}", "text-muted")
    rows.add(line)
