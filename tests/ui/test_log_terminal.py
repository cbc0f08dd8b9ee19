"""Hostile log lines in a real pseudo terminal: nothing of what a node sends acts there."""

from __future__ import annotations

import re

import pytest

from tests.ui.test_terminal import Terminal, environment, opened

__all__ = ["environment", "opened"]
OSC = re.compile(rb"\x1b\](?!22;)")
"""Any but the shape of the pointer, which is our own."""


@pytest.mark.parametrize("keys", [b"6", b"6w", b"6zf/a\r"], ids=["tab", "wrap", "filter"])
def test_hostile_lines_are_inert(opened: list[Terminal], environment: dict[str, str], keys: bytes) -> None:
    """Through the edge as in life, and past it, should one get by."""
    terminal = Terminal("--hostile", "--still", size=(80, 24), environment=environment)
    opened.append(terminal)
    terminal.until(b"WATCHING")
    for key in keys:
        terminal.send(bytes([key]))
        terminal.read(0.3)
    terminal.until(b"last hostile line")
    terminal.send(b"q")
    assert terminal.wait() == 0
    written = terminal.output
    assert not OSC.search(written)
    assert b"owned" not in written
    assert b"\x00" not in written
    for character in "\x9b\x9d\u202e\u2066\u200b":
        assert character.encode() not in written
    assert len(written) < 1 << 20
