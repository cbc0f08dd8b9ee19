r"""Lines of a recipe's launcher (`[dsv41-exl3] TEXT`) and of its script in the container (`[dsv41-exl3-head] TEXT`).

The memory reports of the engine (`[dsv41-mem] after load_model MemAvailable=...`) carry the same kind of tag.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._log_rules import HEAD, meaning, rule

_TAG = re.compile(r"\[(?P<tag>[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){0,4})\] ?")
_LOUD = re.compile(
    r"(?P<error>\b(?:FATAL|ERROR|error|fatal)\b(?=[:!])|\bFATAL\b)|(?P<warn>\b(?:WARN|WARNING|warning)\b(?=[:!]))"
)
_RULES = (
    rule("failed", "no head log line for", r"no head log line for <seconds:int> ?s"),
    rule("failed", "container exited during startup"),
    rule("failed", "consecutive checks)"),
    rule("failed", "timed out after", r"timed out after <seconds:int>"),
    rule("failed", "a memory guard killed a container"),
    rule("failed", "server did not become healthy"),
    rule("ready", "health check passed after", r"health check passed after <seconds:int> ?s"),
    rule("up", "is UP ("),
    rule("preflight", "preflight OK"),
    rule(
        "waiting",
        "MemAvailable head=",
        r"t\+<seconds:int>s MemAvailable head=<head:num> GiB worker=<worker:num> GiB",
    ),
    rule("waiting", "waiting for http"),
    rule("script", "installed runtime"),
    rule("serve", "launching: "),
    rule("serve", "joining TP", r"joining TP\d{1,3} at \S{1,80} as rank <rank:int>"),
    rule("device", "before init_device"),
    rule("draft", "before dspark_draft.load_model"),
    rule("load", "before load_model"),
    rule("post-load", "process_weights_after_loading"),
    rule("loaded", "after load_model"),
    rule("cache-dropped", "dropped page cache"),
    rule("autotune", "EXL3 pretune"),
)


class LauncherLine(NamedTuple):
    """One line behind its tag."""

    tag: str
    level: Level
    text: str
    says: str
    """failed, ready, up, preflight, waiting, a boot phase, or ""."""
    values: dict[str, str]


def parse_launcher_log(text: str) -> LauncherLine | None:
    """One cleaned line, its docker stamp taken off. None without a tag."""
    text = text[:HEAD]
    tag = _TAG.match(text)
    if tag is None:
        return None
    body = text[tag.end() :]
    says, values = meaning(_RULES, body)
    loud = _LOUD.search(body, 0, 200)
    level: Level = "E" if says == "failed" or (loud and loud["error"]) else "W" if loud else "I"
    return LauncherLine(tag["tag"], level, body, says, values)
