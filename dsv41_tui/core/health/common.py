"""What every check shares: kinds of findings, freshness, numbers as text, and how a finding is put together.

A stale reading still speaks, since a node that runs out of memory answers late: its finding says how old it is and is
never more than a warning. A node that is not connected gives no finding but that of its link.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from dsv41_tui.core.amounts import size as size
from dsv41_tui.core.finding import Cause, Evidence, Finding, Fix, Likelihood, Severity
from dsv41_tui.core.fresh import fresh as fresh
from dsv41_tui.core.fresh import usable as usable
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.readings import MIB
from dsv41_tui.core.text import clean_line
from dsv41_tui.core.value import Value

T = TypeVar("T")
SEVERITIES: tuple[Severity, ...] = ("error", "warn", "info")
"""Worst first."""
LINE_LIMIT = 2000
"""Characters of one text; only absurd names reach it."""


class Kind(Value):
    """One sort of finding. Its texts are `findings.<id>.*` of the catalogue, its page docs/findings.md#<id>."""

    id: str
    severities: tuple[Severity, ...]
    pane: str
    """The pane that shows the reading: "memory" or "nfs"."""


class Seen(NamedTuple):
    """A title's or a fix's values and which text of the kind they fill."""

    values: Mapping[str, object]
    text: str


def title(text: str = "title", **values: object) -> Seen:
    """The values of a title; `text` names another than the usual one."""
    return Seen(_clean(values), text)


def fix(text: str = "fix", **values: object) -> Seen:
    """The values of a fix; `text` names another than the usual one."""
    return Seen(_clean(values), text)


def _clean(values: Mapping[str, object]) -> dict[str, object]:
    """Names come from files with octal escapes, so they can hold what the transport's edge did not see.

    Each is cleaned by itself: a broken escape sequence in a name would swallow the rest of a whole sentence.
    """
    return {key: _line(value) if isinstance(value, str) else value for key, value in values.items()}


def _line(text: str) -> str:
    return clean_line(text, LINE_LIMIT)


def finding(
    kind: Kind,
    severity: Severity,
    head: Seen,
    mend: Seen,
    *,
    node: str | None = None,
    causes: Sequence[Cause] = (),
    evidence: Sequence[Evidence] = (),
    commands: Sequence[str] = (),
    restart: bool = False,
    stale_s: float | None = None,
    count: int = 1,
) -> Finding:
    """Put a finding together; `stale_s` is the age of the reading it rests on, None while that is fresh."""
    text = t(f"findings.{kind.id}.{head.text}", **head.values)
    if stale_s is not None:
        text = t("findings.aged", text=text, age=duration(stale_s))
        severity = "warn" if severity == "error" else severity
    mended = t(f"findings.{kind.id}.{mend.text}", **mend.values)
    return Finding(
        id=kind.id,
        severity=severity,
        title=text,
        cause_id=causes[0].cause_id if causes and causes[0].likelihood in ("confirmed", "likely") else None,
        causes=tuple(causes),
        evidence=tuple(_clean_evidence(item) for item in evidence),
        fix=Fix(text=mended, commands=tuple(commands), restart=restart),
        node=node,
        count=count,
        pane=kind.pane,
    )


def _clean_evidence(item: Evidence) -> Evidence:
    reading = None if item.reading is None else _line(item.reading)
    line = None if item.line is None else _line(item.line)
    return Evidence(source=_line(item.source), reading=reading, line=line)


def cause(cause_id: str, likelihood: Likelihood, why: str, **values: object) -> Cause:
    """One cause; `why` is a key under `findings.why`."""
    return Cause(cause_id=cause_id, likelihood=likelihood, why=t(f"findings.why.{why}", **_clean(values)))


def compute_nodes(state: ClusterState) -> Iterator[NodeState]:
    """Nodes that run the model; a NAS has other needs and is judged elsewhere."""
    return (node for node in state.nodes if node.role != "nas")


def rate(value: float) -> str:
    """Bytes per second for people: `117 MiB/s`."""
    return f"{value / MIB:.0f} MiB/s"


def duration(seconds: float) -> str:
    """Seconds for people: `14 s`, `3 min`, `1 h 10 min`; `?` for what is no span of time."""
    if not 0 <= seconds < 1e9:
        return "0 s" if seconds < 0 else "?"
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def clock(unix_s: float | None, offset_s: float = 0.0) -> str:
    """Time of day where the operator sits, of a moment on a node's clock; `?` where it is not known."""
    if unix_s is None or not 0 < unix_s - offset_s < 1e11:
        return "?"
    return f"{datetime.fromtimestamp(unix_s - offset_s).astimezone():%H:%M}"


def ethernet(mbit: float) -> str:
    """A link speed for people: `1 GbE`, `2.5 GbE`, `100 Mbit/s`."""
    return f"{mbit / 1000:g} GbE" if mbit >= 1000 else f"{mbit:g} Mbit/s"


def readings(**values: int | None) -> str:
    """Several byte counts in the field's terms: `MemFree 1.1 GiB, Cached 109.0 GiB`; an absent one is `unread`."""
    return ", ".join(f"{name} {'unread' if value is None else size(value)}" for name, value in values.items())


def argument(text: str) -> str:
    """Remote text as one argument of a command that is shown to be copied."""
    return shlex.quote(_line(text))


def host_argument(text: str) -> str:
    """A server's name or address for a command; `SERVER` where it could be taken for an option or for shell."""
    return text if re.fullmatch(r"[A-Za-z0-9\[][A-Za-z0-9.:_\[\]%-]*", text) else "SERVER"
