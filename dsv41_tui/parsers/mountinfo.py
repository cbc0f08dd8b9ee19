r"""`/proc/self/mountinfo`: the NFS mounts of a node, as the kernel runs them.

Grammar: `ID PARENT MAJOR:MINOR ROOT MOUNTPOINT FLAGS [TAG]... - FSTYPE SOURCE OPTIONS`. The tags are zero or more, so
the lone `-` is looked for and columns are not counted from the right. Spaces and the like are octal escapes (`\040`).
"""

from __future__ import annotations

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import MountEntry
from dsv41_tui.parsers._fields import NFS_TYPES, empty, options, source_of, unescape, wrong

_SOURCE = "/proc/self/mountinfo"
_FIRST_TAG = 6


def parse_mountinfo(text: str) -> tuple[MountEntry, ...]:
    """Entries of type nfs and nfs4, in the kernel's order; other lines are only checked for being whole.

    A mount is read-only when its own flags or those of its superblock say so (they differ for bind mounts). A source
    `:/path`, as docker mounts its volumes, is completed from `addr=`. Raises ParseError for a torn or empty table.
    """
    if not text.strip():
        raise empty(_SOURCE)
    if not text.endswith("\n"):
        raise ParseError(f"{_SOURCE} is cut off")
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        head, separator, tail = line.partition(" - ")
        if not separator:
            raise wrong(_SOURCE, line, "a lone -", number)
        if tail.partition(" ")[0] in NFS_TYPES:
            entries.append(_entry(head.split(" "), tail.split(" "), line, number))
    return tuple(entries)


def _entry(head: list[str], tail: list[str], line: str, number: int) -> MountEntry:
    if len(head) < _FIRST_TAG or len(tail) != 3:
        raise wrong(_SOURCE, line, "six columns, the lone -, and three more", number)
    flags, super_options = options(head[5]), options(tail[2])
    return MountEntry(
        mount_point=unescape(head[4]),
        source=source_of(unescape(tail[1]), super_options),
        fstype=tail[0],
        device=head[2],
        root=unescape(head[3]),
        read_only="ro" in flags or "ro" in super_options,
        options=super_options,
    )
