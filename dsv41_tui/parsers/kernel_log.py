r"""One kernel message, of `journalctl -k -o json`, `journalctl -k`, `dmesg`, `dmesg -T` or `/dev/kmsg`.

In JSON all fields are strings; MESSAGE is an array of byte numbers where it is no valid UTF-8, null where it is longer
than 4096 bytes, and an array of messages where the field was repeated. PRIORITY is syslog's, 0 to 7.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.log import Level
from dsv41_tui.parsers._fields import one_line, wrong
from dsv41_tui.parsers._log_rules import HEAD, meaning, rule, split_off_stamp

_KMSG = re.compile(r"<(?P<priority>\d{1,3})>|(?P<number>\d{1,3}),\d{1,20},\d{1,20},[^;\n]{0,40};")
_DMESG = re.compile(r"\[(?: {0,8}\d{1,10}\.\d{1,9}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?")
_SYSLOG = re.compile(r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? )?\S{1,64} kernel(?:\[\d{1,9}\])?: ?")
_LEVELS: tuple[Level, ...] = ("E", "E", "E", "E", "W", "I", "I", "D")

_RULES = (
    rule(
        "xid",
        "Xid",
        r"NVRM: Xid \(PCI:<pci:pci>\): <xid:int>(?:, pid='?(?P<pid>\d{1,10}|<unknown>)'?)?(?:,"
        r" name=(?P<process>[^,]{1,64}))?(?:,? ?<text:text>)?",
    ),
    rule("nvrm", "NVRM:", r"NVRM: <text:text>"),
    rule(
        "oom",
        "ut of memory: Kill",
        r"(?P<scope>Memory cgroup o|O)ut of memory: Kill(?:ed)? process <pid:int>"
        r" \((?P<process>[^)]{1,64})\)(?:.{0,80}anon-rss:<anon_kb:int>kB)?",
    ),
    rule("oom", "oom-kill:", r"oom-kill:.{0,300}task=(?P<process>[^,]{1,64}),pid=<pid:int>"),
    rule("oom", "invoked oom-killer", r"(?P<process>\S.{0,62}) invoked oom-killer"),
    rule("link-down", "Link down", r"mlx5_core <pci:pci>(?: (?P<interface>[\w.@-]{1,32}))?: Link down"),
    rule("link-up", "Link up", r"mlx5_core <pci:pci>(?: (?P<interface>[\w.@-]{1,32}))?: Link up"),
    rule("cable", "able ", r"mlx5_core <pci:pci>.{0,80}Cable (?P<state>un)?plug"),
    rule("nfs-silent", "not responding", r"nfs: server (?P<server>\S{1,255}) not responding"),
    rule("nfs-back", "nfs: server", r"nfs: server (?P<server>\S{1,255}) OK"),
    rule(
        "hung-task",
        "blocked for more than",
        r"task (?P<process>\S.{0,62}):<pid:int> blocked for more than <seconds:int> seconds",
    ),
    rule("aer", "AER", r"AER: <text:text>"),
    rule("aer", "PCIe Bus Error", r"PCIe Bus Error: severity=<text:text>"),
    rule("mlx5", "mlx5_core", r"mlx5_core <pci:pci>.{0,40}: <text:text>"),
)
_WITHOUT_PRIORITY: dict[str, Level] = {
    "xid": "E", "oom": "E", "link-down": "E", "hung-task": "E", "nfs-silent": "W", "aer": "W",
}  # fmt: skip


class KernelLine(NamedTuple):
    """One message."""

    at: float | None
    """Unix seconds; None where the source stamps with seconds since boot or local time."""
    level: Level
    text: str
    says: str
    """xid, nvrm, oom, link-down, link-up, cable, nfs-silent, nfs-back, hung-task, aer, mlx5, or ""."""
    values: dict[str, str]


def parse_kernel_log(text: str) -> KernelLine:
    """One line; a ParseError for JSON that is no message of the journal. A message of null becomes an empty text."""
    if text.startswith("{"):
        return _journal(text)
    text = text[:HEAD]
    at, rest = split_off_stamp(text)
    level: Level = ""
    kmsg = _KMSG.match(rest)
    if kmsg is not None:
        level = _LEVELS[int(kmsg["priority"] or kmsg["number"]) & 7]
        rest = rest[kmsg.end() :]
    for head in (_SYSLOG, _DMESG):
        found = head.match(rest)
        rest = rest if found is None else rest[found.end() :]
    says, values = meaning(_RULES, rest)
    return KernelLine(at, level or _WITHOUT_PRIORITY.get(says, ""), rest, says, values)


def _journal(text: str) -> KernelLine:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong("journalctl", text, "one JSON object a line") from None
    if not isinstance(fields, dict):
        raise ParseError("journalctl: a JSON object a line expected")
    message = one_line(_message(fields.get("MESSAGE")))[:HEAD]
    stamp, priority = _first(fields.get("__REALTIME_TIMESTAMP")), _first(fields.get("PRIORITY"))
    at = int(stamp) / 1e6 if stamp.isascii() and stamp.isdecimal() and len(stamp) < 19 else None
    level: Level = _LEVELS[int(priority)] if priority in set("01234567") else ""
    says, values = meaning(_RULES, message)
    return KernelLine(at, level or _WITHOUT_PRIORITY.get(says, ""), message, says, values)


def _message(value: Any) -> str:
    """A text, an array of byte numbers, null, or an array of any of these."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    if value and all(type(item) is int and 0 <= item < 256 for item in value):
        return bytes(value).decode("utf-8", "replace")
    return (
        " ".join(filter(None, (_message(item) for item in value if isinstance(item, str | list))))
        if _flat(value)
        else ""
    )


def _flat(value: list[Any]) -> bool:
    """One level of nesting is what the journal writes; deeper ones are somebody's trap."""
    return all(not isinstance(item, list) or all(type(byte) is int for byte in item) for item in value)


def _first(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else ""
