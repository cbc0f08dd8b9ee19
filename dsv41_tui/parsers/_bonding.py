"""`/proc/net/bonding/NAME`, for `nas.py`.

Grammar: lines `Key: value`; a heading with `Bonding Mode:` and `Currently Active Slave:`, then per member
`Slave Interface: NAME`, `MII Status: up` and, in drivers since 3.6, `Speed: 10000 Mbps` or `Speed: Unknown`.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Bond
from dsv41_tui.parsers._fields import wrong

BONDING = "/proc/net/bonding/"
_STATES = frozenset({"up", "down", "going down", "going back"})
_SPEED = re.compile("([0-9]{1,9}) Mbps")


def read_bond(name: str, text: str) -> Bond:
    """Members and speed; with active-backup the speed is that of the one member that carries the traffic.

    Raises ParseError without a mode, and for a member whose state or speed is torn.
    """
    where = BONDING + name
    heading, *parts = re.split(r"^Slave Interface: ", text, flags=re.MULTILINE)
    mode = _keys(heading).get("Bonding Mode", "")
    if not mode:
        raise ParseError(f"{where} has no line Bonding Mode")
    members = {part.split("\n", 1)[0].strip(): _member(part, where) for part in parts}
    up = {member: speed for member, (is_up, speed) in members.items() if is_up}
    active = _keys(heading).get("Currently Active Slave")
    carrying = [up[active]] if "active-backup" in mode and active in up else list(up.values())
    known = [speed for speed in carrying if speed is not None]
    return Bond(
        name=name,
        mode=mode,
        members_up=len(up),
        members=len(members),
        speed_mbit=sum(known) if known and len(known) == len(carrying) else None,
    )


def _keys(text: str) -> dict[str, str]:
    """`Key: value` lines; the first of a name counts, since what follows a member's own lines repeats some."""
    keys: dict[str, str] = {}
    for line in text.split("\n"):
        key, separator, value = line.partition(": ")
        if separator:
            keys.setdefault(key.strip(), value.strip())
    return keys


def _member(text: str, where: str) -> tuple[bool, int | None]:
    keys = _keys(text)
    state, speed = keys.get("MII Status", ""), keys.get("Speed", "Unknown")
    if state not in _STATES:
        raise wrong(where, state, "MII Status up or down")
    match = _SPEED.fullmatch(speed)
    if match is None and speed != "Unknown":
        raise wrong(where, speed, "a speed in Mbps")
    return state == "up", None if match is None else int(match[1])
