"""One finding in full: what, evidence, causes with their likelihood, and the fix with whole commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.cells import MEASURE, cut, safe, wrap, wrap_command
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.logs.lines import time_text
from dsv41_tui.ui.pages import book, evidence
from dsv41_tui.ui.palette import Ground
from dsv41_tui.ui.view import Box, Rows, Sheet, View

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Cause, Finding

LABEL = 12
_HERE = ("link-refused", "link-unreachable", "link-timed-out")
"""Findings of a connection."""
_TINTS: dict[str, Ground] = {"error": "tint-error", "warn": "tint-warning"}
CAUSE, NAME = 14, 30
"""Columns of a cause's name and width of it."""
_LIKELIHOOD = {
    "confirmed": ("ok", "error+bold"),
    "likely": ("busy", "warning"),
    "possible": ("idle", "text"),
    "ruled-out": ("ruled_out", "text-muted"),
}


def draw(view: View, box: Box) -> Sheet:
    """The page of the chosen finding."""
    rows = Rows(view, box)
    finding = view.finding
    if finding is None:
        rows.add(rows.line().put(t("ui.finding.gone"), "text-muted"))
        return rows.sheet(fixed=0)
    _what(rows, finding)
    _evidence(rows, finding)
    _causes(rows, finding)
    _fix(rows, finding)
    return rows.sheet(fixed=0)


def _what(rows: Rows, finding: Finding) -> None:
    """In the words of the failure book where it has them; then where, how bad, since when and how often."""
    view = rows.view
    rule = book.rule(view, finding)
    _paragraph(rows, t("ui.finding.what"), finding.title, "text+bold")
    if rule is not None and (what := book.said(rule.what)):
        _paragraph(rows, "", what, "text")
    of = t("ui.of", got=view.chosen % len(view.findings) + 1, of=len(view.findings))
    facts = [finding.node, t(f"ui.severity.{finding.severity}"), of, _since(view, finding)]
    _paragraph(rows, "", f"{t('ui.list').join(fact for fact in facts if fact)}   {finding.id}", "text-muted")


def _since(view: View, finding: Finding) -> str:
    """When it was first seen in a log and how often; how often alone where no log shows it."""
    seen = book.occurrence(view, finding)
    count = max(finding.count, seen.count if seen else 1)
    if seen is None:
        return t("ui.finding.times", count=count) if count > 1 else ""
    at = time_text(int(seen.first_at), view.wall.date(), view.wall.tzinfo)
    if count == 1:
        return t("ui.finding.once", at=at)
    last = time_text(int(seen.last_at), view.wall.date(), view.wall.tzinfo)
    return t("ui.finding.since", at=at, count=count, last=last)


def section(rows: Rows, name: str, right: str = "") -> None:
    """A blank row, and a name with its rule."""
    rows.blank()
    line = rows.line().put(name, "text+bold").gap()
    end = rows.box.width - (Line(rows.view.ink, 1).put(right).column + 1 if right else 0)
    line.put(rows.view.ink.glyphs.rule * max(0, end - line.column), "rule")
    rows.add(line.gap().put(right, "text-muted") if right else line)


def _paragraph(rows: Rows, label: str, text: str, style: str, label_style: str = "text-muted") -> None:
    room = min(MEASURE, rows.box.width - LABEL)
    for index, part in enumerate(wrap(safe(text), room)):
        line = rows.line()
        if index == 0:
            line.put(label, label_style)
        rows.add(line.to(LABEL).put(part, style))


def _evidence(rows: Rows, finding: Finding) -> None:
    """The line that shows it on a tint, what was folded under it, then the readings."""
    if not finding.evidence and not finding.first_line:
        return
    section(rows, t("ui.finding.evidence"))
    before = len(rows.rows)
    others = [item for item in finding.evidence if item.line and item.line != finding.first_line]
    if finding.first_line:
        evidence.first_line(rows, finding, LABEL)
    elif others:
        evidence.line(rows, others.pop(0), LABEL, _TINTS.get(finding.severity, "background"))
    if finding.first_line and finding.count > 1:
        more = t("ui.finding.more_lines", count=finding.count - 1)
        _paragraph(rows, more, t("ui.finding.folded"), "text-muted")
    for item in others:
        evidence.line(rows, item, LABEL)
    readings = [item for item in finding.evidence if item.reading]
    if readings and len(rows.rows) > before:
        rows.blank()
    evidence.readings(rows, readings, LABEL)


def _causes(rows: Rows, finding: Finding) -> None:
    if not finding.causes:
        return
    section(rows, t("ui.finding.causes"))
    for cause in finding.causes:
        _cause(rows, cause)


def _cause(rows: Rows, cause: Cause) -> None:
    """Likelihood, name, and the reading that speaks for or against it; on a small screen the name has its own row."""
    glyph, style = _LIKELIHOOD[cause.likelihood]
    label = f"{getattr(rows.view.ink.glyphs, glyph)} {t(f'ui.likelihood.{cause.likelihood}')}"
    quiet = cause.likelihood == "ruled-out"
    wide = rows.box.width >= 100
    start = CAUSE + NAME if wide else CAUSE
    line = rows.line().put(label, style).to(CAUSE)
    line.put(
        cut(safe(_name(rows.view, cause)), NAME - 2 if wide else rows.box.width - CAUSE),
        "text-muted" if quiet else "text+bold",
    )
    if not wide:
        rows.add(line)
        line = rows.line()
    for part in wrap(safe(cause.why), min(MEASURE, rows.box.width - start)):
        rows.add(line.to(start).put(part, "text-muted" if quiet else "text"))
        line = rows.line()


def _name(view: View, cause: Cause) -> str:
    """In words: of the catalogue, else of the failure book, else the id."""
    key = f"ui.cause.{cause.cause_id}"
    name = t(key)
    if name != key:
        return name
    return book.cause_title(view, cause.cause_id) or cause.cause_id.replace("_", " ")


def _fix(rows: Rows, finding: Finding) -> None:
    section(rows, t("ui.finding.fix"), t("ui.finding.restart" if finding.fix.restart else "ui.finding.no_restart"))
    _paragraph(rows, "", finding.fix.text, "text")
    if finding.fix.commands and (place := _place(finding)):
        _paragraph(rows, "", place, "text+bold")
    for index, text in enumerate(finding.fix.commands, 1):
        for part_index, part in enumerate(wrap_command(safe(text), rows.box.width - LABEL)):
            line = rows.line()
            if part_index == 0:
                line.put(str(index), "primary+bold")
            rows.add(line.to(LABEL).put(part, "code"))
    if finding.fix.plan:
        rows.blank()
        _paragraph(rows, t("ui.finding.plan"), t("ui.finding.plan_later", name=finding.fix.plan), "text-muted")


def _place(finding: Finding) -> str:
    """Where the commands run, in full: what mends a connection is typed on the operator's own machine."""
    if finding.id in _HERE:
        return t("ui.finding.here")
    return t("ui.finding.on", node=finding.node) if finding.node else ""


def as_text(finding: Finding) -> str:
    """What `y` copies: the commands, else the fix in words."""
    return "\n".join(finding.fix.commands) or f"{finding.title}\n{finding.fix.text}"
