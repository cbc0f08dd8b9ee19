"""The table of mounts: one row for every mount of every node, what hangs counting up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.nfs.servers import Server
from dsv41_tui.ui.numbers import gib, mib_rate, milliseconds
from dsv41_tui.ui.pane import matches, name_style
from dsv41_tui.ui.standing import RANK, Standing, mount_standing, node_standing
from dsv41_tui.ui.view import Box, Rows, View
from dsv41_tui.ui.widgets import table, trend

if TYPE_CHECKING:
    from dsv41_tui.core.model import NfsMount, NodeState

WORST_FIRST = 16
STATE = 14
DEFAULT_CAPACITY = 1250_000_000.0
"""Scale of a trend where the server's link is not known: 10 Gbit/s."""


@dataclass(frozen=True)
class Entry:
    """One mount on one node, with how it stands and the scale of its trend."""

    node: NodeState
    mount: NfsMount
    standing: Standing
    capacity: float

    @property
    def key(self) -> str:
        return f"{self.node.name} {self.mount.mount_point}"

    @property
    def place(self) -> str:
        """What it is called: a docker volume's name, else the mount point."""
        return self.mount.volume or self.mount.mount_point


def entries(view: View, box: Box, found: list[Server]) -> list[Entry]:
    """All mounts that are there or expected; volumes that nothing uses are told apart from them."""
    from dsv41_tui.core.health.mounts import nas_of, server  # pydantic's weight, after the first frame

    assert view.state is not None
    capacities = {item.name: item.capacity for item in found}
    made = []
    for node in view.boxes:
        for mount in node.nfs:
            if mount.state == "unused" or not matches(box, node.name, mount.mount_point, mount.source):
                continue
            nas = nas_of(view.state, mount)
            capacity = capacities.get(nas.name if nas else server(mount)) or DEFAULT_CAPACITY
            made.append(Entry(node, mount, mount_standing(mount, node, view), capacity))
    return made


def columns(view: View, width: int, *, large: bool) -> list[table.Column]:
    """What does not fit goes by `keep`, the lowest first."""
    wide = width >= 70
    made = [table.Column("mount", t("ui.nfs.mount"), 7 if not wide else 10, left=True, front=True, grow=True)]
    made += [table.Column("state", t("ui.nfs.state_title"), STATE if wide else 12, left=True)]
    if large:
        made += [table.Column("options", t("ui.nfs.options"), 22, left=True, keep=1)]
    made += [table.Column("now", t("ui.nfs.now"), 5)]
    made += [table.Column("trend", t("ui.ten_minutes"), 14 if wide else 6, left=True, keep=3)]
    made += [table.Column("rtt", t("ui.nfs.rtt"), 4)]
    if wide or large:
        made += [table.Column("exe", t("ui.nfs.exe"), 4, keep=2)]
    made += [table.Column("retr", t("ui.nfs.retr"), 4), table.Column("read", t("ui.nfs.read"), 5)]
    return made


def write(rows: Rows, found: list[Entry], room: int) -> None:
    """The head and at most `room` rows; more are counted, the worst come first then."""
    view, box = rows.view, rows.box
    placed = table.place(columns(view, box.width, large=box.large), view.label, box.width)
    rows.add(table.head(rows.line(), placed))
    if len(found) >= WORST_FIRST or (len(found) > room and not box.large):
        found = sorted(found, key=lambda entry: RANK[entry.standing.level])
    hidden = [] if box.large or len(found) <= room else found[max(1, room - 1) :]
    before = ""
    for entry in found[: len(found) - len(hidden)]:
        _row(rows, entry, placed, entry.node.name != before)
        before = entry.node.name
    if hidden:
        bad = sum(1 for entry in hidden if RANK[entry.standing.level] < RANK["ok"])
        key, style = ("ui.nfs.more_bad", "warning") if bad else ("ui.nfs.more_fine", "text-muted")
        rows.add(rows.line().to(view.label).put(t(key, count=len(hidden), bad=bad), style))


def _row(rows: Rows, entry: Entry, placed: list[table.Placed], named: bool) -> None:
    view, box = rows.view, rows.box
    chosen = box.focused and box.selected == entry.key
    line = rows.line(rows.ground(entry.key))
    stale = node_standing(entry.node, view).stale
    if named or chosen:
        line.fit(entry.node.name, view.label - 1, name_style(stale, chosen))
    values = cells(entry, view)
    keys = [at.column.key for at in placed]
    at = keys.index("trend") if "trend" in keys else len(placed)
    table.row(line, placed[:at], values)
    if at < len(placed):
        _trend(line.to(placed[at].start), entry, placed[at].cells)
    rows.item(entry.key, entry.node.name, len(rows.rows))
    rows.add(table.row(line, placed[at + 1 :], values))


def _trend(line: Line, entry: Entry, width: int) -> None:
    """Ten minutes of the read rate; dotted while it hangs, drained while it is not read."""
    if entry.mount.state == "not-responding" or entry.standing.stale:
        line.put(line.ink.glyphs.dotted * width, "rule")
        return
    values = trend.columns(entry.mount.trend, width, highest=True)
    trend.sparkline(line, values, entry.capacity, lambda _: "text-muted")


def cells(entry: Entry, view: View) -> dict[str, table.Cell]:
    """Every number of one mount with its style, by column."""
    mount, none = entry.mount, view.ink.glyphs.none
    old, above = entry.standing.stale, node_standing(entry.node, view).stale
    text = "text-muted+italic" if old else "text"
    stats = mount.stats
    repeated = retransmissions(mount)
    rate = None if mount.state in ("unmounted", "unknown", "not-responding") else mount.read_bytes_per_s
    made = {
        "mount": (entry.place, "text-muted+italic" if above else "text"),
        "state": (entry.standing.text, entry.standing.style),
        "options": (options_short(mount), "text-muted"),
        "now": (mib_rate(rate, none), text),
        "rtt": (milliseconds(None if old else mount.rtt_ms, none), text),
        "exe": (milliseconds(None if old else mount.execute_ms, none), text),
        "retr": (none if repeated is None else f"{repeated:,}", text),
        "read": (gib(stats.server_read_bytes if stats else None, none), text),
    }
    if mount.retrans_per_s and not above:
        made["retr"] = (made["retr"][0], "warning")
    return {key: (value, "text-muted" if value == none else style) for key, (value, style) in made.items()}


def retransmissions(mount: NfsMount) -> int | None:
    """Requests sent again since mount; None without counters."""
    from dsv41_tui.core.reduce_nfs import retransmissions as count  # pydantic's weight, after the first frame

    return None if mount.stats is None else count(mount.stats)


def options_short(mount: NfsMount) -> str:
    """`v4.2 tcp hard ro`: version, transport, what a dead server does, whether it can be written."""
    from dsv41_tui.core.health.mounts import is_soft, version

    if not mount.mounted:
        return ""
    found = version(mount)
    parts = [f"v{found}" if found else "", mount.got.get("proto", "")]
    if mount.got:
        parts.append("soft" if is_soft(mount.got) else "hard")
    parts.append({True: "ro", False: "rw", None: ""}[mount.read_only])
    return " ".join(part for part in parts if part)
