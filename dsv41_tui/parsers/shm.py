"""Use of `/dev/shm`: the output of `stat -f -c '%S %b %f' /dev/shm`, then one owner of a file there per line.

Grammar: block size, blocks, free blocks; then user names, or numbers where a uid has no name.
"""

from __future__ import annotations

import re

from dsv41_tui.core.readings import ShmUse
from dsv41_tui.parsers._fields import empty, wrong

_SOURCE = "stat -f /dev/shm"
_BLOCKS = re.compile(r"([0-9]{1,10}) ([0-9]{1,19}) ([0-9]{1,19})")
_OWNER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.@$+\\-]{0,254}")


def parse_shm(text: str) -> ShmUse:
    """Size and use in bytes, distinct owners sorted; lines that are no name are error lines and are passed over.

    Raises ParseError where the first line is not three numbers, with what stands there instead.
    """
    lines = text.strip().split("\n")
    if not lines[0]:
        raise empty(_SOURCE)
    match = _BLOCKS.fullmatch(lines[0].strip())
    if match is None:
        raise wrong(_SOURCE, lines[0], "block size, blocks and free blocks")
    block, blocks, free = (int(number) for number in match.groups())
    if free > blocks:
        raise wrong(_SOURCE, lines[0], "no more free blocks than blocks")
    # `stat` names an owner that has no name UNKNOWN; that tells nothing of who it is.
    owners = {line.strip() for line in lines[1:] if _OWNER.fullmatch(line.strip())} - {"UNKNOWN"}
    return ShmUse(size=block * blocks, used=block * (blocks - free), owners=tuple(sorted(owners)))
