"""`/proc/mdstat`, for `nas.py`.

Grammar: `NAME : active [(read-only)] LEVEL DEV[N]...` or `NAME : inactive DEV[N](S)...`, then indented lines with
`[SLOTS/WORKING] [UU_]`, and while it works one with `ACTION = 12.6% (a/b) finish=127.5min` or `ACTION=DELAYED`.
The last line is `unused devices: ...`.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import RaidArray
from dsv41_tui.parsers._fields import wrong

_SOURCE = "/proc/mdstat"
_ARRAY = re.compile(r"(\S{1,64}) : (active|inactive)(?: \([a-z-]+\))*((?: \S{1,64})*) ?")
_MEMBER = re.compile(r"\S+?\[[0-9]{1,4}\]((?:\([A-Z]\))*)")
_SLOTS = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\] \[([U_]{1,4096})\]")
_ACTION = re.compile(r"(recovery|resync|check|reshape|repair) ?= ?(?: {0,3}([0-9]{1,3}\.[0-9])%|([A-Z]+))")
_FINISH = re.compile(r"finish=([0-9]{1,12}\.[0-9])min")
_END = re.compile(r"^unused devices:", re.MULTILINE)
_QNAP_SYSTEM = frozenset({"md9", "md13"})
_MOST_MIRRORS = 8


def read_mdstat(text: str) -> tuple[RaidArray, ...]:
    """All arrays in the file's order. Raises ParseError for a torn line, or a file without its last line."""
    end = _END.search(text)
    if end is None:
        raise ParseError(f"{_SOURCE} is cut off")
    arrays: list[tuple[re.Match[str], list[str]]] = []
    for number, line in enumerate(text[: end.start()].split("\n"), start=1):
        if line.startswith((" ", "\t")) and arrays:
            arrays[-1][1].append(line)
        elif line.strip() and not line.startswith("Personalities"):
            match = _ARRAY.fullmatch(line)
            if match is None:
                raise wrong(_SOURCE, line, "NAME : active or inactive", number)
            arrays.append((match, []))
    return tuple(_array(match, "\n".join(details)) for match, details in arrays)


def _array(head: re.Match[str], details: str) -> RaidArray:
    words = head[3].split()
    level = words.pop(0) if words and not _MEMBER.fullmatch(words[0]) else ""
    marks = [match[1] for word in words if (match := _MEMBER.fullmatch(word))]
    faulty = any("(F)" in mark for mark in marks)
    present = sum(not mark for mark in marks)
    slots = _SLOTS.search(details)
    members, working = (int(slots[1]), int(slots[2])) if slots else (present, present)
    missing = working < members or (slots is not None and "_" in slots[3])
    if slots and _reserved_slots(head[1], level, members):
        members, missing = working, False
    active = head[2] == "active"
    action, progress, eta = _progress(details)
    return RaidArray(
        name=head[1],
        level=level,
        active=active,
        members=members if active else None,
        working=working if active else None,
        degraded=missing or faulty,
        action=action,
        progress_percent=progress,
        eta_s=eta,
    )


def _reserved_slots(name: str, level: str, slots: int) -> bool:
    """QNAP mirrors its system partitions over a slot per bay that any model could have (`[24/4] [UUUU____...]`).

    The empty slots are no loss; a disk that failed out of such a mirror shows as `(F)` or in the data array.
    """
    return level == "raid1" and (slots > _MOST_MIRRORS or (name in _QNAP_SYSTEM and slots == _MOST_MIRRORS))


def _progress(details: str) -> tuple[str | None, float | None, float | None]:
    """Action, percent and seconds to go; a delayed or pending action has neither percent nor end."""
    action = _ACTION.search(details)
    if action is None:
        return None, None, None
    finish = _FINISH.search(details)
    return (
        action[1],
        None if action[2] is None else float(action[2]),
        None if finish is None or action[2] is None else round(float(finish[1]) * 60, 1),
    )
