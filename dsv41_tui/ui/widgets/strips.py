"""The rows around the panes: header, clock, worst finding, tabs, footer. Each is pure rows in a widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.strip import Strip

from dsv41_tui.core.messages import t
from dsv41_tui.ui.bindings import Hint, shown
from dsv41_tui.ui.cells import cut, cut_word, safe, wrap
from dsv41_tui.ui.line import Line, blank
from dsv41_tui.ui.logs.lines import time_text
from dsv41_tui.ui.numbers import gib, short_age
from dsv41_tui.ui.pages import book
from dsv41_tui.ui.palette import Ground
from dsv41_tui.ui.standing import node_standing, pill
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Finding

ANSWERING = ("fine", "idle", "slow")
LINES = 3
"""From so many rows on a long title goes on in the second one."""
CLOCK = 9
"""Cells of the clock with its right margin."""
_GROUNDS: dict[str, Ground] = {"error": "tint-error", "warn": "tint-warning", "info": "background"}
_COLOURS = {"error": "error", "warn": "warning", "info": "text-muted"}


def header(view: View, width: int) -> Strip:
    """Name, cluster, pill, proofs, findings; the clock stands beside it in its own widget."""
    line = view.line(width, "surface").gap().put("dsv41", "primary+bold").gap(2)
    right = _count(view)
    room = width - cell_len(right[0]) - 3
    if view.state is not None:
        line.put(cut(safe(view.state.name), max(4, room // 4), view.ink.glyphs.ellipsis), "text-muted").gap(2)
        if width >= 100:
            line.put(t("ui.header.nodes", count=len(view.boxes)), "text-muted").gap(2)
    told = pill(view)
    line.put(f" {told.text} ", told.style).put("  ", "text")
    for pieces in _proofs(view):
        if line.column + sum(cell_len(text) for text, _ in pieces) + 2 > room:
            break
        for text, style in pieces:
            line.put(text, style)
        line.put("   ", "text-muted")
    if line.column + cell_len(right[0]) + 2 > width:
        return line.strip()
    return line.right(right[0], width - 2, right[1]).strip()


def _count(view: View) -> tuple[str, str]:
    glyphs = view.ink.glyphs
    bad = [finding for finding in view.findings if finding.severity != "info"]
    if not bad and view.findings:
        count = len(view.findings)
        text = t("ui.header.note" if count == 1 else "ui.header.notes", count=count)
        return f"{glyphs.idle} {text}", "text-muted"
    if not bad:
        return ("", "text-muted") if view.state is None else (t("ui.header.no_findings"), "text-muted")
    error = bad[0].severity == "error"
    key = "ui.header.finding" if len(bad) == 1 else "ui.header.findings"
    text = t(key, count=len(bad))
    return f"{glyphs.error if error else glyphs.warn} {text}", "error+bold" if error else "warning+bold"


def _proofs(view: View) -> list[list[tuple[str, str]]]:
    """Two to four readings that carry the pill; figures that seldom change, since the header is one long row."""
    if view.state is None:
        return []
    proofs = []
    if view.paused_s is not None:
        text = f"{view.ink.glyphs.stale} {t('ui.header.paused', age=short_age(view.paused_s))}"
        proofs.append([(text, "warning+bold")])
    read = sum(1 for node in view.nodes if node_standing(node, view).level == "ok")
    style = "text" if read == len(view.nodes) else "warning"
    of = t("ui.of", got=read, of=len(view.nodes))
    proofs.append([(of, style), (f" {t('ui.header.read')}", "text-muted")])
    lows = [node.low_available.value for node in view.boxes if node.low_available]
    if lows:
        proofs.append([(f"{t('ui.header.lowest')} ", "text-muted"), (gib(min(lows)), "text"), (" GiB", "text-muted")])
    mounts = [mount for node in view.boxes for mount in node.nfs if mount.mounted]
    if mounts:
        good = sum(1 for mount in mounts if mount.state in ANSWERING)
        style = "text" if good == len(mounts) else "warning"
        proofs.append([("NFS ", "text-muted"), (t("ui.of", got=good, of=len(mounts)), style)])
    return proofs


def clock(view: View, text: str, width: int) -> Strip:
    return view.line(width, "surface").put(text).strip()


def finding_rows(view: View, width: int, height: int, *, opens: bool = True) -> list[Strip]:
    """The worst finding, or the chosen one: what failed and why in one row; where there are more, what to do as well.

    `opens` says whether Enter opens it here.
    """
    finding = view.finding
    if finding is None:
        return [_quiet(view, width), *(blank(view.ink, width) for _ in range(height - 1))]
    ground = _GROUNDS[finding.severity]
    line = _finding_head(view, finding, width)
    hints = _finding_hints(view, width, opens=opens)
    tail = sum(cell_len(text) for text, _ in hints)
    room, start = width - line.column - tail - 3, line.column
    title = safe(finding.title)
    first = title if cell_len(title) <= room or height < LINES else wrap(title, room)[0]
    line.put(cut_word(first, room, view.ink.glyphs.ellipsis), "text+bold")
    _likelihood(line, finding, start + room)
    _since(view, line, finding, start + room)
    line.to(width - 1 - tail)
    for text, style in hints:
        line.put(text, style)
    rows = [line.strip()]
    rest = title[len(first) :].strip()
    if rest:
        more = view.line(width, ground).to(start)
        rows.append(more.put(cut_word(rest, width - start - 1, view.ink.glyphs.ellipsis), "text+bold").strip())
    return rows + _do(view, finding, width, height - len(rows))


def _finding_head(view: View, finding: Finding, width: int) -> Line:
    """Glyph and node, in the colour of the severity."""
    glyphs, colour = view.ink.glyphs, _COLOURS[finding.severity]
    glyph = {"error": glyphs.error, "warn": glyphs.warn}.get(finding.severity, glyphs.idle)
    name = finding.node or (view.state.name if view.state else "")
    return view.line(width, _GROUNDS[finding.severity]).gap().put(f"{glyph} {name}", f"{colour}+bold").gap(2)


def _likelihood(line: Line, finding: Finding, end: int) -> None:
    """How sure it is, where there is room for the whole word before `end`."""
    if finding.causes and finding.causes[0].likelihood in ("confirmed", "likely"):
        word = t(f"ui.likelihood.{finding.causes[0].likelihood}")
        if line.column + 3 + cell_len(word) <= end:
            line.gap(3).put(word, "text-muted")


def _since(view: View, line: Line, finding: Finding, end: int) -> None:
    """When a log first showed it and how often, where there is room for all of it."""
    seen = book.occurrence(view, finding)
    if seen is None:
        return
    at = time_text(int(seen.first_at), view.wall.date(), view.wall.tzinfo)
    count = max(seen.count, finding.count)
    text = t("ui.finding.since_short", at=at, count=count) if count > 1 else t("ui.finding.since_once", at=at)
    if line.column + 3 + cell_len(text) <= end:
        line.gap(3).put(text, "text-muted")


def _finding_hints(view: View, width: int, *, opens: bool) -> list[tuple[str, str]]:
    word = t("ui.keys.details") if width >= 100 else t("ui.keys.why")
    hints = [("Enter", "primary+bold"), (f" {word}", "text-muted")] if opens else []
    if len(view.findings) > 1:
        of = f" {view.chosen % len(view.findings) + 1}/{len(view.findings)}" if width >= 100 else ""
        hints += [("  n", "primary+bold"), (f" {t('ui.keys.next')}{of}", "text-muted")]
    return hints


def _do(view: View, finding: Finding, width: int, height: int) -> list[Strip]:
    """What to do, in as many rows as there are."""
    label = t("ui.finding.do")
    start = cell_len(label) + 3
    lines = wrap(safe(finding.fix.text), width - start - 1)
    if len(lines) > height > 0:
        lines = [
            *lines[: height - 1],
            cut_word(" ".join(lines[height - 1 :]), width - start - 1, view.ink.glyphs.ellipsis),
        ]
    lines += [""] * (height - len(lines))
    rows = []
    for index, text in enumerate(lines[:height]):
        line = view.line(width, _GROUNDS[finding.severity]).gap().put(label if index == 0 else "", "text-muted")
        rows.append(line.to(start).put(text).strip())
    return rows


def _quiet(view: View, width: int) -> Strip:
    line = view.line(width).gap()
    if view.trouble is not None:
        line = view.line(width, "tint-error").gap().put(f"{view.ink.glyphs.error} ", "error+bold")
        return line.put(cut_word(safe(view.trouble), width - 4, view.ink.glyphs.ellipsis), "text+bold").strip()
    if view.state is None:
        return line.put("" if view.unset else t("ui.waiting"), "text-muted").strip()
    if any(node_standing(node, view).level != "ok" for node in view.nodes):
        return line.put(t("ui.header.not_all_read"), "text-muted").strip()
    return line.put(t("ui.header.quiet"), "text-muted").strip()


def footer(view: View, hints: Sequence[Hint], message: str, width: int) -> Strip:
    """Keys by groups: looking, acting, quit; at the right what we cost the nodes, or a passing message."""
    line = view.line(width, "surface").gap()
    right = message or cost(view, short=width < 100)
    if cell_len(message) > width // 2:
        return line.put(cut(safe(message), width - 2, view.ink.glyphs.ellipsis)).strip()
    room = width - cell_len(right) - 3
    quit_hint = [hint for hint in hints if hint.place == 99]
    tail = sum(cell_len(shown(hint)) + cell_len(hint.text) + 3 for hint in quit_hint)
    for hint in hints:
        need = cell_len(shown(hint)) + cell_len(hint.text) + 1
        if hint.place == 99 or line.column + need + tail > room:
            continue
        line.put(shown(hint), "primary+bold").put(f" {hint.text}  ", "text-muted")
    for hint in quit_hint:
        line.gap(1).put(shown(hint), "primary+bold").put(f" {hint.text}", "text-muted")
    return line.right(right, width - 1, "text" if message else "text-muted").strip()


def cost(view: View, *, short: bool) -> str:
    """The dearest node's share of us."""
    costs = [node.observer for node in view.nodes if node.observer.cpu_s_per_min is not None]
    if not costs:
        return ""
    seconds = max(observer.cpu_s_per_min or 0.0 for observer in costs)
    sessions = max(observer.sessions for observer in costs)
    key = "ui.footer.cost_short" if short else "ui.footer.cost"
    return t(key, seconds=f"{seconds:.1f}", sessions=sessions)


