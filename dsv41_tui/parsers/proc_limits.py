"""Limits and state of running processes, of `/proc/PID/limits` and `/proc/PID/stat`, by path.

A line of limits is a name, the soft limit, the hard limit and the unit in columns; `unlimited` where there is none. In
stat the command name stands in parentheses and holds anything, so the state follows the last closing parenthesis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.containers import UNLIMITED, ProcessLimits

_PATH = re.compile(r"/proc/([0-9]{1,10})/(limits|stat)")
_MEMLOCK = re.compile(r"^Max locked memory {1,40}(unlimited|[0-9]{1,20}) ", re.MULTILINE)
_STATE = re.compile(r" ([A-Za-z]) ")


def parse_proc_limits(files: Mapping[str, str], containers: Mapping[int, str]) -> tuple[ProcessLimits, ...]:
    """One value a process whose id is in `containers` and of which a file was read; what is not there is None.

    Never raises: a process that ended meanwhile is left out.
    """
    found: dict[int, dict[str, str]] = {}
    for path, text in files.items():
        match = _PATH.fullmatch(path)
        if match is not None and int(match[1]) in containers and text.strip():
            found.setdefault(int(match[1]), {})[match[2]] = text
    return tuple(
        ProcessLimits(
            pid=pid,
            container=containers[pid],
            memlock_bytes=_memlock(texts.get("limits", "")),
            state=_state(texts.get("stat", "")),
        )
        for pid, texts in sorted(found.items())
    )


def _memlock(text: str) -> int | None:
    """Bytes of the soft limit."""
    match = _MEMLOCK.search(text)
    if match is None:
        return None
    return UNLIMITED if match[1] == "unlimited" else int(match[1])


def _state(text: str) -> str | None:
    match = _STATE.match(text.rpartition(")")[2])
    return match[1].upper() if match and ")" in text else None
