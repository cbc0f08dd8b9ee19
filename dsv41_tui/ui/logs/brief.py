"""The log where there is no room for the log view: lines of findings, and the last lines of the worst scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.strip import Strip

from dsv41_tui.ui.logs import lines
from dsv41_tui.ui.logs.scope import ALL, Scope, named
from dsv41_tui.ui.logs.timeline import Entry, Wanted
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Finding
    from dsv41_tui.core.log import LogLine

BACK = 400
"""Lines of the ring that are looked at for a few of one scope."""


def tints(view: View) -> dict[int, str]:
    """Severity by line number, for the lines that findings name; the worst wins."""
    found: dict[int, str] = {}
    for finding in view.findings:
        if finding.log_number is not None:
            found.setdefault(finding.log_number, finding.severity)
    return found


def finding_of(view: View, number: int) -> int | None:
    """Index of the finding that names this line."""
    for index, finding in enumerate(view.findings):
        if finding.log_number == number:
            return index
    return None


def line_of(view: View, finding: Finding) -> LogLine | None:
    """The line of a finding, if the ring still has it."""
    number = finding.log_number
    if number is None or view.logs is None:
        return None
    found = view.logs.lines(number, number + 1)
    return found[0] if found else None


def worst_scope(view: View) -> Scope:
    """The node of the worst finding, if it has a log; else all."""
    sources = view.state.log_sources if view.state else ()
    nodes = {source.node for source in sources}
    worst = next((finding.node for finding in view.findings if finding.severity == "error"), None)
    return Scope("node", worst) if worst in nodes and worst is not None else ALL


def offsets(view: View) -> Mapping[str, float]:
    """How far each source's clock is ahead."""
    return {key: name.offset_s for key, name in named(view).items()}


def last_lines(view: View, width: int, count: int, scope: Scope = ALL) -> list[Strip]:
    """The last lines of a scope, oldest first."""
    if view.logs is None or view.state is None or count <= 0:
        return []
    names = named(view)
    ids = scope.ids(view.state.log_sources)
    picked: list[Entry] = Wanted(ids, offsets=offsets(view)).picks(
        view.logs.lines(max(view.logs.first, view.logs.end - BACK), view.logs.end)
    )
    look = lines.Look(width, label=lines.label_cells(names, ids))
    tint, made = tints(view), []
    for entry in picked[-count:]:
        name = names.get(entry[2].source, lines.NOBODY)
        made += lines.rows(view, entry, name, look, tint=tint.get(entry[1], ""))
    return made
