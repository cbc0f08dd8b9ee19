"""What rows are painted with: a rich Style for each role, on each ground, and the glyphs.

Each hue has one job: `primary` what can be pressed and where you are, `success` `warning` `error`
verdicts only, `accent` the rank, `code` commands, `mem-*` segments of the memory bar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.style import Style

from dsv41_tui.ui.glyphs import Glyphs
from dsv41_tui.ui.themes import ThemeFile

Ground = Literal["background", "surface", "panel", "tint-error", "tint-warning"]
PILLS = {"pill-success": "success", "pill-warning": "warning", "pill-error": "error", "pill-primary": "primary"}


@dataclass(frozen=True, eq=False)
class Palette:
    """Styles by name: a role, with `+bold` or `+italic` behind it, or a pill. Compared by identity."""

    theme: ThemeFile
    glyphs: Glyphs

    def style(self, name: str, ground: Ground = "background") -> Style:
        """`name` is `text`, a theme role, a pill (`pill-error`), each with optional `+bold`, `+italic`."""
        return _style(self, name, ground)


@lru_cache(maxsize=2048)
def _style(palette: Palette, name: str, ground: Ground) -> Style:
    colours = palette.theme.colours
    role, *attributes = name.split("+")
    bold, italic = "bold" in attributes or None, "italic" in attributes or None
    if role in PILLS:
        return Style(color=colours["background"], bgcolor=colours[PILLS[role]], bold=True)
    colour = colours["foreground"] if role == "text" else colours[role]
    return Style(color=colour, bgcolor=colours[ground], bold=bold, italic=italic)
