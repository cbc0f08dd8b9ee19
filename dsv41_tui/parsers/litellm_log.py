r"""Lines of the LiteLLM proxy: `14:03:22 - LiteLLM Proxy:ERROR: proxy_server.py:1234 - TEXT`, JSON, or uvicorn's own.

With `json_logs` each line is `{"message": ..., "level": "ERROR", "timestamp": ...}`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._fields import one_line
from dsv41_tui.parsers._log_rules import HEAD, LEVELS, meaning, rule, split_off_stamp

_HEAD_LINE = re.compile(
    r"(?:\d\d:\d\d:\d\d - )?(?P<logger>LiteLLM(?: Proxy| Router)?) ?:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL): ?"
    r"(?:(?P<file>[\w./-]{1,120}:\d{1,6}) - )?"
)
_RULES = (
    rule(
        "unreachable",
        "Cannot connect to host",
        r"Cannot connect to host (?P<host>[^\s:\[\]]{1,255}|\[[0-9a-fA-F:]{1,64}\]):<port:int>",
    ),
    rule("no-deployments", "No deployments available", r"No deployments available.{0,200}"),
    rule("cooldown", "cooldown", r"[Cc]ooldown.{0,200}"),
    rule("error", "litellm.", r"litellm\.(?P<error>[A-Z]\w{1,60}(?:Error|Exception|Timeout))\b"),
    rule("error", "Exception", r"(?P<error>[A-Z]\w{1,60}Exception) - "),
    rule("answered", '" 200', r'"POST (?P<path>/[\w/]{0,40}completions\b[^"]{0,60}) HTTP/[\d.]{1,4}" 200'),
    rule("serving", "Application startup complete"),
)


class LitellmLine(NamedTuple):
    """One line of the proxy."""

    at: float | None
    """Unix seconds, of the JSON form with a zone only."""
    level: Level
    text: str
    says: str
    """unreachable, no-deployments, cooldown, error, answered, serving, or ""."""
    values: dict[str, str]


def parse_litellm_log(text: str) -> LitellmLine | None:
    """One cleaned line, its docker stamp taken off. None: it has neither LiteLLM's form nor one of its texts."""
    if text.startswith("{") and (found := _json(text)) is not None:
        return found
    text = text[:HEAD]
    head = _HEAD_LINE.match(text)
    body = text if head is None else text[head.end() :]
    says, values = meaning(_RULES, body)
    if head is None and not says:
        return None
    level: Level = LEVELS[head["level"]] if head is not None else ("I" if says in ("answered", "serving") else "")
    return LitellmLine(None, level, body, says, values)


def _json(text: str) -> LitellmLine | None:
    """A JSON record with a message; None for any other text."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("message"), str):
        return None
    body = one_line(fields["message"])[:HEAD]
    at = split_off_stamp(_text(fields, "timestamp")[:64])[0]
    says, values = meaning(_RULES, body)
    return LitellmLine(at, LEVELS.get(_text(fields, "level").upper(), ""), body, says, values)


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
