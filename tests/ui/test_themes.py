"""Themes: the shipped ones can be read by everybody, a bad file is said and skipped."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from rich._palettes import STANDARD_PALETTE
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet

from dsv41_tui import paths
from dsv41_tui.ui import themes
from dsv41_tui.ui.palette import Palette
from tests.ui import drawing, fakes, states

TEXT = ("foreground", "text-muted", "primary", "accent", "code", "success", "warning", "error")
GROUNDS = ("background", "surface", "panel")
TINTS = {"tint-error": ("foreground", "error", "text-muted", "primary"), "tint-warning": ("foreground", "warning")}
PARTS = ("mem-gpu", "mem-proc", "mem-shm", "mem-kern", "mem-cache", "mem-free")
SHIPPED = sorted(file.stem for file in paths.themes().glob("*.toml"))


def luminance(colour: str) -> float:
    """WCAG 2.1 relative luminance of `#rrggbb`."""
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula_is_the_standard_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_text_colour_is_readable_on_every_ground(name: str) -> None:
    colours = themes.load()[0][name].colours
    for ground in GROUNDS:
        for role in TEXT:
            assert contrast(colours[role], colours[ground]) >= 4.5, (role, ground)
    for ground, roles in TINTS.items():
        for role in roles:
            assert contrast(colours[role], colours[ground]) >= 4.5, (role, ground)


@pytest.mark.parametrize("name", SHIPPED)
def test_pills_are_readable(name: str) -> None:
    colours = themes.load()[0][name].colours
    for role in ("success", "warning", "error", "primary"):
        assert round(contrast(colours["background"], colours[role]), 1) >= 6.0


@pytest.mark.parametrize("name", ["ink", "paper"])
def test_parts_of_the_bar_are_seen_and_told_apart_in_grey(name: str) -> None:
    colours = themes.load()[0][name].colours
    for part in PARTS:
        assert contrast(colours[part], colours["background"]) >= 3.0, part
    for left, right in itertools.pairwise(PARTS):
        assert contrast(colours[left], colours[right]) >= 1.3, (left, right)


def test_sixteen_is_made_of_the_sixteen_colours() -> None:
    for role, value in themes.load()[0]["sixteen"].colours.items():
        reduced = Color.parse(value).downgrade(ColorSystem.STANDARD)
        assert reduced.number is not None
        assert Color.from_triplet(ColorTriplet(*STANDARD_PALETTE[reduced.number])).name == value, role


@pytest.mark.parametrize("name", ["ink", "paper"])
def test_text_stays_readable_with_256_colours(name: str) -> None:
    colours = themes.load()[0][name].colours
    reduced = {
        role: Color.parse(value).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex for role, value in colours.items()
    }
    for role in TEXT:
        assert contrast(reduced[role], reduced["background"]) >= 4.0, role


GOOD = (paths.themes() / "ink.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 3", "name is 3"),
        ("name = 'mine'", "no [colours] table"),
        (GOOD.replace('error = "#ff8080"', 'error = "red"'), "error is 'red'"),
        (GOOD.replace('error = "#ff8080"\n', ""), "error is None"),
        (GOOD + 'extra = "#000000"\n', "extra is not a colour"),
        ("name = ", "Invalid value"),
    ],
)
def test_a_bad_file_is_said_in_one_line_and_skipped(tmp_path: Path, text: str, said: str) -> None:
    bad, good = tmp_path / "bad.toml", tmp_path / "good.toml"
    bad.write_text(text, "utf-8")
    good.write_text(GOOD.replace('"ink"', '"mine"'), "utf-8")
    found, skipped = themes.load_files([bad, good])
    assert list(found) == ["mine"]
    assert len(skipped) == 1
    assert said in skipped[0]
    assert str(bad) in skipped[0]
    assert "\n" not in skipped[0]


def test_an_unreadable_file_is_skipped(tmp_path: Path) -> None:
    found, skipped = themes.load_files([tmp_path / "absent.toml"])
    assert not found
    assert len(skipped) == 1


async def test_a_theme_of_the_operator_is_offered_and_a_bad_one_is_said() -> None:
    folder = paths.config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(GOOD.replace('"ink"', '"mine"'), "utf-8")
    (folder / "broken.toml").write_text("name = 3", "utf-8")
    app = fakes.panel(states.healthy())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert "mine" in app.theme_files
        assert "broken.toml" in app.screen.query_one("Footer").message  # type: ignore[attr-defined]
        app.theme = "mine"
        await pilot.pause()
        assert app.feed.ink.theme.name == "mine"


async def test_a_theme_of_textual_does_not_stop_the_panel() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=(120, 36)) as pilot:
        app.theme = "nord"
        await pilot.pause()
        assert app.feed.ink.theme.name == "ink"


async def test_the_key_goes_through_the_themes() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        seen = [app.theme]
        for _ in range(3):
            await pilot.press("t")
            seen.append(app.theme)
        assert seen == ["ink", "paper", "sixteen", "ink"]


def test_a_palette_knows_every_style_that_is_used() -> None:
    ink = drawing.palette()
    assert isinstance(ink, Palette)
    for role in (*themes.ROLES, "text"):
        assert ink.style(role).color is not None
    assert ink.style("text+bold").bold
    assert ink.style("text-muted+italic").italic


def test_only_small_regular_files_are_read(tmp_path: Path) -> None:
    device = tmp_path / "dev.toml"
    device.symlink_to("/dev/zero")
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (themes.LARGEST + 1))
    found, skipped = themes.load_files([device, pipe, large, tmp_path])
    assert found == {}
    assert ["no regular file" in line for line in skipped] == [True, True, False, True]
    assert "64 KiB" in skipped[2]
