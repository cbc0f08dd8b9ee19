"""The answer of `free`: its table, one line of it, its columns as a list."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import CJK, NUMBER, UNIT, Notes, Rule, number, of_a_node, rule, to_bytes

_COLUMNS = {
    "total": "mem_total", "free": "mem_free", "available": "mem_available", "shared": "shmem",
    "buff/cache": "cached", "cached": "cached",
}  # fmt: skip


def _free_head(match: re.Match[str], notes: Notes) -> None:
    notes.tables["free"] = match[0].lower().split()


def _free_row(match: re.Match[str], notes: Notes) -> None:
    """`free` in any unit: with suffixes as `-h` gives them, else told by the size of the total."""
    cells = re.findall(rf"(?<![\w.])({NUMBER})({UNIT})?", match["rest"], re.IGNORECASE)
    head = notes.tables.get("free") or ["total", "used", "free", "shared", "buff/cache", "available"]
    if len(cells) < 3 or not cells:
        return
    total = number(cells[0][0])
    factor = of_a_node(total) / total if total and not cells[0][1] else 1.0
    row = dict(zip(head, cells, strict=False))
    for column, name in _COLUMNS.items():
        if column in row:
            text, unit = row[column]
            notes.memory(name, to_bytes(text, unit, lambda value: round(value * factor)))


def _swap_row(match: re.Match[str], notes: Notes) -> None:
    total, _, free = (to_bytes(match[f"n{at}"], match[f"u{at}"]) for at in (1, 2, 3))
    if total >= free:
        notes.snapshots[-1]["swap_free"] = free


_CELL = rf"(?:{NUMBER}(?: ?{UNIT})?)"
_COLUMN = r"(?:total|used|free|shared|buffers|buff/cache|buff|cached|cache|available|avail)"
_LISTED = rf"(?:{NUMBER}(?: ?[KMGT]i?B?)?)"
"""A cell before a slash, which is no unit of a rate."""
_ALIAS = {"avail": "available", "cache": "buff/cache", "buff": "buff/cache"}
_FLAG = {"b": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3}


def _cells(names: list[str], cells: list[tuple[str, str]], line: str, notes: Notes) -> None:
    """Values by their columns; without units by the flag of the call, else by the largest one's size."""
    largest = max((float(text.replace(",", "")) for text, unit in cells if not unit), default=0.0)
    flag = re.search(r"\bfree -[a-z]{0,3}?([bkmg])\b", line, re.IGNORECASE)
    factor = _FLAG[flag[1].lower()] if flag else of_a_node(largest) / largest if largest else 1.0
    for column, (text, unit) in zip(names, cells, strict=True):
        if name := _COLUMNS.get(_ALIAS.get(column, column)):
            notes.memory(name, to_bytes(text, unit, lambda value: round(value * factor)))


def _line(match: re.Match[str], notes: Notes) -> None:
    """`total 121 used 5 free 2 buff/cache 114 available 115`."""
    pairs = re.findall(rf"({_COLUMN})[ :=]{{1,3}}({NUMBER}) ?({UNIT})?", match[0], re.IGNORECASE)
    if len(pairs) >= 3 and len({name.lower() for name, _, _ in pairs}) == len(pairs):
        _cells([name.lower() for name, _, _ in pairs], [(text, unit) for _, text, unit in pairs], notes.line, notes)


def _reversed(match: re.Match[str], notes: Notes) -> None:
    """`free -g says 2 free, 113 buff/cache and 114 available`."""
    pairs = re.findall(rf"({NUMBER}) ?({UNIT})? ({_COLUMN})\b", match[0], re.IGNORECASE)
    if len({name.lower() for _, _, name in pairs}) == len(pairs) >= 2 and not any(unit for _, unit, _ in pairs):
        _cells([name.lower() for _, _, name in pairs], [(text, unit) for text, unit, _ in pairs], notes.line, notes)


def _slashes(match: re.Match[str], notes: Notes) -> None:
    """`free/buff/available: 2G / 114G / 115G`; `buff/cache` is one column."""
    names = re.split(r" ?/ ?", match["names"].lower())
    cells = re.findall(rf"({NUMBER}) ?([KMGT]i?B?)?", match["cells"], re.IGNORECASE)
    if len(names) == len(cells) + 1 and "buff" in names and "cache" in names:
        names.remove("cache")
    if len(names) == len(cells) and any(unit for _, unit in cells):
        _cells(names, cells, notes.line, notes)


_SWAP_CELL = r"\s{{1,24}}(?P<n{0}>\d{{1,16}}(?:\.\d{{1,3}})?)(?P<u{0}>[KMGT]i?B?|B)?"
RULES: tuple[Rule, ...] = (
    rule("total", r"^\s{2,24}total\s{1,16}used\s{1,16}free\b.{0,80}$", _free_head, every=True),
    rule(
        f"mem {CJK}",
        r"^\s{0,8}(?:Mem|記憶體|内存)[:：]\s{1,24}(?P<rest>\d[\d.,KMGTiB ]{4,140})$",
        _free_row, every=True,
    ),
    rule("swap", rf"^\s{{0,8}}Swap:{''.join(_SWAP_CELL.format(at) for at in (1, 2, 3))}", _swap_row, every=True),
    rule("total used", rf"\b{_COLUMN}[ :=]{{1,3}}{_CELL}(?:[ ,;|]{{1,4}}{_COLUMN}[ :=]{{1,3}}{_CELL}){{2,7}}", _line,
         every=True),
    rule("free", rf"\bfree -[a-z]{{0,3}}[bkmg]\b[^\n\d]{{0,16}}{_CELL} {_COLUMN}\b[^\n]{{0,100}}", _reversed,
         every=True),
    rule(
        "free available avail",
        rf"\b(?P<names>{_COLUMN}(?: ?/ ?{_COLUMN}){{1,6}})[ :=]{{1,4}}(?P<cells>{_LISTED}(?: ?/ ?{_LISTED}){{1,6}})",
        _slashes, every=True,
    ),
)  # fmt: skip
