"""Every test here speaks English, whatever LANG says, and has a config folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui.runtime.language import load_language


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    load_language("en")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path
