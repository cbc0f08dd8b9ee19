"""Evidence of a finding: log lines with rank and level, and readings as small tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from dsv41_tui.ui.cells import safe, wrap
from dsv41_tui.ui.logs import brief
from dsv41_tui.ui.logs.lines import LEVEL_STYLES, time_text
from dsv41_tui.ui.logs.scope import named
from dsv41_tui.ui.pages import book
from dsv41_tui.ui.palette import Ground
from dsv41_tui.ui.view import Rows

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Evidence, Finding

LINES_MOST = 6
"""Rows of one log line; the log view has the rest."""
COLUMN_GAP = 4
_PAIR = re.compile(r"([A-Za-z/][\w ./()%-]{0,40}?) (-?[\d.,]+(?: ?[A-Za-z/%]{1,8})?|unlimited)")
"""`MemFree 1.1 GiB`: a name and a number with its unit."""


def first_line(rows: Rows, finding: Finding, start: int) -> None:
    """The line that shows it, on the tint of its severity: time, rank, level, text."""
    view = rows.view
    line, seen = brief.line_of(view, finding), book.occurrence(view, finding)
    ground: Ground = "tint-error" if finding.severity == "error" else "tint-warning"
    label, rank, level = "", seen.rank if seen else None, ""
    name = f"r{rank}" if rank is not None else ""
    if line is not None:
        source = named(view).get(line.source)
        at = line.seen_at if line.at is None else line.at - (source.offset_s if source else 0.0)
        label, level = time_text(int(at), view.wall.date(), view.wall.tzinfo), line.level
        name = source.label if source else name
    elif seen is not None:
        label = time_text(int(seen.first_at), view.wall.date(), view.wall.tzinfo)
    _text(rows, label, (name, level), finding.first_line or "", start, ground)


def line(rows: Rows, item: Evidence, start: int, ground: Ground = "background") -> None:
    """Another line; its source beside it."""
    source = named(rows.view).get(item.source)
    label, name = ("", source.label) if source else (safe(item.source), "")
    if cell_len(label) >= start:
        rows.add(rows.line(ground).put(label, "text-muted"))
        label = ""
    _text(rows, label, (name, ""), item.line or "", start, ground)


def _text(rows: Rows, label: str, head: tuple[str, str], text: str, start: int, ground: Ground) -> None:
    name, level = head
    row = rows.line(ground).put(label, "text-muted").to(start)
    if name:
        row.put(name, "accent").gap()
    if level:
        row.put(level, LEVEL_STYLES.get(level, "text-muted")).gap()
    column = row.column
    style = "text-muted" if ground == "background" else "text"
    for part in wrap(safe(text[:4096]), max(8, rows.box.width - column))[:LINES_MOST]:
        rows.add(row.to(column).put(part, style))
        row = rows.line(ground)


def readings(rows: Rows, items: Sequence[Evidence], start: int) -> None:
    """Each with its source; several numbers of one source are columns."""
    if not items:
        return
    wide = max(start, *(cell_len(safe(item.source)) + 2 for item in items))
    column = min(wide, rows.box.width // 3)
    for item in items:
        pairs = _pairs(item.reading or "")
        if pairs and sum(max(map(cell_len, pair)) + COLUMN_GAP for pair in pairs) <= rows.box.width - column:
            _table(rows, item.source, pairs, column)
        else:
            row = rows.line().fit(item.source, column - 1, "text-muted")
            for part in wrap(safe(item.reading or ""), rows.box.width - column):
                rows.add(row.to(column).put(part))
                row = rows.line()


def _pairs(reading: str) -> list[tuple[str, str]]:
    """Names and values where all of the reading is such pairs, and more than one."""
    found = [_PAIR.fullmatch(part) for part in safe(reading).split(", ")]
    pairs = [(match[1], match[2]) for match in found if match]
    return pairs if len(pairs) == len(found) > 1 else []


def _table(rows: Rows, source: str, pairs: list[tuple[str, str]], start: int) -> None:
    head, values = rows.line(), rows.line().fit(source, start - 1, "text-muted")
    column = start
    for name, value in pairs:
        head.to(column).put(name, "text-muted")
        values.to(column).put(value, "text+bold")
        column += max(cell_len(name), cell_len(value)) + COLUMN_GAP
    rows.add(head)
    rows.add(values)
