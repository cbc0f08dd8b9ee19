"""One module a pane, found by folder: `PANE` in each says its key, name and what it draws.

A new pane is a new file; the registry and its test pick it up.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dsv41_tui.ui.view import Box, Sheet, View
from dsv41_tui.ui.widgets.sheet import SheetWidget


@dataclass(frozen=True)
class PaneSpec:
    """What a pane module says of itself."""

    key: int
    """The digit that goes to it; also its place on the page."""
    id: str
    unit: str
    """Units of its numbers, said once."""
    draw: Callable[[View, Box], Sheet]
    """Pure: the rows for a box, in overview form or, in a large box, in large form."""
    wants: Callable[[View, int], int]
    """Rows that the overview form needs at a width, its title included."""
    likes: Callable[[View, int], int]
    """Rows that it can fill with more of the same, where there is room."""
    mark: Callable[[View], tuple[str, str]]
    """Glyph and style of the tab: the worst state in the pane; empty where nothing is known."""
    widget: type[SheetWidget] = SheetWidget
    """What it is on the screen, if more than a sheet."""


@lru_cache(maxsize=1)
def panes() -> tuple[PaneSpec, ...]:
    """All panes in the order of their keys."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        spec = importlib.import_module(f"{__name__}.{module.name}").PANE
        assert isinstance(spec, PaneSpec)
        found.append(spec)
    return tuple(sorted(found, key=lambda spec: spec.key))
