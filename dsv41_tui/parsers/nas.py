"""What a NAS tells of its NFS server, by path: `/proc/fs/nfsd/threads`, `versions` and `max_block_size`,
`/proc/net/rpc/nfsd`, `/proc/mdstat`, `/proc/net/bonding/NAME`. Each is optional.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import NasServer
from dsv41_tui.parsers._bonding import BONDING, read_bond
from dsv41_tui.parsers._fields import readable, wrong
from dsv41_tui.parsers._mdstat import read_mdstat

_THREADS = "/proc/fs/nfsd/threads"
_VERSIONS = "/proc/fs/nfsd/versions"
_BLOCK = "/proc/fs/nfsd/max_block_size"
_RPC = "/proc/net/rpc/nfsd"
_MDSTAT = "/proc/mdstat"
_FILES = (_THREADS, _VERSIONS, _BLOCK, _RPC, _MDSTAT)
_NUMBER = re.compile("[0-9]{1,12}")
_VERSION = re.compile(r"[+-][2-9](?:\.[0-9])?")
# The histogram that follows is always zero since 2.6.29.
_RPC_THREADS = re.compile(r"^th ([0-9]{1,6}) ", re.MULTILINE)


def parse_nas(files: Mapping[str, str]) -> NasServer:
    """Join the files; an absent or unreadable one leaves its fields empty, other paths are passed over.

    Raises ParseError for a malformed one, and when none was readable: a NAS that tells nothing is not well but unknown.
    """
    texts = {
        path: text
        for path, raw in files.items()
        if (path in _FILES or path.startswith(BONDING)) and (text := readable(raw)) is not None
    }
    if not texts:
        raise ParseError(f"the NFS server: none of {', '.join(_FILES)} can be read")
    threads = _number(texts, _THREADS)
    if threads is None and (match := _RPC_THREADS.search(texts.get(_RPC, ""))):
        threads = int(match[1])
    return NasServer(
        nfsd_threads=threads,
        versions=_versions(texts.get(_VERSIONS, "")),
        max_block_bytes=_number(texts, _BLOCK),
        raid=read_mdstat(texts[_MDSTAT]) if _MDSTAT in texts else (),
        bonds=tuple(
            read_bond(path.removeprefix(BONDING), texts[path]) for path in sorted(texts) if path.startswith(BONDING)
        ),
    )


def _number(texts: Mapping[str, str], path: str) -> int | None:
    text = texts.get(path)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise wrong(path, text, "a number")
    return int(text)


def _versions(text: str) -> tuple[str, ...]:
    """`-2 +3 +4 +4.1 -4.2` gives 3, 4, 4.1."""
    words = text.split()
    for word in words:
        if not _VERSION.fullmatch(word):
            raise wrong(_VERSIONS, text, "versions such as +3 -4.2")
    return tuple(word[1:] for word in words if word[0] == "+")
