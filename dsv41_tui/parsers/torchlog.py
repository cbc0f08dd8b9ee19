r"""PyTorch's own lines: `[rank0]:[E1130 16:07:52.403077789 ProcessGroupNCCL.cpp:2303] TEXT`, and its exceptions.

The form is glog's: a letter for the level, month and day, local time. Python's side writes `W1130 15:57:32.594000 PID
torch/_library/triton.py:53] TEXT`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._log_rules import HEAD, LEVELS, meaning, rule

_HEAD_LINE = re.compile(
    r"(?:\[rank(?P<rank>\d{1,5})\]:)? ?\[?(?P<level>[DIWEFC])\d{4} \d\d:\d\d:\d\d\.\d{1,9} (?:\d{1,10} )?"
    r"(?P<file>[^\]\s]{1,200}:\d{1,6})\] ?"
)
_RANK_ONLY = re.compile(r"\[rank(?P<rank>\d{1,5})\]: ?")
_RULES = (
    rule(
        "watchdog",
        "Watchdog caught collective operation timeout",
        r"\[?Rank <rank:int>\]? ?Watchdog|Watchdog caught",
    ),
    rule(
        "heartbeat",
        "eartbeat",
        r"[Hh]eartbeat.{0,200}(?:timed out|stuck|no"
        r" heartbeat|hang)",
    ),
    rule("clients", "clients joined", r"<joined:int>/<expected:int> clients joined"),
    rule(
        "store-lost",
        "TCPStore.cpp",
        r"(?:recvValue|sendBytes|recvBytes)\w{0,20} failed.{0,200}remote=<address:ip>:<port:int>",
    ),
    rule(
        "store-lost",
        "Did the remote server shutdown or crash",
        r"(?:remote=<address:ip>:<port:int>.{0,200})?Did the remote server",
    ),
    rule("nccl-error", "NCCL error", r"NCCL error(?: in)?: ?<error:text>"),
    rule("peer-closed", "Connection closed by peer", r"Connection closed by peer <address:ip>:<port:int>"),
    rule("not-destroyed", "destroy_process_group() was not called"),
)


class TorchLine(NamedTuple):
    """One line; `rank` is the global one that torch names."""

    rank: int | None
    level: Level
    text: str
    says: str
    values: dict[str, str]


def parse_torchlog(text: str) -> TorchLine | None:
    """One cleaned line, its docker stamp taken off. None: no glog head, no `[rankN]:`, none of torch's texts."""
    text = text[:HEAD]
    head = _HEAD_LINE.match(text) or _RANK_ONLY.match(text)
    body = text if head is None else text[head.end() :]
    says, values = meaning(_RULES, body if head is None or "file" not in head.re.groupindex else text)
    if head is None and not says:
        return None
    if head is None:
        return TorchLine(None, "E", body, says, values)
    rank = int(head["rank"]) if head["rank"] is not None else None
    level: Level = LEVELS[head["level"]] if "level" in head.re.groupindex else ""
    return TorchLine(rank, level, body, says, values)
