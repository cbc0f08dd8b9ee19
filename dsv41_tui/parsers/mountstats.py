r"""`/proc/self/mountstats`: what NFS mounts did since they were mounted (statvers 1.x).

Grammar: one block per mount, headed `device SRC mounted on DIR with fstype TYPE statvers=1.1`, then lines
`TAB key: TAB value`, one `xprt:` line per connection, and under `per-op statistics` one line per operation:
`OPS TRANSMISSIONS TIMEOUTS SENT RECEIVED QUEUE_MS RTT_MS EXECUTE_MS [ERRORS]`, eight columns before kernel 5.3.
An empty line ends a block. Mounts that are not NFS have a head only.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import MountStats, OpStats, Transport
from dsv41_tui.parsers._fields import NFS_TYPES, empty, options, unescape, wrong

_SOURCE = "/proc/self/mountstats"
_BLOCK = re.compile(r"^(?:no )?device ", re.MULTILINE)
_HEAD = re.compile(r"(\S+) mounted on (\S+) with fstype (nfs4?)(?: statvers=\S+)?")
_KNOWN = ("\topts", "\tage", "\tbytes", "\txprt")
_OPERATIONS = "\tper-op statistics\n"
_OPERATION = re.compile(r"^\t *([A-Za-z0-9_]+):((?: -?[0-9]{1,20}){8,})$", re.MULTILINE)
_NUMBERS = re.compile(r"-?[0-9]{1,20}(?: -?[0-9]{1,20})* ?")
_READS = frozenset({"READ", "READ_PLUS"})
_COLUMNS = (
    "ops",
    "transmissions",
    "timeouts",
    "bytes_sent",
    "bytes_received",
    "queue_ms",
    "rtt_ms",
    "execute_ms",
    "errors",
)
_SERVER_READ, _SERVER_WRITE = 4, 5
# Where connects, idle seconds, sends, receives and backlog stand after the protocol's word; newer kernels append.
_XPRT_COLUMNS = {
    "tcp": (2, 4, 5, 6, 9),
    "rdma": (2, 4, 5, 6, 9),
    "local": (1, 3, 4, 5, 8),
    "udp": (None, None, 2, 3, 6),
}


def parse_mountstats(text: str) -> tuple[MountStats, ...]:
    """All NFS blocks, in the kernel's order, one `Transport` per connection.

    A block without its closing empty line was cut off, and then nothing of the text is used: a sum over half the
    operations looks like a remount, and a mount that is silently missing looks unmounted. Raises ParseError for that,
    for a torn line, and for a protocol whose columns are unknown.
    """
    if not text.strip():
        raise empty(_SOURCE)
    if not text.endswith("\n"):
        raise ParseError(f"{_SOURCE} is cut off")
    before, *blocks = _BLOCK.split(text)
    if before.strip():
        raise wrong(_SOURCE, before.lstrip().split("\n", 1)[0], "device")
    mounts = []
    for block in blocks:
        head = block.split("\n", 1)[0]
        match = _HEAD.fullmatch(head)
        if match is not None:
            mounts.append(_mount(block, match))
        elif head.rpartition(" with fstype ")[2].partition(" ")[0] in NFS_TYPES or " with fstype " not in head:
            raise wrong(_SOURCE, head, "device, mounted on, with fstype")
    return tuple(mounts)


def _mount(block: str, head: re.Match[str]) -> MountStats:
    mount_point = unescape(head[2])
    where = f"{_SOURCE}, {mount_point}"
    details, marker, operations = block.partition(_OPERATIONS)
    if not marker or not operations.endswith("\n\n"):
        raise ParseError(f"{where}: the block is cut off")
    single, transports = _details(details, where)
    counted = _numbers(single["bytes"], 6, where) if "bytes" in single else None
    read, total = _operations(operations, where)
    return MountStats(
        mount_point=mount_point,
        source=unescape(head[1]),
        fstype=head[3],
        age_s=_numbers(single["age"], 1, where)[0] if "age" in single else None,
        options=options(single.get("opts", "")),
        server_read_bytes=None if counted is None else counted[_SERVER_READ],
        server_write_bytes=None if counted is None else counted[_SERVER_WRITE],
        transports=transports,
        read=read,
        total=total,
    )


def _details(text: str, where: str) -> tuple[dict[str, str], tuple[Transport, ...]]:
    """The lines above the operations, by key; those that the panel does not read can have any form."""
    single, transports = {}, []
    for line in text.split("\n")[1:]:
        key, separator, value = line.partition(":\t")
        if not line.startswith(_KNOWN):
            continue
        if not separator:
            raise wrong(where, line, "a key, a colon and a tab")
        if key == "\txprt":
            transports.append(_transport(value, where))
        else:
            single[key[1:]] = value
    return single, tuple(transports)


def _numbers(value: str, least: int, where: str) -> list[int]:
    numbers = value.split() if _NUMBERS.fullmatch(value) else []
    if len(numbers) < least:
        raise wrong(where, value, f"at least {least} numbers")
    return [int(number) for number in numbers]


def _transport(value: str, where: str) -> Transport:
    protocol, _, rest = value.partition(" ")
    columns = _XPRT_COLUMNS.get(protocol)
    if columns is None:
        raise wrong(where, value, "xprt tcp, udp, local or rdma")
    connects, idle, sends, receives, backlog = columns
    numbers = _numbers(rest, backlog + 1, where)
    return Transport(
        protocol=protocol,
        connect_count=None if connects is None else numbers[connects],
        idle_s=None if idle is None else numbers[idle],
        sends=numbers[sends],
        receives=numbers[receives],
        backlog=numbers[backlog],
    )


def _operations(text: str, where: str) -> tuple[OpStats, OpStats]:
    """Sums over the read operations and over all; most operations never ran, and those lines cost no conversion."""
    found = _OPERATION.findall(text)
    if not found or len(found) != text.rstrip("\n").count("\n") + 1:
        raise _torn_operation(text, where)
    rows = [(name, [int(n) for n in values.split()[:9]]) for name, values in found if values.strip("0 ")]
    if len({len(row) for _, row in rows}) > 1:
        raise ParseError(f"{where}: operations with 8 and with 9 columns in one block")
    return _sum([row for name, row in rows if name in _READS]), _sum([row for _, row in rows])


def _torn_operation(text: str, where: str) -> ParseError:
    lines = text.rstrip("\n").split("\n")
    bad = next((line for line in lines if not _OPERATION.fullmatch(line)), "")
    return wrong(where, bad, "an operation and 8 or 9 numbers")


def _sum(rows: list[list[int]]) -> OpStats:
    columns = [sum(column) for column in zip(*rows, strict=True)]
    return OpStats(**dict(zip(_COLUMNS, columns, strict=False)))
