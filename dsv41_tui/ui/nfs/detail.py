"""The large form's last part: of each mount everything that was asked for, obtained and measured."""

from __future__ import annotations

from collections.abc import Sequence

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import wrap
from dsv41_tui.ui.nfs.mounts import Entry
from dsv41_tui.ui.nfs.options import clauses, parts
from dsv41_tui.ui.numbers import short_age
from dsv41_tui.ui.pane import name_style
from dsv41_tui.ui.view import Rows, View


def write(rows: Rows, found: Sequence[Entry]) -> None:
    """Two to three rows a mount."""
    for entry in found:
        line = rows.line().fit(entry.node.name, rows.view.label - 1, name_style(entry.standing.stale, False))
        rows.add(line.to(rows.view.label).put(entry.mount.mount_point, "text"))
        clauses(rows, "", parts(entry.mount))
        text = t("ui.list").join(fact for fact in _facts(entry, rows.view) if fact)
        for part in wrap(text, rows.box.width - rows.view.label) if text else ():
            rows.add(rows.line().to(rows.view.label).put(part, "text-muted"))


def _facts(entry: Entry, view: View) -> list[str]:
    mount, stats = entry.mount, entry.mount.stats
    facts = []
    if mount.asked_source:
        facts.append(t("ui.nfs.asked_by", source=mount.asked_source))
    probe = mount.last_probe
    if probe is not None and probe.took_s is not None:
        facts.append(t("ui.nfs.probe_took", outcome=probe.outcome, ms=f"{probe.took_s * 1000:.0f}"))
    if stats is not None and stats.age_s is not None:
        facts.append(t("ui.nfs.mounted_for", age=short_age(stats.age_s)))
    return facts
