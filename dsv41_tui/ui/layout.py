"""Where panes stand: pure arithmetic over what each of them wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsv41_tui.ui.panes import PaneSpec
from dsv41_tui.ui.view import View

CHROME = 4
"""Header, finding, a blank row, footer."""
MARGIN, GUTTER_X, GUTTER_Y = 1, 4, 1
LEAST = 4


@dataclass(frozen=True)
class Arrangement:
    """Keys of the panes that are shown, in how many columns, and Textual's heights of the rows of panes."""

    shown: tuple[int, ...]
    columns: int
    rows: str
    large: bool


def arrange(specs: Sequence[PaneSpec], view: View, width: int, height: int, alone: int | None) -> Arrangement:
    """One pane alone in its large form, or all in two columns; the upper row of panes takes what it wants."""
    if alone is not None:
        return Arrangement((alone,), 1, "1fr", large=alone != 0)
    pane = (width - 2 * MARGIN - GUTTER_X) // 2
    pairs = [specs[index : index + 2] for index in range(0, len(specs), 2)]
    wanted = [max(spec.wants(view, pane) for spec in pair) for pair in pairs]
    room = height - CHROME - GUTTER_Y * len(pairs) - sum(wanted[1:])
    liked = max(wanted[0], *(spec.likes(view, pane) for spec in pairs[0]))
    wanted[0] = max(LEAST, min(liked, room))
    rows = [str(value) for value in wanted[:-1]] + ["1fr"]
    return Arrangement(tuple(spec.key for spec in specs), 2, " ".join(rows), large=False)
