"""Load the message catalogues from the package's data."""

from __future__ import annotations

import os
import tomllib

from dsv41_tui import paths
from dsv41_tui.core import messages


def load_language(chosen: str | None = None) -> str:
    """Install English and the chosen language (else the one of LANG); returns what is spoken."""
    language = chosen or messages.language_of(os.environ)
    names = {"en", language} & set(messages.LANGUAGES)
    messages.install(language, {name: _catalogue(name) for name in names})
    return messages.language()


def _catalogue(language: str) -> dict[str, object]:
    """All tables of one language, one file an area of the product."""
    merged: dict[str, object] = {}
    for file in sorted((paths.DATA / "messages" / language).glob("*.toml")):
        merged.update(tomllib.loads(file.read_text("utf-8")))
    return merged
