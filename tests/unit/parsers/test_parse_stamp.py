"""Stamps of every source, as Unix seconds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dsv41_tui.parsers.stamp import parse_stamp

AT = datetime(2026, 11, 30, 16, 17, 58, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2026-11-30T16:17:58.043825054Z out", AT + 0.043825054),
        ("head-1  | 2026-11-30T16:17:58Z out", AT),
        ("2026-11-30T17:17:58+0100 spark kernel: x", AT),
        ("2026-11-30T10:47:58-05:30 spark kernel: x", AT),
        ("2026-11-30 16:17:58,250 INFO x", AT + 0.25),
        ("(APIServer pid=1) INFO 11-30 16:17:58 [api.py:1] x", AT),
        ("Nov 30 16:17:58 spark-a kernel: NVRM", AT),
        ("[Mon Nov 30 16:17:58 2026] Out of memory", AT),
        ("[rank1]:[E1130 16:17:58.500000 ProcessGroupNCCL.cpp:1] x", AT + 0.5),
        ("[  123.456789] nfs: server", 123.456789),
        ("<6>[12345.678901] nfs: server", 12345.678901),
    ],
)
def test_stamp(line: str, at: float) -> None:
    assert parse_stamp(line, 2026) == pytest.approx(at)


@pytest.mark.parametrize(
    "line", ["", "no stamp", "2026-13-45T99:00:00Z", "02-31 10:00:00 x", "127.0.0.1:8000", "x" * 400 + AT.hex()]
)
def test_none(line: str) -> None:
    assert parse_stamp(line, 2026) is None
