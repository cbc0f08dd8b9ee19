"""The parts that draw: rows are exactly as wide as asked, scales are fixed, nothing unknown is shown as a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from dsv41_tui.core.model import Trend
from dsv41_tui.core.readings import GIB, Memory
from dsv41_tui.ui import glyphs, numbers
from dsv41_tui.ui.line import Line
from dsv41_tui.ui.widgets import skyline, table, trend
from dsv41_tui.ui.widgets.rows import changed_width
from tests.ui import drawing, states

STYLES = [Style(color="red"), Style(color="green", bold=True), Style()]
SEGMENTS = st.lists(st.tuples(st.text("ab 記", min_size=1, max_size=5), st.sampled_from(STYLES)), max_size=6)


def strip_of(parts: list[tuple[str, Style]], width: int) -> Strip:
    return Strip([Segment(text, style) for text, style in parts]).adjust_cell_length(width, Style())


def cells_of(strip: Strip) -> list[tuple[str, Style | None]]:
    """One entry a cell; the second half of a wide character belongs to it."""
    found: list[tuple[str, Style | None]] = []
    for segment in strip:
        for character in segment.text:
            found += [(character, segment.style)] * Segment(character).cell_length
    return found


@given(SEGMENTS, SEGMENTS)
def test_the_changed_width_covers_every_cell_that_differs(
    old: list[tuple[str, Style]], new: list[tuple[str, Style]]
) -> None:
    before, after = strip_of(old, 30), strip_of(new, 30)
    width = changed_width(before, after)
    a, b = cells_of(before), cells_of(after)
    assert a[width:] == b[width:]
    if a == b:
        assert width == 0 or before != after


def test_an_unchanged_row_costs_nothing_and_a_changed_one_up_to_its_change() -> None:
    style = Style(color="red")
    row = Strip([Segment("free 5.3   avail 6.4   low 4.1", style)])
    assert changed_width(row, Strip([Segment("free 5.3   avail 6.4   low 4.1", style)])) == 0
    assert changed_width(row, Strip([Segment("free 5.2   avail 6.4   low 4.1", style)])) == len("free 5.2")


@given(st.lists(st.integers(0, 130 * GIB), min_size=1, max_size=7), st.integers(8, 200))
def test_the_bar_fills_its_cells_and_shows_what_is_large_enough(values: list[int], cells: int) -> None:
    counts = skyline.share(values, cells)
    assert sum(counts) == (cells if sum(values) else 0)
    assert all(count >= 0 for count in counts)
    if cells >= len(values):
        for value, count in zip(values, counts, strict=True):
            assert count >= 1 or value < skyline.ONE_CELL


def test_the_parts_add_up_to_the_pool() -> None:
    parts = skyline.parts_of(states.memory(free=5.3, available=6.4, gpu=106.2))
    assert parts.total == states.TOTAL
    shown = [parts.gpu, parts.proc, parts.shm, parts.kern, parts.cache, parts.free]
    assert sum(value for value in shown if value is not None) == states.TOTAL
    assert parts.gpu == pytest.approx(106.2 * GIB, rel=1e-6)


def test_an_unknown_part_is_a_rule_and_no_zero() -> None:
    ink = drawing.palette()
    known = Memory(total=states.TOTAL, free=GIB)
    line = skyline.draw(Line(ink, 40), skyline.parts_of(known), 40)
    assert ink.glyphs.rule in line.strip().text
    empty = skyline.draw(Line(ink, 40), skyline.parts_of(None), 40)
    assert set(empty.strip().text) == {ink.glyphs.rule}
    assert numbers.gib(None) == "—"


def test_bars_of_one_length_have_one_scale_where_a_word_covers_the_end() -> None:
    ink = drawing.palette()
    parts = skyline.parts_of(states.memory(free=60, available=62, gpu=50))
    whole = skyline.draw(Line(ink, 40), parts, 40).strip().text
    covered = skyline.draw(Line(ink, 40), parts, 40, shown=25).strip().text
    assert covered[:25] == whole[:25]


def test_a_trend_has_a_fixed_scale() -> None:
    ink = drawing.palette()
    half = Trend(last_bucket=119, points=tuple([8 * GIB] * 120))
    low = Trend(last_bucket=119, points=tuple([1 * GIB] * 120))
    shown = [
        trend.sparkline(Line(ink, 10), trend.columns(item, 10), 16 * GIB, lambda _: "text").strip().text
        for item in (half, low)
    ]
    assert shown == ["▄" * 10, "▁" * 10]


def test_a_trend_stands_still_between_its_columns_and_shows_gaps() -> None:
    points = [None] * 30 + [GIB] * 90
    before = trend.columns(Trend(last_bucket=239, points=tuple(points)), 30)
    after = trend.columns(Trend(last_bucket=241, points=(*points[2:], GIB, GIB)), 30)
    assert before[-1] == GIB
    assert before[:7] == [None] * 7
    assert after[:-1] == before[1:]
    assert trend.columns(Trend(last_bucket=242, points=(*points[3:], GIB, GIB, GIB)), 30) == after


@given(st.integers(1, 200))
def test_fitted_columns_hold_ten_minutes(cells: int) -> None:
    used = trend.fitted(cells)
    assert 0 < used <= max(cells, 1)
    each = -(-trend.BUCKETS // cells)
    assert used * each <= trend.BUCKETS < (used + 1) * each


def test_a_value_above_the_scale_is_a_thin_line_at_the_top() -> None:
    ink = drawing.palette()
    rows = [
        trend.chart_row(Line(ink, 1), [17 * GIB], 16 * GIB, row, 3, lambda _: "text").strip().text for row in range(3)
    ]
    assert rows == ["▔", " ", " "]


def test_columns_are_dropped_by_their_order_and_never_those_that_are_kept() -> None:
    made = [table.Column("a", "a", 5), table.Column("b", "b", 5, keep=2), table.Column("c", "c", 5, keep=1)]
    assert [at.column.key for at in table.place(made, 0, 17)] == ["a", "b", "c"]
    assert [at.column.key for at in table.place(made, 0, 12)] == ["a", "b"]
    assert [at.column.key for at in table.place(made, 0, 4)] == ["a"]


@given(st.integers(30, 120))
def test_a_table_ends_at_its_right_edge(width: int) -> None:
    made = [table.Column("name", "name", 8, left=True), table.Column("x", "x", 5), table.Column("y", "y", 5)]
    placed = table.place(made, 8, width)
    assert placed[-1].start + placed[-1].cells == width


def test_a_line_is_exactly_as_wide_as_asked_whatever_is_written() -> None:
    ink = drawing.palette()
    for text in ("記憶體" * 20, "a" * 200, "", "é" * 3):
        strip = Line(ink, 33).put(text, "error").put("b").strip()
        assert strip.cell_length == 33
        assert sum(segment.cell_length for segment in strip) == 33


def test_spaces_take_the_style_before_them() -> None:
    ink = drawing.palette()
    strip = Line(ink, 40).to(8).put("1.0").gap(4).put("2.0").gap(4).put("3.0").strip()
    assert len(list(strip)) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "—"), (0, "0"), (40 * 1024, "0"), (5.5 * 2**20, "5.5"), (612.4 * 2**20, "612"), (1192 * 2**20, "1,192")],
)
def test_rates_are_rounded_until_still(value: float | None, shown: str) -> None:
    assert numbers.mib_rate(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(14.9, "14 s"), (99.9, "99 s"), (100, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_ages(seconds: float, shown: str) -> None:
    assert numbers.short_age(seconds) == shown


def test_other_numbers() -> None:
    assert numbers.gib(1_659 * GIB) == "1,659"
    assert numbers.gib(int(5.312 * GIB)) == "5.3"
    assert numbers.size_option("1048576") == "1M"
    assert numbers.size_option("32768") == "32K"
    assert numbers.size_option(None) == "?"
    assert numbers.link_speed(2500) == "2.5G"
    assert numbers.clock_span(4440) == "1:14:00"
    assert numbers.mbit_bytes(10_000) / 2**20 == pytest.approx(1192.09, abs=0.01)


@pytest.mark.parametrize(
    ("environment", "cells", "name"),
    [
        ({"LANG": "en_US.UTF-8", "TERM": "xterm"}, None, "unicode"),
        ({"LANG": "en_US.UTF-8", "TERM": "xterm"}, 1, "unicode"),
        ({"LANG": "zh_TW.UTF-8", "TERM": "xterm"}, 2, "ascii"),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, None, "ascii"),
        ({"LANG": "de_DE.ISO-8859-1", "TERM": "xterm"}, None, "ascii"),
        ({"TERM": "xterm"}, None, "ascii"),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, None, "ascii"),
        ({"LC_CTYPE": "C.UTF-8"}, None, "ascii"),
        ({"LC_CTYPE": "de_DE.utf8"}, None, "unicode"),
        ({"LANG": "C.UTF-8"}, None, "unicode"),
    ],
)
def test_the_glyphs_follow_the_locale_and_the_measured_width(
    environment: dict[str, str], cells: int | None, name: str
) -> None:
    assert glyphs.choose(environment, cells).name == name
