"""Which configuration file is meant. Light on purpose: it runs before the first frame, so nothing heavy is imported."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from dsv41_tui import paths
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t

FILE_NAME = "dsv41.toml"


def find_config(explicit: str | Path | None = None) -> Path | None:
    """The file to load, or None when there is none and the panel opens its welcome.

    `explicit` is taken as it is; loading says what is wrong with it. Raises ConfigError if ./dsv41.toml is foreign.
    """
    if explicit is not None:
        return paths.expanded(explicit)
    here = Path(FILE_NAME)
    if os.access(here, os.F_OK):
        _own(here)
        return here
    default = paths.config_dir() / FILE_NAME
    return default if os.path.lexists(default) else None


def _own(path: Path) -> None:
    """Refuse a file that another user could have laid in our way."""
    status = path.stat()
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
        raise ConfigError(t("config.error.foreign", file=str(path), uid=status.st_uid))
