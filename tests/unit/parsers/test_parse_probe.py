"""What the end of a probe says."""

from __future__ import annotations

import pytest

from dsv41_tui.parsers.probe import parse_probe

GNU = "stat: cannot read file system information for '/mnt/nas': "


@pytest.mark.parametrize(
    ("code", "text", "outcome"),
    [
        (0, "nfs", "ok"),
        (124, "", "timeout"),
        (137, "", "timeout"),
        (143, "Terminated", "timeout"),
        (1, GNU + "Stale file handle", "stale"),
        (1, GNU + "Permission denied", "denied"),
        (1, GNU + "No such file or directory", "missing"),
        (1, GNU + "Input/output error", "error"),
        (1, "stat: can't read file system information for '/mnt/nas': I/O error", "error"),
        (125, "timeout: failed", "unusable"),
        (127, "timeout: failed to run command 'stat': No such file or directory", "unusable"),
        (127, "sh: 1: stat: not found", "unusable"),
        (1, "\x1b[31mgarbage", "unusable"),
        (1, "", "unusable"),
        (255, GNU + "something new", "unusable"),
    ],
)
def test_the_end_of_a_probe(code: int, text: str, outcome: str) -> None:
    assert parse_probe(code, text) == outcome
