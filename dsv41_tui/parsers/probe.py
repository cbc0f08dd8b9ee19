"""The answer of a time-limited `stat -f -c %T DIR`: what it says of an NFS mount.

Sources: exit codes of coreutils and busybox `timeout` (124, 137 after KILL, 143 in busybox), and strerror texts.
"""

from __future__ import annotations

from typing import Literal

Outcome = Literal["ok", "timeout", "stale", "denied", "missing", "error"]

_TIMED_OUT = frozenset({124, 137, 143})
_WORDS: tuple[tuple[str, Outcome], ...] = (
    ("stale file handle", "stale"),
    ("stale nfs file handle", "stale"),
    ("permission denied", "denied"),
    ("operation not permitted", "denied"),
    ("no such file", "missing"),
)


def parse_probe(code: int, text: str) -> Outcome:
    """Exit code and combined output of the probe; anything else that fails (EIO of a soft mount) is `error`."""
    if code == 0:
        return "ok"
    if code in _TIMED_OUT:
        return "timeout"
    lowered = text.lower()
    return next((outcome for words, outcome in _WORDS if words in lowered), "error")
