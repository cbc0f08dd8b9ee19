"""Small books to scan with, made of the parts that a test is about."""

from __future__ import annotations

from typing import Any

from dsv41_tui.core.book import Report, Scanner
from dsv41_tui.core.failure import Book, CauseFile, CauseRule, FailureRule, Match


def rule(name: str = "rule", *patterns: str, **changes: Any) -> FailureRule:
    """A rule of these patterns; keywords of `Match` go there, the others to the rule."""
    match = {key: changes.pop(key) for key in tuple(changes) if key in Match.model_fields}
    values: dict[str, Any] = {
        "id": name,
        "layer": "nccl",
        "severity": "high",
        "title": {"en": f"Title of {name}"},
        "match": Match(any=patterns or (f"{name} failed",), **match),
        **changes,
    }
    return FailureRule(**values)


def cause(name: str, **changes: Any) -> CauseFile:
    values: dict[str, Any] = {"id": name, "title": {"en": f"cause {name}"}, "fix": {"en": f"mend {name}"}, **changes}
    return CauseFile(**values)


def of(name: str, **changes: Any) -> CauseRule:
    return CauseRule(id=name, **changes)


def book(*rules: FailureRule, causes: tuple[CauseFile, ...] = ()) -> Book:
    return Book(failures=rules, causes={item.id: item for item in causes})


def scanned(known: Book, *lines: str, at: list[float | None] | None = None, batch: int = 1000) -> Report:
    scanner = Scanner(known)
    for start in range(0, len(lines), batch):
        times = at[start : start + batch] if at is not None else None
        scanner.feed(lines[start : start + batch], first_number=start + 1, at=times)
    return scanner.close()


def counts(report: Report) -> dict[str, int]:
    """Of each rule the lines that count, where they are enough."""
    found: dict[str, int] = {}
    for tally in report.tallies:
        if tally.enough:
            found[tally.rule] = found.get(tally.rule, 0) + tally.count
    return found
