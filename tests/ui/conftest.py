"""Shuts the machine out: no theme, configuration, locale, colour or animation setting of the one who runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import constants

from dsv41_tui.runtime.language import load_language

UNSET = ("NO_COLOR", "TEXTUAL_THEME", "LC_ALL", "LC_CTYPE", "DSV41_CONFIG")


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(constants, "COLOR_SYSTEM", "truecolor")
    load_language("en")
