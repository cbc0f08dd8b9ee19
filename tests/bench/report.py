"""Rows of the bench, as a table for people and one JSON document."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from datetime import datetime


@dataclass(frozen=True)
class Row:
    """One measure with its budget, and its peer or floor in the same run."""

    what: str
    unit: str
    value: float
    limit: float | None = None
    peer: float | None = None
    peer_name: str | None = None
    ratio_limit: float | None = None

    @classmethod
    def ratio(cls, what: str, unit: str, value: float, peer: float, name: str, limit: float) -> Row:
        """A budget that is a ratio to a peer."""
        return cls(what, unit, value, None, peer, name, limit)

    @classmethod
    def floor(cls, what: str, unit: str, value: float, floor: float, name: str, limit: float) -> Row:
        """An absolute budget, with the floor beside it."""
        return cls(what, unit, value, limit, floor, name)

    @property
    def factor(self) -> float | None:
        return None if not self.peer else self.value / self.peer

    @property
    def within(self) -> bool | None:
        if self.ratio_limit is not None and self.factor is not None:
            return self.factor <= self.ratio_limit
        return None if self.limit is None else self.value <= self.limit


def table(rows: list[Row]) -> str:
    """Columns: what, value, budget, floor or peer, ratio."""
    lines = [f"{'what':42} {'value':>16}  {'budget':>10}  {'floor or peer':32} ratio"]
    for row in rows:
        budget = f"<= {row.ratio_limit:g} x" if row.ratio_limit else f"<= {row.limit:g}" if row.limit else ""
        peer = f"{row.peer:.3f} {row.peer_name}" if row.peer is not None else ""
        factor = f"{row.factor:.2f}" if row.factor else ""
        verdict = {True: "within", False: "OVER", None: ""}[row.within]
        value = f"{row.value:.3f} {row.unit}"
        lines.append(f"{row.what:42} {value:>16}  {budget:>10}  {peer:32} {factor:>5} {verdict}")
    return "\n".join(lines)


def document(rows: list[Row], left_out: list[str]) -> str:
    """The same as JSON."""
    body = [{**asdict(row), "factor": row.factor, "within": row.within} for row in rows]
    head = {
        "schema": 1,
        "taken_at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "left_out": left_out,
    }
    return json.dumps({**head, "rows": body}, indent=2)
