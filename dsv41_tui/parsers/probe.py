"""The answer of a time-limited `stat -f -c %T DIR`: what it says of an NFS mount.

Sources: exit codes of coreutils and busybox `timeout` (124, 137 after KILL, 143 in busybox), and strerror texts.
"""

from __future__ import annotations

from dsv41_tui.core.model import ProbeOutcome

TIMED_OUT = frozenset({124, 137, 143})
_WORDS: tuple[tuple[str, ProbeOutcome], ...] = (
    ("stale file handle", "stale"),
    ("stale nfs file handle", "stale"),
    ("permission denied", "denied"),
    ("operation not permitted", "denied"),
    ("no such file", "missing"),
    ("input/output error", "error"),
    ("i/o error", "error"),
    ("timed out", "error"),
)


def parse_probe(code: int, text: str) -> ProbeOutcome:
    """Exit code and combined output of the probe. What `stat` itself did not say proves nothing: `unusable`."""
    if code == 0:
        return "ok"
    if code in TIMED_OUT:
        return "timeout"
    lowered = text.lower()
    if not lowered.startswith("stat:"):
        return "unusable"
    return next((outcome for words, outcome in _WORDS if words in lowered), "unusable")
