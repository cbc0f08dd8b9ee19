"""One look at logs and pasted readings: what they show, by the failure book. No cluster and no configuration."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from dsv41_tui.core.book import Report, Scanner
from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.failure import Book
from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.redact import redact
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers.pasted import PastedReader
from dsv41_tui.runtime.failures import load_book
from dsv41_tui.runtime.log_input import read_log

EVIDENCE_LIMIT = 1000
"""Characters of a line that is shown as evidence."""
CONTEXT_LINES = 20_000


class Diagnosis(NamedTuple):
    """What was found, from what."""

    findings: tuple[Finding, ...]
    facts: Facts
    lines: int
    """Of the logs."""
    folded: int
    """Failures that only follow from another one and stand under it."""
    book: Book


class _Run(NamedTuple):
    """Consecutive lines of one input."""

    source: str
    first: int
    lines: Sequence[str]
    at: Sequence[float | None]


def diagnose(names: Sequence[str], contexts: Sequence[str], report: Callable[[str], None], year: int) -> Diagnosis:
    """Read every input once, in bounded memory. `report` gets a line about what was not whole, and about the
    operator's own failure files that are broken. ConfigError where an input cannot be read at all.

    Readings of the logs are taken first, then those of `contexts`, which are newer or meant to say more.
    """
    loaded = load_book()
    for note in loaded.notes:
        report(note)
    pasted = [run.lines for name in contexts for run in _runs(name, report, year) if run.first <= CONTEXT_LINES]
    scanner, reader = Scanner(loaded.book), PastedReader()
    for run in _timeline([_runs(name, report, year) for name in names]):
        scanner.feed(run.lines, run.source, run.first, run.at)
        reader.feed(run.lines)
    for lines in pasted:
        scanner.look(lines)
        reader.feed(lines)
    facts, seen = reader.facts(), scanner.close()
    found = tuple(_masked(item) for item in findings(loaded.book, seen, facts))
    return Diagnosis(found, facts, seen.lines, _folded(seen, found, loaded.book), loaded.book)


def _runs(name: str, report: Callable[[str], None], year: int) -> Iterator[_Run]:
    first = 1
    source = clean_line(name)
    for batch in read_log(name, report, year):
        yield _Run(source, first, batch.lines, batch.at)
        first += len(batch.lines)


def _timeline(inputs: list[Iterator[_Run]]) -> Iterator[_Run]:
    """Several logs as one, in the order of their stamps. A line without one goes with the line before it."""
    if len(inputs) == 1:
        yield from inputs[0]
        return
    heap: list[tuple[float, int, int, _Run, list[float]]] = []
    latest = [float("-inf")] * len(inputs)

    def more(which: int) -> None:
        for run in inputs[which]:
            if not run.lines:
                continue
            known = (float("-inf") if at is None else at for at in run.at)
            times = list(accumulate(known, max, initial=latest[which]))[1:]
            latest[which] = times[-1]
            heapq.heappush(heap, (times[0], which, 0, run, times))
            return

    for which in range(len(inputs)):
        more(which)
    while heap:
        _, which, start, run, times = heapq.heappop(heap)
        end = bisect_right(times, heap[0][0], start) if heap else len(times)
        end = max(end, start + 1)
        yield _Run(run.source, run.first + start, run.lines[start:end], run.at[start:end])
        if end < len(times):
            heapq.heappush(heap, (times[end], which, end, run, times))
        else:
            more(which)


def _masked(found: Finding) -> Finding:
    """The same without secrets."""
    evidence = tuple(
        item if item.line is None else Evidence(source=item.source, line=clean_line(redact(item.line), EVIDENCE_LIMIT))
        for item in found.evidence
    )
    first = None if found.first_line is None else clean_line(redact(found.first_line), EVIDENCE_LIMIT)
    causes = tuple(cause.model_copy(update={"why": redact(cause.why)}) for cause in found.causes)
    return found.model_copy(update={"evidence": evidence, "first_line": first, "causes": causes})


def _folded(seen: Report, found: Sequence[Finding], book: Book) -> int:
    """How many failures the lines showed that stand under another finding."""
    loud = {rule.id for rule in book.failures if rule.echo or rule.severity != "none"}
    echoes = {rule.id for rule in book.failures if rule.echo} | {name for rule in book.failures for name in rule.folds}
    shown = {item.id for item in found}
    told = {tally.rule for tally in seen.tallies if tally.enough}
    return len((told & loud & echoes) - shown) if shown else 0
