"""What is wrong, as it is told: one finding, its causes, its evidence, what mends it. Contract: design, section 8."""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.value import Value

Severity = Literal["info", "warn", "error"]
Likelihood = Literal["confirmed", "likely", "possible", "ruled-out"]


class Cause(Value):
    """One cause of a finding, with the reading that speaks for or against it."""

    cause_id: str
    likelihood: Likelihood
    why: str


class Evidence(Value):
    """A reading or a line that proves a finding."""

    source: str
    reading: str | None = None
    line: str | None = None


class Fix(Value):
    """What mends it: text, exact commands, whether a restart is needed, the plan that does it."""

    text: str
    commands: tuple[str, ...] = ()
    restart: bool = False
    plan: str | None = None


class Finding(Value):
    """One thing that is wrong: cause, evidence, fix. Contract: design, section 8."""

    id: str
    severity: Severity
    title: str
    cause_id: str | None = None
    causes: tuple[Cause, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: Fix
    node: str | None = None
    count: int = 1
    first_line: str | None = None
    first_at: float | None = None
    """When it was first seen in a log, and when last: Unix seconds of the operator's clock."""
    last_at: float | None = None
    pane: str | None = None
    """The pane that shows the reading: "memory", "nfs", "rdma" or "log"."""
    log_number: int | None = None
    """`LogLine.number` of the line that shows it, for the jump; no part of the contract."""
