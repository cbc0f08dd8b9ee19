"""Servers of the mounts: what all nodes read from each, against the speed of its link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.numbers import clock_span, link_speed, mbit_bytes, mib_rate, percent
from dsv41_tui.ui.pane import labelled, name_style
from dsv41_tui.ui.standing import node_standing
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets import trend

if TYPE_CHECKING:
    from dsv41_tui.core.model import NfsMount, NodeState, Trend
    from dsv41_tui.core.readings import NasServer, RaidArray

SHOWN = 2


@dataclass(frozen=True)
class Server:
    """One NFS server as the nodes see it."""

    key: str
    """Its address where the mounts tell it, else its name there."""
    name: str
    nas: NodeState | None
    """The node that is this server, if we log in there."""
    link_mbit: int | None
    rate: float | None
    """Bytes per second over all nodes that are read; None if none is."""
    missing: tuple[str, ...]
    """Nodes with a mount of it that cannot be read now."""
    hung: bool
    trends: tuple[Trend, ...]
    """Of each superblock, bytes per second."""

    @property
    def capacity(self) -> float | None:
        """The link's speed in bytes per second."""
        return None if self.link_mbit is None else mbit_bytes(self.link_mbit)


def servers(view: View) -> list[Server]:
    """In the order in which the nodes name them."""
    from dsv41_tui.core.health.mounts import server_key  # pydantic's weight, after the first frame

    groups: dict[str, list[tuple[NodeState, NfsMount]]] = {}
    for node in view.boxes:
        for mount in node.nfs:
            if mount.mounted:
                groups.setdefault(server_key(mount), []).append((node, mount))
    groups.pop("", None)
    return [_server(view, key, group, only=len(groups) == 1) for key, group in groups.items()]


def _server(view: View, key: str, group: list[tuple[NodeState, NfsMount]], *, only: bool) -> Server:
    """The speed said for the NAS is not taken for a node that exports too."""
    from dsv41_tui.core.health.mounts import link_mbit, nas_of, server

    assert view.state is not None and view.limits is not None
    nas = nas_of(view.state, group[0][1])
    told = view.config.nas if view.config else None
    name = nas.name if nas else server(group[0][1]) or key
    named = told is not None and told.server in (name, key)
    mbit = told.link_mbit if named and told else None
    if mbit is None and (nas is not None or named or only):
        mbit = link_mbit(nas, view.limits, view.now)
    missing = {node.name for node, _ in group if node_standing(node, view).stale}
    once = _once(group)
    rates = [mount.read_bytes_per_s for node, mount in once if node.name not in missing]
    known = [rate for rate in rates if rate is not None]
    hung = any(mount.state == "not-responding" for _, mount in group)
    return Server(
        key,
        name,
        nas,
        mbit,
        sum(known) if known else None,
        tuple(sorted(missing)),
        hung,
        tuple(mount.trend for _, mount in once),
    )


def _once(group: list[tuple[NodeState, NfsMount]]) -> list[tuple[NodeState, NfsMount]]:
    """One mount a superblock: several mounts of one export share their counters."""
    seen: dict[tuple[str, str], tuple[NodeState, NfsMount]] = {}
    for node, mount in group:
        seen.setdefault((node.name, mount.device or mount.mount_point), (node, mount))
    return list(seen.values())


def write(rows: Rows, found: list[Server]) -> None:
    """One row a server: a meter of its link, the sum, the share."""
    for server in found:
        _row(rows, server)
        if server.missing:
            names = t("ui.list").join(server.missing)
            labelled(rows, "", t("ui.nfs.sum_without", nodes=names), style="text-muted")


def head(rows: Rows, server: Server) -> Line:
    """The beginning of a server's row; a NAS that we log in to can be selected."""
    key = f"server {server.name}"
    chosen = rows.box.focused and rows.box.selected == key
    if server.nas is not None:
        rows.item(key, server.nas.name, len(rows.rows))
    line = rows.line(rows.ground(key))
    return line.fit(server.name, rows.view.label - 1, name_style(False, chosen)).to(rows.view.label)


def _row(rows: Rows, server: Server) -> None:
    view = rows.view
    line = head(rows, server)
    none = view.ink.glyphs.none
    rate = None if server.hung and not server.rate else server.rate
    if server.capacity is None:
        rows.add(line.put(mib_rate(rate, none), "text+bold").put(t("ui.nfs.sum_unknown_link"), "text-muted"))
        return
    tail = [(mib_rate(rate, none).rjust(5), "text+bold"), (t("ui.nfs.of"), "text-muted")]
    tail += [(mib_rate(server.capacity), "text"), (_share_text(server, rate), "text-muted")]
    room = rows.box.width - line.column - sum(cell_len(text) for text, _ in tail) - 1
    share = None if rate is None else rate / server.capacity
    trend.meter(line, share, max(4, room))
    line.gap()
    for text, style in tail:
        line.put(text, style)
    rows.add(line)


def _share_text(server: Server, rate: float | None) -> str:
    speed = link_speed(server.link_mbit)
    if rate is None or server.capacity is None:
        return t("ui.nfs.link", link=speed).rjust(len(t("ui.nfs.share", percent=" " * 3, link=speed)))
    return t("ui.nfs.share", percent=percent(rate, server.capacity).rjust(3), link=speed)


def details(rows: Rows, found: list[Server]) -> None:
    """What a NAS that we log in to tells of itself: bond, nfsd, versions, RAID, SSD cache."""
    for server in found:
        if server.nas is not None and server.nas.nas.value is not None:
            standing = node_standing(server.nas, rows.view)
            style = "text-muted+italic" if standing.stale else "text-muted"
            labelled(rows, "", t("ui.list").join(_told(server.nas.nas.value)), style=style)


def raid_alarms(rows: Rows, found: list[Server]) -> None:
    """A degraded or rebuilding array, in the colour of its weight."""
    glyphs = rows.view.ink.glyphs
    for server in found:
        told = server.nas.nas.value if server.nas else None
        for array in told.raid if told else ():
            if array.degraded or array.action in ("recovery", "resync"):
                labelled(rows, "", f"{glyphs.warn} {raid_text(array)}", style="warning")


def _told(nas: NasServer) -> list[str]:
    facts = []
    for bond in nas.bonds:
        mode = "802.3ad" if "802.3ad" in bond.mode else bond.mode
        facts.append(t("ui.nfs.bond", name=bond.name, up=bond.members_up, of=bond.members, mode=mode))
    if nas.nfsd_threads is not None:
        facts.append(t("ui.nfs.nfsd", threads=nas.nfsd_threads))
    if nas.versions:
        facts.append("v" + " v".join(nas.versions))
    facts += [raid_text(array) for array in nas.raid if not array.degraded and array.action is None]
    if nas.ssd_cache:
        facts.append(t("ui.nfs.ssd_cache", text=nas.ssd_cache))
    return facts


def raid_text(array: RaidArray) -> str:
    """`md1 raid5 3 of 4, recovery 42.0 %, 1:14:00 left`."""
    text = f"{array.name} {array.level}"
    if array.working is not None and array.members is not None:
        text += " " + t("ui.nfs.of_count", got=array.working, of=array.members)
    if array.degraded:
        text += " " + t("ui.nfs.degraded")
    if array.action:
        text += f", {array.action}"
        if array.progress_percent is not None:
            text += f" {array.progress_percent:.0f} %"
        if array.eta_s is not None:
            text += ", " + t("ui.nfs.left", left=clock_span(array.eta_s))
    return text
