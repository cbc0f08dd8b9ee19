"""The large form's last part: GID tables, what moved, counters since the start, and the settings of each node."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.pane import command, labelled, name_style
from dsv41_tui.ui.rdma.ports import Entry, thousands
from dsv41_tui.ui.view import Rows

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState
    from dsv41_tui.core.rdma import Gid, PortRate

ADDRESS = 25
"""Cells of a link-local GID in its short form."""
SKIPPED = frozenset({"port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets", "rcvd_pkts"})
"""Counters of traffic, which the table has as rates."""


def write(rows: Rows, found: Sequence[Entry]) -> None:
    """A block for each used port, then the settings for each node."""
    for entry in found:
        if entry.known is not None and entry.used:
            _port(rows, entry, entry.known)
    for node in rows.view.boxes:
        _settings(rows, node)


def _port(rows: Rows, entry: Entry, known: PortRate) -> None:
    from dsv41_tui.core.gid import drifted, judge  # pydantic's weight, after the first frame

    view = rows.view
    line = rows.line().fit(entry.node.name, view.label - 1, name_style(entry.standing.stale, False))
    port = known.port
    facts = [fact for fact in (port.hca_type, port.firmware and t("ui.rdma.firmware", value=port.firmware)) if fact]
    line.to(view.label).put(entry.place, "text").gap(2).put(t("ui.list").join(facts), "text-muted")
    rows.add(line)
    verdict = judge(entry.node, port)
    chosen = verdict.told if verdict.told is not None else verdict.entry.index if verdict.entry else None
    best = verdict.right.index if verdict.right is not None else None
    for gid in port.gids:
        _gid(rows, gid, used=gid.index == chosen, best=gid.index == best)
    if chosen is not None and verdict.fault == "empty":
        line = rows.line().to(view.label).right(str(chosen), view.label + 3, "error+bold").gap()
        rows.add(line.put(t("ui.rdma.empty"), "error"))
    for text in drifted(known):
        labelled(rows, "", t("ui.rdma.moved", text=text), style="warning")
    _counters(rows, known)


def _gid(rows: Rows, gid: Gid, *, used: bool, best: bool) -> None:
    """One entry; the one in use and the right one are named, in colour where they are not the same."""
    view = rows.view
    style = "text" if used or best else "text-muted"
    line = rows.line().to(view.label).right(str(gid.index), view.label + 3, style).gap()
    line.fit(gid.ipv4 or ip_address(gid.gid).compressed, ADDRESS, style).gap()
    line.fit(gid.type or view.ink.glyphs.none, 10, style).gap().fit(gid.netdev or view.ink.glyphs.none, 15, style).gap()
    if used and best:
        line.put(t("ui.rdma.in_use"), "success")
    elif used or best:
        line.put(t("ui.rdma.in_use" if used else "ui.rdma.right"), "error" if used else "warning")
    rows.add(line)


def _counters(rows: Rows, known: PortRate) -> None:
    none = rows.view.ink.glyphs.none
    grown = {name: value for name, value in known.since_start.items() if value and name not in SKIPPED}
    texts = [f"{name} {thousands(value, none)}" for name, value in sorted(grown.items()) if name != "sent_pkts"]
    text = t("ui.list").join(texts) if texts else t("ui.rdma.none_grew" if known.since_start else "ui.rdma.no_counters")
    labelled(rows, "", t("ui.rdma.since_start", text=text), style="text-muted")


def _settings(rows: Rows, node: NodeState) -> None:
    """Ready to be copied, only as far as they are known."""
    from dsv41_tui.core.compare import recommended_mtu, settings

    lines = settings(node)
    if not lines:
        return
    rows.blank()
    labelled(rows, node.name, t("ui.rdma.settings"), label_style="text+bold", style="text-muted")
    for text in (*lines, *recommended_mtu(node)):
        command(rows, text)