def tabs(
    view: View, names: Sequence[tuple[str, str, str, str]], active: int, right: Sequence[tuple[str, str]], width: int
) -> list[Strip]:
    """Two rows for small screens: `0 All  1 Memory x`, and a rule that is heavy under the active one.

    `names` holds key, name, glyph and the glyph's style; `right` stands at the rule's end: the filter, the unit.
    What does not fit there whole is left out, the last first.
    """
    glyphs = view.ink.glyphs
    line, under = view.line(width).gap(), view.line(width).gap()
    gap = 3 if width >= 78 else 2
    for index, (key, name, glyph, style) in enumerate(names):
        start = line.column
        here = index == active
        line.put(key, "primary+bold").gap().put(name, "primary+bold" if here else "text")
        if glyph:
            line.gap().put(glyph, style)
        under.put((glyphs.focus if here else glyphs.rule) * (line.column - start), "primary" if here else "rule")
        line.put(" " * gap, "text")
        if index < len(names) - 1:
            under.put(glyphs.rule * gap, "rule")
    while right and under.column + sum(cell_len(safe(text)) for text, _ in right) + 2 > width:
        right = right[:-1]
    tail = sum(cell_len(safe(text)) for text, _ in right)
    under.put(glyphs.rule * max(0, width - 2 - tail - under.column), "rule").gap(1 if tail else 0)
    for text, style in right:
        under.put(text, style)
    return [line.strip(), under.strip()]
