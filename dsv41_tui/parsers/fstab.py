r"""`/etc/fstab`: the NFS mounts that the operator asked for.

Grammar: `SOURCE MOUNTPOINT FSTYPE OPTIONS [FREQ [PASS]]` by blanks; `#` at the start of a line is a comment; blanks
inside a field are octal escapes (`\040`).
"""

from __future__ import annotations

from dsv41_tui.core.readings import FstabEntry
from dsv41_tui.parsers._fields import NFS_TYPES, options, unescape


def parse_fstab(text: str) -> tuple[FstabEntry, ...]:
    """Lines of type nfs and nfs4 with three fields or more. Never raises: an fstab can be empty and hold odd lines."""
    entries = []
    for line in text.split("\n"):
        fields = line.split()
        if len(fields) < 3 or fields[0].startswith("#") or fields[2] not in NFS_TYPES:
            continue
        entries.append(
            FstabEntry(
                source=unescape(fields[0]),
                mount_point=unescape(fields[1]),
                fstype=fields[2],
                options=options(fields[3]) if len(fields) > 3 else {},
            )
        )
    return tuple(entries)
