"""One row of the table of states and their findings."""

from __future__ import annotations

from typing import NamedTuple

from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState


class Case(NamedTuple):
    name: str
    state: ClusterState
    expected: set[tuple[str, str, str | None]] = set()
    spares: tuple[str, ...] = ()
    limits: Limits = Limits()


def only(kind: str, severity: str, node: str | None = "spark2") -> set[tuple[str, str, str | None]]:
    return {(kind, severity, node)}
