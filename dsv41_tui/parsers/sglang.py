r"""SGLang's few lines: `[2026-11-30 17:40:02 TP0] Decode batch, #running-req: 1, ...`; the level is not written."""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._log_rules import HEAD, meaning, rule

_HEAD_LINE = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: (?P<group>(?:[A-Z]{2,4}\d{1,4} ?){1,5}))?\] ?")
_TP = re.compile(r"\bTP(\d{1,4})")
_RULES = (
    rule(
        "decode",
        "Decode batch",
        r"Decode batch.{0,40}#running-req: <running:int>(?:.{0,300}gen throughput \(token/s\):"
        r" <generation:num>)?(?:.{0,120}#queue-req: <waiting:int>)?",
    ),
    rule(
        "prefill",
        "Prefill batch",
        r"Prefill batch.{0,300}#running-req: <running:int>(?:.{0,80}#queue-req: <waiting:int>)?",
    ),
    rule("serving", "The server is fired up and ready"),
    rule("memory", "Memory pool end", r"avail mem=<gib:num> GB"),
    rule("memory", "KV Cache is allocated", r"#tokens: <tokens:int>"),
    rule("memory", "full_token=", r"full_token=<tokens:int>"),
    rule("load", "Load weight begin"),
    rule("loaded", "Load weight end"),
    rule("distributed", "Init torch distributed begin"),
    rule("capture", "Capture cuda graph begin"),
    rule("graphs", "Capture cuda graph end"),
    rule(
        "exception",
        "hit an exception",
        r"(?P<who>Scheduler|Detokenizer\w{0,10}|TpModelWorker\w{0,10}|TokenizerManager) hit an exception",
    ),
    rule("exception", "Received sigquit from a child process"),
    rule("health-failed", "Health check failed"),
    rule("watchdog", "Watchdog timeout"),
)
_BAD = frozenset({"exception", "health-failed", "watchdog"})


class SglangLine(NamedTuple):
    """One line; `rank` is that of the tensor-parallel group."""

    rank: int | None
    level: Level
    text: str
    says: str
    values: dict[str, str]


def parse_sglang(text: str) -> SglangLine | None:
    """One cleaned line, its docker stamp taken off. None: no head of SGLang's and none of its texts."""
    text = text[:HEAD]
    head = _HEAD_LINE.match(text)
    body = text if head is None else text[head.end() :]
    says, values = meaning(_RULES, body)
    if head is None and not says:
        return None
    tp = _TP.search(head["group"] or "") if head is not None else None
    level: Level = "E" if says in _BAD else "I"
    return SglangLine(int(tp[1]) if tp is not None else None, level, body, says, values)
