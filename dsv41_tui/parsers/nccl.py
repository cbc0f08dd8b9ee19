r"""Lines of NCCL 2.18 to 2.30: `[STAMP ]HOST:PID:TID [DEVICE] [FILE:LINE [(FUNC) ]]NCCL INFO|WARN|TRACE TEXT`.

The stamp stands on WARN only, since 2.26, and its form can be set; `(FUNC)` since 2.30. The version is a line of its
own without a host where `NCCL_DEBUG` is WARN or VERSION. File and line number are no part of any meaning. Lines can be
cut and mixed with others, since NCCL writes them to a C stream that Python does not know of.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._log_rules import HEAD, LEVELS, meaning, rule

_HEAD_LINE = re.compile(
    r"(?P<host>[\w.%-]{1,64}):(?P<pid>\d{1,10}):(?P<tid>\d{1,10}) \[(?P<device>\d{1,4})\] "
    r"(?:[\d.]{1,20} )?(?:\S{1,120}:\d{1,6} )?(?:\((?P<function>[^()]{1,80})\) )?$"
)
_WORD = re.compile(r"NCCL (INFO|WARN|TRACE|ERROR|ABORT) ?")
_ADDRESS = r"(?P<address>[^\s<>]{1,64})<(?P<port>\d{1,6})>"

_RULES = (
    rule("mismatch", "Mismatched NCCL version"),
    rule("version", "NCCL version ", r"NCCL version (?P<version>\d[\w.+-]{0,40})"),
    rule("version", "using nccl==", r"using nccl==(?P<version>\d[\w.+-]{0,40})"),
    rule("bootstrap", "Bootstrap", rf"Bootstrap ?: Using (?:\[\d+\])?(?P<interface>[^\s:\[\]]{{1,32}}):{_ADDRESS}"),
    rule("no-device", "NET/IB : No device found"),
    rule("devices", "NET/IB : Using", r"NET/IB : Using(?P<list>[^;]{0,600}); ?OOB"),
    rule("devices", "NET/IB : Using", r"NET/IB : Using(?P<list>(?: \[\d+\][^\s;]{1,120}){1,16})"),
    rule("socket-devices", "NET/Socket : Using", r"NET/Socket : Using \[\d+\](?P<interface>[^\s:]{1,32}):"),
    rule("network", "Using network ", r"Using network (?P<network>[\w-]{1,40})"),
    rule("network", "Assigned NET plugin ", r"Assigned NET plugin (?P<network>[\w-]{1,40}) to comm"),
    rule("no-network", "Failed to initialize any NET plugin"),
    rule("gid-index", "NCCL_IB_GID_INDEX", r"NCCL_IB_GID_INDEX set (?:by environment )?to <gid_index:int>"),
    rule("setting", " set ", r"(?P<key>NCCL_\w{1,60}) set (?:by environment )?to (?P<value>[^\s]{0,300}?)\.?$"),
    rule(
        "init-timings",
        "Init timings",
        r"Init timings - (?P<what>\w{1,60}): rank <rank:int> nranks <ranks:int> total <seconds:num>",
    ),
    rule(
        "init-start",
        "Init START",
        r"(?P<what>ncclComm\w{1,40})? ?comm <comm:hex> rank <rank:int> n[rR]anks <ranks:int>",
    ),
    rule(
        "init-complete",
        "Init COMPLETE",
        r"(?P<what>ncclComm\w{1,40})? ?comm <comm:hex> rank <rank:int> n[rR]anks <ranks:int>",
    ),
    rule("gone", " COMPLETE", r"comm <comm:hex> .{0,200}- (?:Abort|Destroy) COMPLETE"),
    rule("channels", "coll channels", r"<channels:int> coll channels"),
    rule("ring-order", "Channel ", r"Channel \d{1,4}/(?P<channels>\d{2,4}) : \d"),
    rule("path", " via ", r" via (?P<path>(?:NET/[\w-]{1,30}/\d{1,3}|P2P/|SHM/))(?P<gdr>/GDRDMA)?"),
    rule("connected", "Connected all ", r"Connected all (?:rings|trees)(?:.{0,60}GDR (?P<gdr>\d))?"),
    rule(
        "registration-failed",
        "ibv_reg_",
        r"(?P<verb>ibv_reg_\w{1,24})\b.{0,60}failed(?: with (?:error )?(?P<error>[^,]{1,120}))?",
    ),
    rule(
        "queue-pair-failed",
        "ibv_modify_qp",
        r"ibv_modify_qp failed with (?:error )?(?P<error>(?:<errno:int> )?[^,]{1,80})(?:, on dev"
        r" (?P<device>[^\s:,]{1,64}):<port:int>)?(?:.{0,120}local GID index <gid_index:int>, local GID"
        r" (?P<gid>[0-9a-fA-F:.]{1,64}))?",
    ),
    rule("memory-failed", "Cannot allocate memory", r"(?P<verb>ibv_\w{1,32}).{0,80}Cannot allocate memory"),
    rule(
        "completion",
        "Got completion from peer",
        rf"Got completion from peer {_ADDRESS} with status=(?:(?P<name>[A-Z_]{{1,40}})\()?<status:int>\)?"
        rf"(?:.{{0,160}}vendor[_ ]err[= ]<vendor:int>)?(?:.{{0,200}} hca (?P<device>[\w+.-]{{1,64}}))?",
    ),
    rule("gid-table", "GID table changed", r"NET/IB ?: (?P<device>[^\s:]{1,64}):<port:int>|GID table changed"),
    rule(
        "async-event",
        "async",
        r"NET/IB ?: (?P<device>[^\s:]{1,64}):<port:int> .{0,40}async (?:fatal )?event[^:]{0,60}:"
        r" <event:text>",
    ),
    rule("peer-closed", "closed by remote peer", rf"[Cc]onnection closed by remote peer (?:{_ADDRESS})?"),
    rule("peer-closed", "Connection reset by peer", rf"(?:{_ADDRESS}.{{0,60}})?Connection reset by peer"),
    rule("peer-closed", "Broken pipe", rf"(?:{_ADDRESS}.{{0,60}})?Broken pipe"),
    rule("hint", "HINT:", r"HINT: ?<hint:text>"),
    rule("result", " -> ", r"\S{1,80}:\d{1,6} -> <result:int>\b"),
)


class NcclLine(NamedTuple):
    """One line; host, pid and device are None on the bare version line."""

    host: str | None
    pid: int | None
    device: int | None
    level: Level
    function: str | None
    text: str
    says: str
    """Its meaning, "" where it has none that matters: version, bootstrap, devices, network, init-start, ..."""
    values: dict[str, str]
    """Named parts of that meaning, as written."""


def parse_nccl(text: str) -> NcclLine | None:
    """One cleaned line; stamps and prefixes of other sources may stand before it. None: NCCL did not write it."""
    text = text[:HEAD]
    at = text.find("NCCL ")
    if at < 0:
        if "using nccl==" not in text:
            return None
        says, values = meaning(_RULES, text)
        return NcclLine(None, None, None, "I", None, text, says, values)
    word = _WORD.match(text, at)
    if word is None:
        says, values = meaning(_RULES, text)
        bare = says in ("version", "mismatch")
        return NcclLine(None, None, None, "I", None, text.strip(), says, values) if bare else None
    body = text[word.end() :]
    says, values = meaning(_RULES, body)
    level = LEVELS.get(word[1], "E")
    head = _HEAD_LINE.search(text[max(0, at - 300) : at])
    if head is None:
        return NcclLine(None, None, None, level, None, body, says, values)
    return NcclLine(head["host"], int(head["pid"]), int(head["device"]), level, head["function"], body, says, values)
