r"""What of a log line is its message: shown where a row has no room for the prefixes, found for lines in sight only.

`(Worker_TP1 pid=268) INFO 11-30 22:24:31 [cache.py:88] text` is `text`, a warning of NCCL keeps file and line, and a
process other than the rank's own worker is named. The line itself stays whole for filter, copy and evidence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dsv41_tui.parsers.logline import parse_logline

if TYPE_CHECKING:
    from dsv41_tui.core.log import LogKind
    from dsv41_tui.parsers.logline import ParsedLine, Writer

_NCCL = re.compile(
    r"(?:\[[\d :-]{19}\] )?(?:\S{1,80}:\d{1,10}:\d{1,10} \[[\d,-]{1,20}\] )?"
    r"(?:(?P<file>[\w./-]{1,80}:\d{1,6} )(?:\([\w:~<>]{1,80}\) )?)?NCCL (?:INFO|WARN|TRACE|ERROR) "
)
_RANK = re.compile(r"\[rank\d{1,5}\]:\s?")
_TORCH = re.compile(
    r"(?:\[rank\d{1,5}\]:)? ?\[?[DIWEFC]\d{4} \d\d:\d\d:\d\d\.\d{1,9} (?:\d{1,10} )?(?P<file>[\w./-]{1,80}:\d{1,6})?\] "
)
_HEADS: dict[Writer, tuple[re.Pattern[str], ...]] = {
    "nccl": (_NCCL,),
    "vllm": (re.compile(r"[A-Z]{4,8} \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\s]{1,120}\] "),),
    "uvicorn": (re.compile(r"[A-Z]{4,8}: {2,8}"),),
    "python": (re.compile(r"[A-Z]{4,8}:"),),
    "torch": (_TORCH, _RANK),
    "sglang": (re.compile(r"\[[\d :-]{19}(?: [A-Z]{2,4}\d{1,4}){0,6}\] "),),
    "litellm": (re.compile(r"(?:\d\d:\d\d:\d\d - )?LiteLLM(?: Proxy| Router)? ?:[A-Z]{4,8}: ?"),),
}
_KNOWN = 1024


class Message(NamedTuple):
    """Pieces of a text that are shown, each with what is put behind it."""

    text: str
    pieces: tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=_KNOWN)
def message(text: str, kind: LogKind, label: str) -> Message:
    """The message of one safe line; `label` is the rank that stands beside it, `r1`."""
    parsed = parse_logline(text, kind)
    whole = text if text.endswith(parsed.text) else parsed.text
    start = len(whole) - len(parsed.text)
    pieces = list(_process(whole[:start], parsed, label))
    head = _head(parsed)
    if head is not None and "file" in head.re.groupindex and head["file"]:
        first, last = head.span("file")
        pieces.append((start + first, start + last, "" if whole[start + last - 1] == " " else " "))
    start += head.end() if head is not None else 0
    return Message(whole, (*pieces, (start, len(whole), ""))) if start < len(whole) else _whole(whole)


def _whole(text: str) -> Message:
    return Message(text, ((0, len(text), ""),))


def _process(prefix: str, parsed: ParsedLine, label: str) -> tuple[tuple[int, int, str], ...]:
    """The name of the process, where it is not the worker of this rank."""
    if parsed.process is None or f"r{parsed.rank}" == label:
        return ()
    at = prefix.rfind(f"({parsed.process} pid=") + 1
    return ((at, at + len(parsed.process), ": "),) if at > 0 else ()


def _head(parsed: ParsedLine) -> re.Match[str] | None:
    matches = (pattern.match(parsed.text) for pattern in _HEADS.get(parsed.kind, ()))
    return next((match for match in matches if match is not None), None)
