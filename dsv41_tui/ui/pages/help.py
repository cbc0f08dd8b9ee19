"""The help of a view, from its bindings: what can be pressed there, and what the glyphs mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dsv41_tui.core.messages import t
from dsv41_tui.ui.bindings import Hint, shown
from dsv41_tui.ui.cells import wrap
from dsv41_tui.ui.pages.finding import section
from dsv41_tui.ui.view import Box, Rows, Sheet, View

LEGEND = (
    ("ok", "success"), ("idle", "text-muted"), ("busy", "primary"), ("warn", "warning"), ("error", "error"),
    ("unknown", "warning"), ("stale", "warning"), ("none", "text-muted"),
)  # fmt: skip


def drawing(hints: Sequence[Hint]) -> Callable[[View, Box], Sheet]:
    """The help page of these keys."""

    def draw(view: View, box: Box) -> Sheet:
        rows = Rows(view, box)
        merged = _merged(hints)
        start = max((len(shown(hint)) for hint in merged), default=8) + 2
        rows.add(rows.line().put(t("ui.help.intro"), "text-muted"))
        rows.blank()
        for hint in merged:
            for index, part in enumerate(wrap(hint.tip, box.width - start)):
                line = rows.line()
                if index == 0:
                    line.put(shown(hint), "primary+bold")
                rows.add(line.to(start).put(part))
        section(rows, t("ui.help.glyphs"))
        for name, style in LEGEND:
            line = rows.line().put(getattr(view.ink.glyphs, name), style)
            rows.add(line.to(start).put(t(f"ui.help.glyph.{name}")))
        return rows.sheet(fixed=0)

    return draw


def _merged(hints: Sequence[Hint]) -> list[Hint]:
    """Keys that say the same stand together: ten digits are one line."""
    found: dict[str, Hint] = {}
    for hint in hints:
        before = found.get(hint.tip)
        keys = (*before.keys, *hint.keys) if before else hint.keys
        found[hint.tip] = Hint(keys, hint.text, hint.tip, hint.place)
    return list(found.values())
