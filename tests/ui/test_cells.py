"""Text in cells: wide characters are never split, commands are whole, no closing mark begins a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dsv41_tui.ui import cells

MIXED = st.text(st.sampled_from("ab 1./-_,:記憶體、。（），k「」卡住é\u0301"), max_size=80)


@given(MIXED, st.integers(0, 40))
def test_cut_never_exceeds_and_never_splits(text: str, width: int) -> None:
    for shorten in (cells.cut, cells.cut_front, cells.cut_word, cells.take, cells.take_end):
        assert cell_len(shorten(text, width)) <= width


@given(MIXED, st.integers(4, 40))
def test_wrap_loses_nothing_but_spaces(text: str, width: int) -> None:
    lines = cells.wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(MIXED, st.integers(8, 40))
def test_a_wrapped_command_is_whole(text: str, width: int) -> None:
    lines = cells.wrap_command(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("width", range(6, 40))
def test_no_closing_mark_begins_a_line_and_no_opening_one_ends_it(width: int) -> None:
    text = "兩份配方共用的分片（hard link）請用硬連結，不要複製：省下 189 GiB，也不會填滿 page cache。這樣「最好」。"
    for line in cells.wrap(text, width):
        assert line[:1] not in cells.NO_START
        assert line[-1:] not in cells.NO_END


def test_cut_word_keeps_numbers_whole() -> None:
    text = "page cache holds 109.0 GiB, MemFree is 1.1 GiB"
    assert cells.cut_word(text, 30) == "page cache holds 109.0 GiB…"
    assert cells.cut_word(text, 22) == "page cache holds…"
    assert cells.cut_word(text, 100) == text


def test_options_break_behind_commas_and_commands_do_not() -> None:
    text = "vers=4.2,rsize=1048576,wsize=1048576,hard,addr=192.168.50.20"
    assert cells.wrap(text, 40) == ["vers=4.2,rsize=1048576,wsize=1048576,", "hard,addr=192.168.50.20"]
    assert cells.wrap("sends 1,151,496", 9) == ["sends", "1,151,496"]
    assert cells.wrap_command("mount -o hard,ro,nconnect=8 nas:/m /m", 30) == [
        "mount -o hard,ro,nconnect=8",
        "   nas:/m /m",
    ]


def test_cut_front_keeps_what_tells_names_apart() -> None:
    assert cells.cut_front("dgx-spark-01", 8) == "…park-01"


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\x1b]0;title\x07b", "a\x9b1mb", "a\rb", "a\x00b", "a\u202eb"])
def test_safe_lets_nothing_through_that_acts(text: str) -> None:
    clean = cells.safe(text)
    assert clean.isprintable()
    assert "title" not in clean


def test_safe_keeps_one_line() -> None:
    assert cells.safe("a\nb\tc") == "a b c"
    assert cells.safe("記憶體　滿") == "記憶體　滿"
