"""Glyphs, in Unicode and in ASCII. A glyph never stands without its word.

ASCII is used when the locale is not UTF-8, on the Linux console, and where the terminal takes two cells for an
ambiguous glyph. The locale is read as text from the environment; setlocale is never called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """One set; strings of one cell unless said otherwise."""

    name: str
    ok: str
    idle: str
    busy: str
    warn: str
    error: str
    unknown: str
    stale: str
    done: str
    ruled_out: str
    rule: str
    focus: str
    progress: str
    dotted: str
    """A trend that has stopped."""
    none: str
    """In place of a value that is not known."""
    ellipsis: str
    levels: str
    """Heights of a column from the lowest to the highest, for trends."""
    full: str
    over: str
    """Above the scale."""
    gpu: str
    proc: str
    shm: str
    kern: str
    cache: str
    free: str
    cursor: str
    times: str
    degree: str


UNICODE = Glyphs(
    name="unicode",
    ok="●", idle="○", busy="◐", warn="▲", error="✖",
    unknown="?", stale="◷", done="✔", ruled_out="×",
    rule="─", focus="━", progress="━", dotted="┄", none="—", ellipsis="…",
    levels="▁▂▃▄▅▆▇", full="█", over="▔",
    gpu="▇", proc="▆", shm="▅", kern="▄", cache="▃", free="▁",
    cursor="›", times="×", degree="°",
)  # fmt: skip

ASCII = Glyphs(
    name="ascii",
    ok="*", idle="o", busy="%", warn="!", error="x",
    unknown="?", stale="~", done="+", ruled_out="-",
    rule="-", focus="=", progress="=", dotted=".", none="-", ellipsis="~",
    levels="_.:|#", full="#", over="^",
    gpu="G", proc="P", shm="S", kern="K", cache="c", free=".",
    cursor=">", times="x", degree=" ",
)  # fmt: skip


def locale_is_utf8(environment: Mapping[str, str]) -> bool:
    """Whether LC_ALL, LC_CTYPE or LANG name UTF-8.

    CPython sets LC_CTYPE=C.UTF-8 by itself in a C locale (PEP 538); that says nothing of the terminal.
    """
    value = environment.get("LC_ALL") or ""
    if not value:
        value = environment.get("LC_CTYPE") or ""
        coerced = value in ("C.UTF-8", "C.utf8", "UTF-8") and environment.get("LANG", "") in ("", "C", "POSIX")
        if not value or coerced:
            value = environment.get("LANG") or ""
    return "utf-8" in value.lower() or "utf8" in value.lower()


def choose(environment: Mapping[str, str], cells: int | None = None) -> Glyphs:
    """The set for this terminal; `cells` is what an ambiguous glyph was measured to take, None if unmeasured."""
    if environment.get("TERM") == "linux" or (cells is not None and cells != 1):
        return ASCII
    return UNICODE if cells == 1 or locale_is_utf8(environment) else ASCII
