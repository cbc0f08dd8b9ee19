"""What a followed log's bytes become: whole, cleaned, bounded lines, however they are cut on the way."""

from __future__ import annotations

import random

import pytest

from dsv41_tui.transport.lines import KEEP, PIECE, LineCutter

STAMP = b"2026-11-30T16:17:58.043825054Z "


def fed(data: bytes, size: int = 65536) -> list[str]:
    cutter = LineCutter()
    lines = [line for at in range(0, len(data), size) for line in cutter.feed(data[at : at + size])]
    return lines + cutter.rest()


@pytest.mark.parametrize("size", [1, 2, 7, 31, 65536])
def test_cuts_of_the_link_change_nothing(size: int) -> None:
    data = "eins\nzwei 資料\n\nvier\r\n10%\r50%\r100%\nlast".encode()
    assert fed(data, size) == ["eins", "zwei 資料", "", "vier", "100%", "last"]


def test_a_progress_bar_is_its_last_state_behind_its_stamp() -> None:
    assert fed(STAMP + b"Loading 1%\rLoading 50%\rLoading 100%\n") == [STAMP.decode() + "Loading 100%"]
    assert fed(STAMP + b"done\r\r\n" + STAMP + b"a\rb\r\n") == [STAMP.decode() + "done", STAMP.decode() + "b"]
    assert fed(b"2026-11-30T16:17:58+08:00 x\ry\n") == ["2026-11-30T16:17:58+08:00 y"]


def test_nothing_in_a_line_acts_on_a_terminal() -> None:
    hostile = b"a\x00b\x1b[2J\x1b]0;t\x07c\x9b31m \xe2\x80\xaed\xff\n\x07\n"
    (line, bell) = fed(hostile)
    assert bell == "" and line.startswith("abc") and line.isprintable()


@pytest.mark.parametrize("length", [PIECE - 1, PIECE, PIECE + 1, 40_000, 3 * PIECE])
def test_stamps_inside_a_joined_line_go(length: int) -> None:
    body = bytes(random.Random(length).choices(b"abc 2026-Z:", k=length))
    pieces = [body[at : at + PIECE] for at in range(0, length, PIECE)]
    if length % PIECE == 0:
        pieces.append(b"")
    assert fed(STAMP + STAMP.join(pieces) + b"\n", 4096 * 9) == [STAMP.decode() + body.decode()]


def test_a_line_of_ten_megabytes_is_bounded_and_says_so() -> None:
    lines = fed(b"before\n" + b"x" * (10 << 20) + b"END\nafter\n")
    assert (lines[0], lines[2]) == ("before", "after")
    assert len(lines[1]) < KEEP + 2 * 65536 and lines[1].endswith("END")
    cut = int(lines[1].split("[... ")[1].split(" bytes")[0])
    assert cut + len(lines[1].replace(f" [... {cut} bytes ...] ", "")) == (10 << 20) + 3


def test_an_endless_line_takes_no_memory() -> None:
    cutter = LineCutter()
    for _ in range(200):
        assert cutter.feed(b"y" * 65536) == []
    assert len(cutter._held) + len(cutter._tail) < 2 * 65536
