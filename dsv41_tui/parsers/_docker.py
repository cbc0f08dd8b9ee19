"""What the parsers of docker's output share: its reasons for giving none. No source of its own."""

from __future__ import annotations

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.text import clean_line

_REASONS = (
    (
        "permission denied",
        "docker refused: the login user cannot use its socket; add it to the group docker "
        '(sudo usermod -aG docker "$USER") and log in again',
        ('sudo usermod -aG docker "$USER"',),
    ),
    (
        "cannot connect to the docker daemon",
        "docker answers nothing: its daemon is not running",
        ("sudo systemctl start docker",),
    ),
    ("not found", "docker is not installed on this node", ()),
    ("no such file or directory", "docker is not installed on this node", ()),
)


def refusal(text: str) -> ParseError | None:
    """The error that docker's own words mean, or None for any other text."""
    lowered = text.lower()
    for phrase, reason, fix in _REASONS:
        if phrase in lowered:
            return ParseError(f"{reason} ({clean_line(text, 120)})", fix=fix)
    return None
