"""Findings of a log for people: worst first, the line that shows it, the causes, the fix; at most as wide as asked."""

from __future__ import annotations

from collections.abc import Iterator

from dsv41_tui.cli.wrap import command, wrapped
from dsv41_tui.core.decide import say
from dsv41_tui.core.facts_text import readings
from dsv41_tui.core.failure import Book
from dsv41_tui.core.finding import Finding, Likelihood
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.diagnosis import Diagnosis

MARKS: dict[Likelihood, str] = {"confirmed": "●", "likely": "◐", "possible": "○", "ruled-out": "×"}
_COLOURS = {"error": "\x1b[1;31m", "warn": "\x1b[1;33m", "info": "\x1b[1m"}
_END = "\x1b[0m"
_LINES = 3
"""Lines of evidence that are shown of each finding."""


def report(found: Diagnosis, width: int | None, colour: bool) -> list[str]:
    """All lines of the report."""
    lines: list[str] = []
    for item in found.findings:
        lines += [*_finding(item, found.book, width, colour), ""]
    if not found.findings:
        lines += wrapped(t("diagnose.people.nothing"), width)
    read = readings(sorted(found.facts), found.facts)
    lines += wrapped(t("diagnose.people.readings", readings=read or t("diagnose.people.none")), width)
    lines += wrapped(
        t("diagnose.people.sum", lines=found.lines, findings=len(found.findings), folded=found.folded), width
    )
    return lines


def _finding(item: Finding, book: Book, width: int | None, colour: bool) -> Iterator[str]:
    head = wrapped(item.title, width, f"[{t(f'diagnose.severity.{item.severity}')}] ", "  ")
    yield from (f"{_COLOURS[item.severity]}{line}{_END}" if colour else line for line in head)
    lines = [_place(evidence.source) + evidence.line for evidence in item.evidence if evidence.line is not None]
    for line in list(dict.fromkeys(lines))[:_LINES]:
        yield from wrapped(line, width, "  ", "    ")
    if item.count > 1:
        yield from wrapped(t("diagnose.people.count", count=item.count), width, "  ")
    for evidence in item.evidence:
        if evidence.reading is not None:
            yield from wrapped(evidence.reading, width, "  = ")
    for cause in item.causes:
        file = book.causes.get(cause.cause_id)
        name = say(file.title) if file is not None else cause.cause_id
        words = t(f"diagnose.likelihood.{cause.likelihood}", cause=name, id=cause.cause_id)
        why = "" if cause.why == t(f"failures.prior.{cause.likelihood}") else f": {cause.why}"
        yield from wrapped(words + why, width, f"  {MARKS[cause.likelihood]} ")
    yield from wrapped(item.fix.text, width, f"  {t('diagnose.people.fix')} ", "    ")
    for text in item.fix.commands:
        yield from command(text, width, "    $ ")
    yield "  " + t("diagnose.people.restart" if item.fix.restart else "diagnose.people.no-restart")
    measure = _measure(item, book)
    if measure:
        yield "  " + t("diagnose.people.measure")
        for text in measure:
            yield from command(text, width, "    $ ")


def _place(source: str) -> str:
    return "" if source in ("", "-", t("failures.log")) else f"{source}: "


def _measure(item: Finding, book: Book) -> list[str]:
    """What would make a cause certain that is only likely; where none is, the fix itself names what to measure."""
    if item.cause_id is None or any(cause.likelihood == "confirmed" for cause in item.causes):
        return []
    rule = next((rule for rule in book.failures if rule.id == item.id), None)
    file = book.causes.get(item.cause_id)
    commands = [*(rule.measure if rule else ()), *(file.measure if file else ())]
    return [text for text in dict.fromkeys(commands) if text not in item.fix.commands]
