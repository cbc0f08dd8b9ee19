"""Helpers of the tests that draw without a terminal: views, boxes, and the text of strips."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.strip import Strip

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.model import ClusterState
from dsv41_tui.ui import glyphs, themes
from dsv41_tui.ui.palette import Palette
from dsv41_tui.ui.view import View
from tests.ui import states


def palette(theme: str = "ink", marks: glyphs.Glyphs = glyphs.UNICODE) -> Palette:
    return Palette(themes.load()[0][theme], marks)


def view(state: ClusterState | None, findings: tuple[Finding, ...] = (), **more: object) -> View:
    made = View(palette(), states.NOW, states.WALL, state, findings, states.LIMITS)
    return replace(made, **more)  # type: ignore[arg-type]


def text(rows: Iterable[Strip]) -> str:
    return "\n".join(strip.text.rstrip() for strip in rows)


def styles_of(rows: Iterable[Strip], wanted: str) -> list[str]:
    """Foreground colours of the segments that hold `wanted`."""
    return [
        str(segment.style.color.triplet.hex)
        for strip in rows
        for segment in strip
        if wanted in segment.text and segment.style and segment.style.color and segment.style.color.triplet
    ]
