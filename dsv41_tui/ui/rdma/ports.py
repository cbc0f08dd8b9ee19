"""The table of HCA ports: one row for every port that a rank uses, all of them in the large form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import link_speed, short_age
from dsv41_tui.ui.pane import matches, name_style
from dsv41_tui.ui.standing import Standing, node_standing
from dsv41_tui.ui.view import Box, Rows, View
from dsv41_tui.ui.widgets import table

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState
    from dsv41_tui.core.rdma import PortRate

GB = 1_000_000_000
UNUSED = "unused"


@dataclass(frozen=True)
class Entry:
    """One port of one node; `known` None for a node without one, or one that was not read."""

    node: NodeState
    known: PortRate | None
    used: bool
    standing: Standing

    @property
    def key(self) -> str:
        return f"{self.node.name} {self.place}"

    @property
    def place(self) -> str:
        if self.known is None:
            return ""
        port = self.known.port
        return port.device if port.port == 1 else f"{port.device}:{port.port}"


def entries(view: View, box: Box) -> list[Entry]:
    """Ports of all nodes in their order; a node with nothing to show has one entry that says why."""
    from dsv41_tui.core.fabric import fabric_ports  # pydantic's weight, after the first frame

    made = []
    for node in view.boxes:
        fabric = fabric_ports(node)
        shown = (node.rdma.value or ()) if box.large else fabric
        found = [
            Entry(node, known, known in fabric, _standing(view, node, known, used=known in fabric))
            for known in shown
            if matches(box, node.name, known.port.device, known.port.netdev or "")
        ]
        if not shown and matches(box, node.name):
            found = [Entry(node, None, False, _empty(view, node))]
        made += found
    return made


def stale(view: View, node: NodeState) -> str | None:
    """The age of what is shown, where it is old."""
    above = node_standing(node, view)
    if above.stale:
        return above.word
    age = node.rdma.age_s(view.now)
    return short_age(age) if age is not None and node.rdma.read(view.now) == "stale" else None


def _empty(view: View, node: NodeState) -> Standing:
    glyphs = view.ink.glyphs
    if (old := stale(view, node)) is not None:
        return Standing("warn" if node.rdma.value is not None else "unknown", glyphs.stale, old, stale=True)
    if node.rdma.value is None:
        return Standing("unknown", glyphs.unknown, t("ui.rdma.unread"), stale=True)
    key = "ui.rdma.none_active" if node.rdma.value else "ui.rdma.no_hca"
    return Standing("muted", glyphs.idle, t(key))


def _standing(view: View, node: NodeState, known: PortRate, *, used: bool) -> Standing:
    glyphs, port = view.ink.glyphs, known.port
    if (old := stale(view, node)) is not None:
        return Standing("warn", glyphs.stale, old, stale=True)
    if port.state is None:
        return Standing("unknown", glyphs.unknown, t("ui.rdma.unread"))
    if port.state != "ACTIVE":
        return Standing("error" if used else "muted", glyphs.error if used else glyphs.idle, port.state.lower())
    rate = None if port.rate_gbit is None else int(port.rate_gbit * 1000)
    word = link_speed(rate, t("ui.rdma.up"))
    slow = f"/sys/class/infiniband/{port.device}/ports/{port.port}/rate"
    if any(
        finding.node == node.name and finding.evidence[:1] and finding.evidence[0].source == slow
        for finding in view.findings
    ):
        return Standing("warn", glyphs.warn, word)
    return Standing("ok" if used else "muted", glyphs.ok if used else glyphs.idle, word)


def columns(view: View, width: int, *, large: bool) -> list[table.Column]:
    """What does not fit goes by `keep`, the lowest first."""
    made = [
        table.Column("rank", "", 3, left=True),
        table.Column("port", t("ui.rdma.port"), 12, left=True),
        table.Column("link", t("ui.rdma.link"), 7, left=True),
    ]
    if large:
        made.append(table.Column("physical", t("ui.rdma.physical"), 9, left=True, keep=3))
        made.append(table.Column("netdev", "netdev", 14, left=True, keep=2))
        made.append(table.Column("mtu", "MTU", 9, keep=4))
    made += [
        table.Column("gid", "GID", 5, left=True),
        table.Column("memory", t("ui.rdma.memory"), 12, left=True),
        table.Column("rate", "GB/s", 4, keep=6),
    ]
    if large:
        made.append(table.Column("packets", t("ui.rdma.packets"), 6, keep=1))
    return [
        *made,
        table.Column("lost", t("ui.rdma.lost"), 4),
        table.Column("cnp", "CNP", 4, keep=5),
    ]


def write(rows: Rows, found: list[Entry], room: int) -> None:
    """The head and at most `room` rows; more are counted."""
    view, box = rows.view, rows.box
    placed = table.place(columns(view, box.width, large=box.large), view.label, box.width)
    rows.add(table.head(rows.line(), placed))
    hidden = [] if box.large or len(found) <= room else found[max(1, room - 1) :]
    before = ""
    for entry in found[: len(found) - len(hidden)]:
        _row(rows, entry, placed, named=entry.node.name != before)
        before = entry.node.name
    if hidden:
        bad = sum(1 for entry in hidden if entry.standing.level in ("error", "warn", "unknown"))
        key, style = ("ui.memory.more_bad", "warning") if bad else ("ui.memory.more_fine", "text-muted")
        rows.add(rows.line().to(view.label).put(t(key, count=len(hidden), bad=bad), style))


def _row(rows: Rows, entry: Entry, placed: list[table.Placed], *, named: bool) -> None:
    view, box = rows.view, rows.box
    chosen = box.focused and box.selected == entry.key
    line = rows.line(rows.ground(entry.key))
    if named or chosen:
        line.fit(entry.node.name, view.label - 1, name_style(node_standing(entry.node, view).stale, chosen))
    rows.item(entry.key, entry.node.name, len(rows.rows))
    if entry.known is None:
        table.row(line, placed[:1], {"rank": rank(entry.node)})
        rows.add(line.to(placed[1].start).put(entry.standing.text, entry.standing.style))
        return
    rows.add(table.row(line, placed, cells(entry, entry.known, view, named=named)))


def rank(node: NodeState) -> table.Cell:
    return ("" if node.rank is None else f"r{node.rank}", "accent")


def cells(entry: Entry, known: PortRate, view: View, *, named: bool) -> dict[str, table.Cell]:
    """Every value of one port with its style, by column."""
    none, port = view.ink.glyphs.none, known.port
    old = entry.standing.stale
    text = "text-muted+italic" if old else "text" if entry.used else "text-muted"
    mtu = none if port.netdev_mtu is None else f"{port.netdev_mtu}/{port.active_mtu or none}"
    made = {
        "rank": rank(entry.node) if named else ("", "text"),
        "port": (entry.place, text),
        "link": (entry.standing.text, entry.standing.style),
        "physical": (port.physical_state or none, text),
        "netdev": (port.netdev or none, text),
        "mtu": (mtu, text),
        "gid": gid_cell(entry, known, view, text),
        "memory": memory_cell(entry, view),
        **_rates(entry, known, view, text),
    }
    return {key: (value, "text-muted" if value == none else style) for key, (value, style) in made.items()}


def _rates(entry: Entry, known: PortRate, view: View, text: str) -> dict[str, table.Cell]:
    """Of the newest counters; none are shown while they are old, or for a port that is not up."""
    from dsv41_tui.core import fabric  # pydantic's weight, after the first frame

    none = view.ink.glyphs.none
    fresh = not entry.standing.stale and entry.node.rdma_counters.read(view.now) == "ok"
    if not fresh or known.port.state != "ACTIVE":
        return dict.fromkeys(("rate", "packets", "lost", "cnp"), (none, "text-muted"))
    ways = [known.per_s[name] for name in fabric.DATA if name in known.per_s]
    lost = fabric.per_s(known, fabric.LOSS)
    return {
        "rate": (gigabytes(max(ways) if ways else None, none), text),
        "packets": (thousands(fabric.per_s(known, fabric.PACKETS), none), text),
        "lost": (whole(lost, none), "warning+bold" if lost is not None and lost >= 1 else text),
        "cnp": (whole(fabric.per_s(known, fabric.CNP), none), text),
    }


def gid_cell(entry: Entry, known: PortRate, view: View, text: str) -> table.Cell:
    """`3 v2`; an index that is wrong with the mark of an error; one that NCCL chooses is muted."""
    from dsv41_tui.core.gid import judge  # pydantic's weight, after the first frame

    glyphs, verdict = view.ink.glyphs, judge(entry.node, known.port)
    if known.port.state != "ACTIVE" or not entry.used:
        return glyphs.none, "text-muted"
    if verdict.fault is not None:
        return f"{glyphs.error} {'' if verdict.told is None else verdict.told}".strip(), "error+bold"
    if not verdict.known or verdict.entry is None:
        return glyphs.unknown if verdict.told is None else f"{verdict.told} {glyphs.unknown}", "text-muted"
    kind = "v2" if verdict.entry.type == "RoCE v2" else "v1" if verdict.entry.type else ""
    return f"{verdict.entry.index} {kind}", "text-muted" if verdict.told is None and text == "text" else text


def memory_cell(entry: Entry, view: View) -> table.Cell:
    """What the rank's log says of the registration of memory, while its container runs."""
    from dsv41_tui.core.fabric import rank_container, rank_log

    glyphs, container, log = view.ink.glyphs, rank_container(entry.node), rank_log(entry.node)
    if not entry.used:
        return t("ui.rdma.unused"), "text-muted"
    if entry.standing.stale or container is None or entry.node.containers.read(view.now) == "unknown":
        return glyphs.none, "text-muted"
    if log is not None and log.registration == "failed":
        return f"{glyphs.error} {t('ui.rdma.failed')}", "error+bold"
    if container.state != "running":
        return f"{glyphs.idle} {t('ui.rdma.released')}", "text-muted"
    if log is not None and log.registration == "ok":
        return f"{glyphs.ok} {t('ui.rdma.registered')}", "success"
    return f"{glyphs.unknown} {t('ui.rdma.unknown')}", "text-muted"


def gigabytes(value: float | None, none: str) -> str:
    """Decimal GB/s of one direction, whole from 10 on, since links are sold so."""
    if value is None:
        return none
    number = value / GB
    return f"{number:.1f}" if number < 9.95 else f"{number:.0f}"


def whole(value: float | None, none: str) -> str:
    """A rate as a whole number; a small one is never a zero."""
    if value is None:
        return none
    if 0 < value < 1:
        return "<1"
    return thousands(value, none)


def thousands(value: float | None, none: str) -> str:
    """From 10,000 on in thousands, from 10 million on in millions."""
    if value is None:
        return none
    if value < 9_999.5:
        return f"{value:.0f}"
    return f"{value / 1000:.0f}k" if value < 9_999_500 else f"{value / 1_000_000:.0f}M"
