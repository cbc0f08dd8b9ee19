"""The failure book as data: what a failure looks like, what can have caused it, what tells the causes apart, the fix.

One TOML file a failure (`data/failures/<id>.toml`) and one a cause (`data/causes/<cause_id>.toml`); the operator's own
lie in the config folder. Texts are tables by language. A failure carries its own examples and counter-examples: its
tests. Conditions are written in the small language of `core.conditions`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dsv41_tui.core.finding import Severity
from dsv41_tui.core.value import Value

Layer = Literal["nccl", "vllm", "kernel", "nfs", "docker", "api", "ssh", "disk", "quality"]
Gravity = Literal["critical", "high", "medium", "low", "none"]
"""Severities of the catalogue; `none` is a harmless line."""
Prior = Literal["certain", "likely", "possible"]
"""Of a cause that no reading decides: the line itself proves it, it is the usual one, or it is one of several."""
SEVERITY: dict[Gravity, Severity] = {
    "critical": "error", "high": "error", "medium": "warn", "low": "warn", "none": "info",
}  # fmt: skip
Text = dict[str, str]
"""By language: `en` always, `zh-Hant` and `zh-Hans` in every file that ships."""


class Match(Value):
    """What shows the failure. Patterns are regular expressions over one cleaned line, upper and lower case alike."""

    any: tuple[str, ...] = ()
    """A line that matches one of these shows it."""
    near: tuple[str, ...] = ()
    """One of these must stand within the span of that line, before or after, the line itself included."""
    unless: tuple[str, ...] = ()
    """A line that matches one of these does not count."""
    unless_near: tuple[str, ...] = ()
    """A line with one of these within the span does not count."""
    span_lines: int = Field(default=60, ge=0, le=2000)
    span_s: float = Field(default=120.0, gt=0)
    count: int = Field(default=1, ge=1)
    """So many lines, within `within_s` where lines carry times, make it."""
    within_s: float | None = Field(default=None, gt=0)
    when: str | None = None
    """A condition on readings: the failure is not raised where this is known to be false."""
    needs: str | None = None
    """A condition on readings: the failure is raised only where this is known to be true."""
    reading: tuple[str, ...] = ()
    """Conditions that show the failure without any line."""
    log: Literal["any", "engine", "kernel"] = "any"
    """Where the line may stand when the panel knows the source of a line; a pasted text is taken for all of them."""


class CauseRule(Value):
    """One cause of one failure, and what decides for or against it here."""

    id: str
    """Of a file in `data/causes`."""
    prior: Prior = "possible"
    confirmed_by: tuple[str, ...] | None = None
    """Conditions, one of which is enough; absent: those of the cause's own file."""
    likely_by: tuple[str, ...] | None = None
    ruled_out_by: tuple[str, ...] | None = None
    why: Text = {}
    """Said beside the readings."""
    fix: Text = {}
    """Instead of the cause's own."""
    commands: tuple[str, ...] | None = None


class Example(Value):
    """A text that shows the failure, or that must not (`[[counter]]`)."""

    text: str
    context: str = ""
    """Readings as an operator pastes them."""
    cause: str | None = None
    """The cause that must come first, confirmed or likely; None: the readings decide for none."""
    confirmed: bool = False
    """Whether readings or the line itself must decide for it."""


class FailureRule(Value):
    """One failure."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    layer: Layer
    severity: Gravity
    title: Text
    """What failed, without its cause: "RDMA memory registration failed"."""
    what: Text = {}
    """One or two sentences: how it comes about."""
    match: Match
    echo: bool = False
    """It only follows from another error: folded under the first one where there is one."""
    folds: tuple[str, ...] = ()
    """Failures that this one explains: they are folded under it."""
    clears_on: tuple[str, ...] = ()
    """Patterns of lines that say that it is over. With a group `(?P<on>…)`: only of lines that hold the same text."""
    clears_after_s: float | None = None
    """It is over when it has not been seen for so long; None: it stays until the service starts anew."""
    cause: tuple[CauseRule, ...] = ()
    measure: tuple[str, ...] = ()
    """Commands that tell the causes apart, beside those of the causes."""
    sources: tuple[str, ...] = ()
    example: tuple[Example, ...] = ()
    counter: tuple[Example, ...] = ()


class CauseFile(Value):
    """What is common to a cause wherever it appears."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    title: Text
    """"page cache holds the memory"."""
    confirmed_by: tuple[str, ...] = ()
    likely_by: tuple[str, ...] = ()
    ruled_out_by: tuple[str, ...] = ()
    measure: tuple[str, ...] = ()
    """Commands that show whether it is the cause."""
    fix: Text
    commands: tuple[str, ...] = ()
    """Exact, in order, whole; placeholders only in capitals (NODE, IMAGE)."""
    restart: bool = False
    """Whether the fix costs a restart of the service (or of the host)."""
    plan: str | None = None
    """The plan of the panel that does it: start, stop, restart, restart-proxy, drop-cache, sync, link."""
    sources: tuple[str, ...] = ()


class Book(Value):
    """Everything that is known of failures; harmless lines are in it with gravity `none`."""

    failures: tuple[FailureRule, ...] = ()
    causes: dict[str, CauseFile] = {}
