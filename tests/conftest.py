"""What all tests share: English, and no trace of the machine's own settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dsv41_tui.runtime.language import load_language


@pytest.fixture(autouse=True)
def clean_house(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """English messages, and XDG folders of this test alone."""
    home = tmp_path_factory.mktemp("home")
    for name, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(home / folder))
    for name in ("LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    load_language("en")
    yield home
