"""What a line only quotes: prompts in request logs, chat, source code, guides, words that were searched for.

An inference server logs what users write, and users write about errors. Such words are told from a log by their form:
they stand in a field of a request, behind `grep` or `echo`, or in a line without stamp or level inside a chat, a guide
or a listing. A fence alone says nothing, since forums fence logs. It runs on lines that match a rule only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LOOK_BACK = 80
"""Lines before a line that tell what it stands in."""
FILL = "…"
"""Stands for what is taken out, so that a field does not look empty."""

_MAY = re.compile(
    r"content|prompt|reasoning|text|input|query|arguments|output|grep|echo|printf|\b(?:rg|sed|awk|CMD|COMMAND)\b"
)
_BODY = r"""(?:"[^"\\]*(?:\\.[^"\\]*)*"?|'[^'\\]*(?:\\.[^'\\]*)*'?)"""
_FIELD = re.compile(rf"""((?<![\w-])["']?(?:content|prompt|reasoning|reasoning_content)["']?\s?[:=]\s?){_BODY}""")
_FIELD_OF_REQUEST = re.compile(
    rf"""((?<![\w-])["']?(?:text|input|query|arguments|output|instructions|system)["']?\s?[:=]\s?){_BODY}"""
)
_FIELD_ESCAPED = re.compile(r'(\\"(?:content|prompt|text|input)\\"\s?:\s?)\\"(?:(?!\\").)*')
_REQUEST = re.compile(
    r"""Received request|Generated response|GenerateReqInput|SamplingParams|["'](?:messages|role)["']|/v1/\w"""
    r"""|["']type["']: ?["'](?:input_)?text["']"""
)
_REPLY = re.compile(r'"choices"|finish_reason|"delta"|"message": ?\{')
_SEARCHED = re.compile(
    r"(?:^|[|;&$#%>(`]\s?|^\+{1,4} |\bsudo |^\s{0,6}\d{1,5}\s{1,3})"
    r"(?:[ezf]?grep|rg|echo|printf|sed|awk|logger)\s+(?=[-\"'$\w/]).*"
    r"|COMMAND=.*|\bCMD \(.*"
)
_STAMPED = re.compile(
    r"\s{0,8}(?:[\w.-]{1,60}\s{0,8}\| )?(?:\[?\d{4}[-/]\d\d[-/]\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d"
    r"|\[ {0,8}\d{1,8}\.\d+\]|\[?\d\d:\d\d:\d\d"
    r"|(?:INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL|FATAL)\b[ :]|\([\w ]{1,30}\bpid=\d|[\w./@-]{1,60}\[\d{1,8}\]:"
    r"|[\w.-]{1,60}:\d{1,8}:\d{1,8} \[\d|\[rank\d|\[[WIEF]\d{4}|kernel: |NVRM: |NCCL (?:WARN|INFO) |time=\")"
)
_TURN = re.compile(
    r"\s{0,4}[>*-]{0,2} ?\*{0,2}(?:(?i:user|assistant|human|chatbot)|Q|A)\*{0,2} ?[:：]\*{0,2}(?:\s|$)"
    r"|<\|(?:user|assistant|im_start)\|>"
)
_NOTE = re.compile(r"\s{0,12}(?:#{1,6} |// |/\*|<!--|;; )")
_SETTING_NOTE = re.compile(r"(\s{0,12}(?:export )?[\w.-]{1,60}(?:: |=)\S{0,80})\s+# .*")
_CODE = re.compile(
    r"(?:[\w./-]{1,120}:\d{1,6}:)?\s{0,40}(?:(?:raise|throw) [\w.:]{2,60}\("
    r"|(?:except|if|elif|while|return|assert|case)\b.{1,200}[:({;]\s*$"
    r"|(?:self\.)?(?:log|logger|logging|console|print|printf|fprintf|pr_err|pr_warn|dev_err|panic|fmt|syslog)(?:\.\w{1,20})?\()"
)
_FRAME = re.compile(r'.{0,60}File "[^"]{1,200}", line \d')
_FENCE = re.compile(r"\s{0,8}(?:```|~~~)\s?(\w*)")
_LANGUAGES = frozenset((
    "python", "py", "c", "cpp", "cxx", "cuda", "cu", "go", "golang", "rust", "rs", "js", "javascript", "ts", "java",
    "typescript", "yaml", "yml", "toml", "ini", "diff", "patch", "dockerfile", "sql", "html", "xml", "nginx",
))  # fmt: skip
_ITEM = re.compile(r"""\s{0,8}(?:(?:[-*+•]|\d{1,2}[.)]) |["'`*“「])""")
_ADVICE = re.compile(
    r"(?:[:,;.?→–—)]|->|=>)\s+(?:then |first |you can |try to |to fix .{1,30}, )?(?:install|run|check"
    r"|set|lower|raise|increase|decrease"
    r"|reduce|restart|reboot|copy|use|try|make sure|verify|see|remove|delete|add|free|clean|update|upgrade|export|mount"
    r"|kill|stop|start|open|disable|enable|means|usually)\b|[：，。→]\s?(?:请|請|执行|執行|检查|檢查|重启|重啟|安装|安裝|降低|使用)",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"\b(?:if|when|whenever|in case|once)\b.{0,30}"
    r"\b(?:see|sees|get|gets|hit|hits|encounter|run into|fails with|says|reports)\b.*"
    r"|(?:如果|若|當|当).{0,20}(?:出現|出现|看到|遇到).*",
    re.IGNORECASE,
)
_GUIDE = re.compile(
    r"(?:#{1,6} |\*\*|=+ ).{0,60}(?:troubleshoot|common (?:errors?|issues|problems|failures)"
    r"|known (?:issues|errors|problems)"
    r"|\bFAQ\b|runbook|error messages|what .{0,20}errors? means?|疑難|疑难|常見|常见|排錯|排错|故障)",
    re.IGNORECASE,
)
_RULE_OF_TABLE = re.compile(r"\s{0,8}\|?(?:\s?:?-{2,60}:?\s?\|){1,20}(?:\s?:?-{2,60}:?\s?)?$")
_DIFF = re.compile(r"diff --git |@@ -\d")

Before = Callable[[], Sequence[str]]
"""Gives up to `LOOK_BACK` lines before a line, oldest first; asked only where they decide."""


def unquoted(line: str, before: Before) -> str:
    """`line` without what it only quotes; the very `line` where it quotes nothing, "" where it is quoted whole."""
    told = _without_fields(line) if _MAY.search(line) else line
    if _STAMPED.match(line):
        return told
    if _TURN.match(line) or _NOTE.match(line) or (_ITEM.match(line) and _ADVICE.search(line)):
        return ""
    known = before()
    if _is_code(line, known) or _in_guide_or_chat(line, known):
        return ""
    if (setting := _SETTING_NOTE.match(told)) is not None:
        return setting[1]
    return _CASE.sub(FILL, told) if _CASE.search(told) else told


def is_reply(line: str) -> bool:
    """Whether a line is what a model answered: its text is what the rules of quality look at."""
    return _REPLY.search(line) is not None


def _without_fields(line: str) -> str:
    told = _FIELD.sub(_filled, line)
    told = _FIELD_ESCAPED.sub(_filled, told)
    if _REQUEST.search(line):
        told = _FIELD_OF_REQUEST.sub(_filled, told)
    told = _SEARCHED.sub(FILL, told)
    return line if told == line else told


def _filled(found: re.Match[str]) -> str:
    return f'{found[1]}"{FILL}"' if found[0][len(found[1]) :] not in ('""', "''") else found[0]


def _is_code(line: str, before: Sequence[str]) -> bool:
    """A line of a program; those that a traceback shows are told by the frame above them and count."""
    return _CODE.match(line) is not None and not any(_FRAME.match(above) for above in before[-2:])


def _in_guide_or_chat(line: str, before: Sequence[str]) -> bool:
    if not before:
        return False
    return (
        _fence(before) in _LANGUAGES
        or _in_turn(before)
        or (line.lstrip().startswith("|") and _in_table(before))
        or _above(before, _GUIDE)
        or (line[:1] in "+- " and _above(before, _DIFF))
    )


def _fence(before: Sequence[str]) -> str | None:
    """The language of the fence that is open after these lines, "" where it says none; None outside."""
    opened: str | None = None
    for line in before:
        if (found := _FENCE.match(line)) is not None:
            opened = None if opened is not None and not found[1] else found[1].lower()
    return opened


def _in_turn(before: Sequence[str]) -> bool:
    """Whether a turn of a chat goes on: nothing empty, fenced or of a log's form since it began."""
    for line in reversed(before):
        if not line.strip() or _FENCE.match(line) or _STAMPED.match(line) or line.startswith("Traceback"):
            return False
        if _TURN.match(line):
            return True
    return False


def _in_table(before: Sequence[str]) -> bool:
    for line in reversed(before):
        if _RULE_OF_TABLE.match(line):
            return True
        if "|" not in line:
            return False
    return False


def _above(before: Sequence[str], head: re.Pattern[str]) -> bool:
    """Whether `head` stands above with no line of a log's form between."""
    for line in reversed(before):
        if head.match(line):
            return True
        if _STAMPED.match(line):
            return False
    return False
