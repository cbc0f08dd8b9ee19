r"""Level, writer and time of one log line of any source: docker's stamp, `(Worker_TP0 pid=268)`, the line's own head.

The layers are taken off in the order in which they were put on: the stamp of docker, journal or dmesg, the name of the
process, then NCCL, glog, vLLM, SGLang, uvicorn, LiteLLM or the launcher. It looks at the head of a line only, since a
flood brings 20,000 a second; what a line means is told by `parse_log_facts` and by the grammars themselves.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.log import Level, LogKind
from dsv41_tui.parsers._log_rules import LEVELS, split_off_stamp
from dsv41_tui.parsers.docker_event import parse_docker_event
from dsv41_tui.parsers.kernel_log import parse_kernel_log
from dsv41_tui.parsers.litellm_log import parse_litellm_log

Writer = Literal["", "nccl", "vllm", "sglang", "torch", "uvicorn", "python", "kernel", "docker", "litellm", "launcher"]

_PROCESS = re.compile(r"\(([A-Za-z][\w-]{0,60}) pid=(\d{1,10})\) ?", re.ASCII)
_TP = re.compile(r"(?:_TP|^VllmWorker-)(\d{1,4})(?=_|$)")
_OTHER_GROUP = re.compile(r"_(?:DP|PP|PCP)[1-9]")
_HEAD_LINE = re.compile(
    r"(?P<vllm>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \["
    r"|(?P<uvicorn>DEBUG|INFO|WARNING|ERROR|CRITICAL|TRACE): {2,8}"
    r"|(?P<python>DEBUG|INFO|WARNING|ERROR|CRITICAL):"
    r"|(?:\[rank(?P<rank>\d{1,5})\]:)? ?\[?(?P<torch>[DIWEFC])\d{4} \d\d:\d\d:\d\d\."
    r"|\[rank(?P<rank_only>\d{1,5})\]:"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?P<sglang> (?:[A-Z]{2,4}\d{1,4} ?)+)?\] (?!\S+:\d+:\d+ \[)"
    r"|(?:\d\d:\d\d:\d\d - )?LiteLLM(?: Proxy| Router)? ?:(?P<litellm>DEBUG|INFO|WARNING|ERROR|CRITICAL):"
    r"|\[(?P<launcher>[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){1,4})\] "
)
_NCCL = re.compile(r"NCCL (INFO|WARN|TRACE|ERROR)\b")
_RANK_OF_GROUP = re.compile(r"\bTP(\d{1,4})")
_LOUD = re.compile(r"(FATAL|ERROR)\b|(WARN(?:ING)?\b)")
_RAISED = re.compile(r"Traceback \(most recent call last\)|[A-Za-z_][\w.]{0,120}(?:Error|Exception|Interrupt|Exit): ")
_LOOK = 400


class ParsedLine(NamedTuple):
    """What the head of one line tells."""

    at: float | None
    """Unix seconds where the line carries a stamp with a zone."""
    level: Level
    process: str | None
    """`Worker_TP0`, `EngineCore`, ..., of the prefix."""
    rank: int | None
    """The global rank where the line itself names it."""
    text: str
    """Without the stamp and the prefix of the process; of JSON the message."""
    kind: Writer


def parse_logline(text: str, kind: LogKind = "rank") -> ParsedLine:
    """One cleaned line of a source of this kind; every text has at least a text."""
    if kind == "kernel":
        return _kernel(text)
    if kind == "events":
        return _event(text)
    at = None
    if text[:1].isdecimal():
        at, text = split_off_stamp(text)
    if text.startswith("{"):
        return _json(at, text)
    process, rank = None, None
    place = text.find(" pid=", 0, _LOOK // 2)
    if place > 0 and (prefix := _PROCESS.search(text, 0, place + 20)) is not None:
        process = prefix[1]
        rank = _rank_of(process)
        text = text[prefix.end() :]
    nccl = text.find("NCCL ", 0, _LOOK)
    if nccl >= 0 and (word := _NCCL.match(text, nccl)) is not None:
        return ParsedLine(at, LEVELS[word[1]], process, rank, text, "nccl")
    head = _HEAD_LINE.match(text)
    if head is not None:
        return _headed(at, process, rank, text, head)
    level: Level = "E" if _RAISED.match(text) is not None else ""
    if not level and (loud := _LOUD.match(text)) is not None:
        level = "E" if loud[1] else "W"
    return ParsedLine(at, level, process, rank, text, "vllm" if process is not None else "")


def _headed(at: float | None, process: str | None, rank: int | None, text: str, head: re.Match[str]) -> ParsedLine:
    """A line whose head is one of the known ones."""
    name = head.lastgroup or ""
    if name in ("vllm", "uvicorn", "python", "litellm"):
        return ParsedLine(at, LEVELS[head[name]], process, rank, text, name)  # type: ignore[arg-type]
    if name == "torch" or head["torch"]:
        own = rank if head["rank"] is None else int(head["rank"])
        return ParsedLine(at, LEVELS[head["torch"]], process, own, text, "torch")
    if name == "rank_only":
        body = text[head.end() :].lstrip()
        return ParsedLine(at, "E" if _RAISED.match(body) else "", process, int(head["rank_only"]), text, "torch")
    if name == "launcher":
        loud = _LOUD.search(text, head.end(), head.end() + 100)
        return ParsedLine(at, "I" if loud is None else "E" if loud[1] else "W", process, rank, text, "launcher")
    group = _RANK_OF_GROUP.search(head["sglang"] or "")
    own = rank if group is None else int(group[1])
    return ParsedLine(at, "E" if "hit an exception" in text[:_LOOK] else "I", process, own, text, "sglang")


def _rank_of(process: str) -> int | None:
    found = _TP.search(process)
    return int(found[1]) if found is not None and _OTHER_GROUP.search(process) is None else None


def _kernel(text: str) -> ParsedLine:
    try:
        line = parse_kernel_log(text)
    except ParseError:
        return ParsedLine(None, "", None, None, text, "kernel")
    return ParsedLine(line.at, line.level, None, None, line.text, "kernel")


def _event(text: str) -> ParsedLine:
    try:
        event = parse_docker_event(text)
    except ParseError:
        event = None
    if event is None:
        return ParsedLine(None, "", None, None, text, "docker")
    return ParsedLine(event.at, event.level, None, None, event.text, "docker")


def _json(at: float | None, text: str) -> ParsedLine:
    """A line of JSON logging, of LiteLLM or of another writer with the same keys."""
    line = parse_litellm_log(text)
    if line is None:
        return ParsedLine(at, "", None, None, text, "")
    return ParsedLine(at if at is not None else line.at, line.level, None, None, line.text, "litellm")
