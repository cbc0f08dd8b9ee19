"""Where things lie: package data, themes, the operator's XDG folders. No setting is read here but the environment."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
DATA = PACKAGE / "data"


def themes() -> Path:
    """The folder of shipped themes: inside the package in a wheel, beside it in a checkout."""
    inside = PACKAGE / "themes"
    return inside if inside.is_dir() else PACKAGE.parent / "themes"


def _xdg(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    base = Path(value) if value.startswith("/") else Path.home() / default
    return base / "dsv41-tui"


def config_dir() -> Path:
    """XDG config folder of the panel."""
    return _xdg("XDG_CONFIG_HOME", ".config")


def state_dir() -> Path:
    """XDG state folder of the panel: own log, crash files, audit. Made 0700 by whoever writes first."""
    return _xdg("XDG_STATE_HOME", ".local/state")


def expanded(path: str | Path) -> Path:
    """A path with `~` resolved; as it is where `~name` means nobody here, so that reading it says so."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
