"""Options of the mounts, asked for and obtained: a lower value obtained is coloured. Equal lines are said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import cut_front, safe, take
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.nfs.mounts import Entry, options_short
from dsv41_tui.ui.numbers import size_option
from dsv41_tui.ui.pane import labelled
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets.table import Cell

if TYPE_CHECKING:
    from dsv41_tui.core.model import NfsMount


def write(rows: Rows, found: Sequence[Entry], room: int) -> None:
    """One note for each place that is mounted alike on several nodes, at most `room` of them."""
    groups: dict[tuple[str, tuple[Clause, ...]], list[Entry]] = {}
    for entry in found:
        if entry.mount.mounted and entry.mount.got:
            groups.setdefault((entry.place, parts(entry.mount)), []).append(entry)
    several = len({entry.node.name for entry in found}) > 1
    split = {place for place, _ in groups if sum(1 for other, _ in groups if other == place) > 1}
    ordered = sorted(groups.items(), key=lambda item: not any(lacking(entry.mount) for entry in item[1]))
    hidden = ordered[room - 1 :] if len(ordered) > room else []
    for (place, told), group in ordered[: len(ordered) - len(hidden)]:
        who = " ".join(entry.node.name for entry in group) + " " if several and place in split else ""
        label, head = place, who
        if cell_len(safe(place)) >= rows.view.label:
            label, head = t("ui.nfs.mount"), f"{who}{place} "
        clauses(rows, label, [((head, "text"), *told[0]), *told[1:]])
    if hidden:
        rows.add(rows.line().to(rows.view.label).put(t("ui.nfs.more_options", count=len(hidden)), "text-muted"))


def lacking(mount: NfsMount) -> bool:
    """Whether less was obtained than was asked for."""
    return any(got is not None and asked is not None and got < asked for _, got, asked in obtained(mount))


Clause = tuple[Cell, ...]


def clauses(rows: Rows, label: str, told: Sequence[Clause]) -> None:
    """Clauses with commas between them over as many rows as they need; a clause is never cut in two."""
    view, width = rows.view, rows.box.width
    line = rows.line().put(cut_front(safe(label), view.label - 1, view.ink.glyphs.ellipsis), "text-muted")
    line.to(view.label)
    for index, clause in enumerate(told):
        cells = sum(cell_len(safe(text)) for text, _ in clause) + 1
        if line.column > view.label and line.column + cells > width:
            rows.add(line)
            line = rows.line().to(view.label)
        for text, style in clause:
            line = _put(rows, line, safe(text), style)
        if index < len(told) - 1:
            line.put(", " if line.column + 2 < width else ",", "text-muted")
    rows.add(line)


def _put(rows: Rows, line: Line, text: str, style: str) -> Line:
    """Write text that may be longer than a row: nothing of it is lost."""
    while line.column + cell_len(text) > rows.box.width:
        head = take(text, rows.box.width - line.column)
        rows.add(line.put(head, style))
        line, text = rows.line().to(rows.view.label), text[len(head) :]
    return line.put(text, style)


def parts(mount: NfsMount) -> tuple[Clause, ...]:
    """Source, version and kind, then what was obtained of what was asked for."""
    made: list[Clause] = [((mount.source, "text-muted"),), ((options_short(mount), "text-muted"),)]
    for name, got, asked in obtained(mount):
        made.append(((f"{name} ", "text-muted"), *_of(got, asked)))
    return tuple(made)


def obtained(mount: NfsMount) -> list[tuple[str, int | None, int | None]]:
    """nconnect (xprt lines are counted), rsize, wsize: obtained and asked for, in counts and bytes."""
    from dsv41_tui.core.health.mounts import connections, number  # pydantic's weight, after the first frame

    found = [("nconnect", connections(mount), number(mount.asked, "nconnect"))]
    for name in ("rsize", "wsize"):
        got, asked = number(mount.got, name), number(mount.asked, name)
        if name == "wsize" and asked in (None, got) and mount.got.get("wsize") == mount.got.get("rsize"):
            continue
        found.append((name, got, asked))
    return found


def _of(got: int | None, asked: int | None) -> list[Cell]:
    """`8 of 8`; less than asked for in warning."""
    text = size_option(None if got is None else str(got))
    if asked is None:
        return [(text, "text")]
    style = "warning+bold" if got is not None and got < asked else "text"
    return [(text, style), (t("ui.nfs.of"), "text-muted"), (size_option(str(asked)), "text")]


def unused(rows: Rows, view: View) -> None:
    """Docker volumes that are defined and that no container uses."""
    owners: dict[str, list[str]] = {}
    for node in view.boxes:
        for mount in node.nfs:
            if mount.state == "unused":
                owners.setdefault(mount.volume or mount.mount_point, []).append(node.name)
    for volume, nodes in owners.items():
        text = t("ui.nfs.unused", volume=volume, nodes=t("ui.list").join(nodes))
        labelled(rows, t("ui.nfs.unused_label"), text, style="text-muted")


def probes(rows: Rows, found: Sequence[Entry]) -> None:
    """While something hangs: that one probe waits on it and no more are sent."""
    if any(entry.mount.state == "not-responding" for entry in found):
        labelled(rows, t("ui.nfs.probes"), t("ui.nfs.probes_wait"), style="text-muted")
