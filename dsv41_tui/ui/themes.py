"""Themes are TOML files: shipped in `themes/`, the operator's in the config folder. A bad one is said and skipped."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dsv41_tui import paths
from dsv41_tui.core.messages import t

if TYPE_CHECKING:
    from textual.theme import Theme

ROLES = (
    "background", "surface", "panel", "foreground", "text-muted", "rule", "track", "primary", "accent", "code",
    "success", "warning", "error", "tint-error", "tint-warning",
    "mem-gpu", "mem-proc", "mem-shm", "mem-kern", "mem-cache", "mem-free",
)  # fmt: skip
_FIELDS = frozenset(
    ("background", "surface", "panel", "foreground", "primary", "accent", "success", "warning", "error")
)
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
LARGEST = 65_536
"""Bytes of a theme file."""
DEFAULT = "ink"
SIXTEEN = "sixteen"


class ThemeError(Exception):
    """One line that says what is wrong with a theme file."""


@dataclass(frozen=True)
class ThemeFile:
    """One theme: a colour `#rrggbb` for each of `ROLES`."""

    name: str
    dark: bool
    colours: dict[str, str]

    def to_textual(self) -> Theme:
        """The same as a Textual theme; what has no field there becomes a CSS variable."""
        from textual.theme import Theme

        colour = self.colours
        variables = {role: value for role, value in colour.items() if role not in _FIELDS}
        return Theme(
            name=self.name,
            dark=self.dark,
            primary=colour["primary"],
            accent=colour["accent"],
            success=colour["success"],
            warning=colour["warning"],
            error=colour["error"],
            foreground=colour["foreground"],
            background=colour["background"],
            surface=colour["surface"],
            panel=colour["panel"],
            variables=variables | self._textual_variables(),
        )

    def _textual_variables(self) -> dict[str, str]:
        """Textual's own variables in our colours: the palette's and the text field's."""
        colour = self.colours
        return {
            "text": colour["foreground"],
            "foreground-muted": colour["text-muted"],
            "text-disabled": colour["text-muted"],
            "block-cursor-background": colour["panel"],
            "block-cursor-foreground": colour["primary"],
            "block-cursor-text-style": "bold",
            "block-hover-background": colour["panel"],
            "input-cursor-background": colour["foreground"],
            "input-cursor-foreground": colour["background"],
            "input-selection-background": colour["panel"],
            "border": colour["rule"],
            "border-blurred": colour["rule"],
            "scrollbar": colour["rule"],
            "scrollbar-hover": colour["text-muted"],
            "scrollbar-active": colour["primary"],
            "scrollbar-background": colour["background"],
            "scrollbar-background-hover": colour["background"],
            "scrollbar-background-active": colour["background"],
            "scrollbar-corner-color": colour["background"],
        }


def parse(text: str) -> ThemeFile:
    """Read one theme file; raises ThemeError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(f"{error}") from None
    name, colours = table.get("name"), table.get("colours")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ThemeError(t("ui.theme.bad_name", value=repr(name)))
    if not isinstance(colours, dict):
        raise ThemeError(t("ui.theme.no_colours"))
    for role in ROLES:
        value = colours.get(role)
        if not isinstance(value, str) or not _COLOUR.fullmatch(value):
            raise ThemeError(t("ui.theme.bad_colour", role=role, value=repr(value)))
    unknown = sorted(set(colours) - set(ROLES))
    if unknown:
        raise ThemeError(t("ui.theme.unknown_role", role=unknown[0], known=", ".join(ROLES)))
    return ThemeFile(name, bool(table.get("dark", True)), {role: colours[role].lower() for role in ROLES})


def read(file: Path) -> str:
    """The text of a regular file of at most `LARGEST` bytes; raises ThemeError, OSError, UnicodeDecodeError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ThemeError(t("ui.theme.not_a_file"))
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ThemeError(t("ui.theme.too_large", kib=LARGEST // 1024))
    return data.decode("utf-8")


def load_files(files: Iterable[Path]) -> tuple[dict[str, ThemeFile], list[str]]:
    """Themes by name, later files winning, and one line for each file that was skipped."""
    themes: dict[str, ThemeFile] = {}
    skipped: list[str] = []
    for file in files:
        try:
            theme = parse(read(file))
        except (OSError, UnicodeDecodeError, ThemeError) as error:
            skipped.append(t("ui.theme.skipped", file=str(file), why=str(error)))
            continue
        themes[theme.name] = theme
    return themes, skipped


def refusal(name: str, skipped: Iterable[str]) -> str | None:
    """Why the operator's file of a theme was skipped; None where there is no such file."""
    file = paths.config_dir() / "themes" / f"{name}.toml"
    return next((line for line in skipped if f"{file}" in line), None)


def load() -> tuple[dict[str, ThemeFile], list[str]]:
    """The shipped themes and the operator's own."""
    own = paths.config_dir() / "themes"
    return load_files([*sorted(paths.themes().glob("*.toml")), *sorted(own.glob("*.toml"))])
