"""The findings of one log: rules that stand, harmless ones taken out, echoes folded under the first error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dsv41_tui.core.book import Report
from dsv41_tui.core.book_tally import FIRST_LINES, SeenLine, Tally
from dsv41_tui.core.conditions import Condition, evaluate, parse
from dsv41_tui.core.decide import ORDER, first_true, make
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.failure import Book, FailureRule
from dsv41_tui.core.finding import Evidence, Finding, Severity
from dsv41_tui.core.messages import t

_SEVERITIES: tuple[Severity, ...] = ("error", "warn", "info")
_GRAVITIES = ("critical", "high", "medium", "low", "none")
PASSED_ON = "secondary_see_above"
"""The cause that says that another finding tells it."""
ECHOES = 3
"""Lines of what is folded that are kept as evidence."""


class Made(NamedTuple):
    """A finding with what its place among the others depends on."""

    finding: Finding
    rule: FailureRule
    at: float | None
    number: int


def findings(book: Book, report: Report, facts: Facts) -> tuple[Finding, ...]:
    """All that a log and the readings beside it show, worst and first first."""
    rules = {rule.id: rule for rule in book.failures}
    tallies = _loud(report, rules, facts)
    made: list[Made] = []
    for rule in book.failures:
        if rule.severity == "none":
            continue
        if (one := _of(rule, tallies.get(rule.id, ()), book, report, facts)) is not None:
            made.append(one)
    return tuple(item.finding for item in folded(made))


def stands(rule: FailureRule, facts: Facts, signals: Mapping[str, str]) -> bool:
    """Whether readings allow it: `when` not known to be false, `needs` known to be true."""
    match = rule.match
    if match.when is not None and evaluate(parse(match.when), facts, signals.__contains__) is False:
        return False
    return match.needs is None or evaluate(parse(match.needs), facts, signals.__contains__) is True


def _loud(report: Report, rules: Mapping[str, FailureRule], facts: Facts) -> dict[str, list[Tally]]:
    """What counts, by rule: enough lines, and no harmless rule that holds and says that they are its own."""
    standing = {
        tally.rule
        for tally in report.tallies
        if tally.enough and tally.rule in rules and stands(rules[tally.rule], facts, report.signals)
    }
    loud: dict[str, list[Tally]] = {}
    for tally in report.tallies:
        if tally.rule in standing and tally.silencers.isdisjoint(standing):
            loud.setdefault(tally.rule, []).append(tally)
    return {rule: tallies for rule, tallies in loud.items() if any(tally.enough for tally in tallies)}


def _of(rule: FailureRule, tallies: Sequence[Tally], book: Book, report: Report, facts: Facts) -> Made | None:
    shown_by: Condition = ()
    if not tallies:
        shown = first_true(rule.match.reading, facts, report.signals)
        if shown is None or not stands(rule, facts, report.signals):
            return None
        shown_by = shown
    lines = first_lines([line for tally in tallies for line in tally.first])
    count = max(1, sum(tally.count for tally in tallies))
    found = make(rule, book, facts, report.signals, lines, count=count, shown_by=shown_by)
    if found is None:
        return None
    if tallies and all(tally.over for tally in tallies):
        found = _over(found)
    return Made(found, rule, lines[0].at if lines else None, lines[0].number if lines else 0)


def first_lines(lines: Sequence[SeenLine]) -> tuple[SeenLine, ...]:
    """The first ones over all sources: by time where all have one, else by number."""
    timed = all(line.at is not None for line in lines)
    return tuple(sorted(lines, key=lambda line: (line.at if timed else 0.0, line.number))[:FIRST_LINES])


def _over(found: Finding) -> Finding:
    """A failure that the log itself says is over is told, and is no alarm."""
    return found.model_copy(update={"title": t("failures.over", title=found.title), "severity": "info"})


def folded(made: Sequence[Made]) -> list[Made]:
    """Put what only follows under what it follows from, and the rest in order; a rule can have one a node."""
    ranked = ordered(made)
    ids = {item.rule.id for item in ranked}
    under: dict[str, str] = {}
    for item in ranked:
        for name in item.rule.folds:
            if name in ids and name != item.rule.id and under.get(item.rule.id) != name:
                under.setdefault(name, item.rule.id)
    for item in ranked:
        if item.rule.echo and item.rule.id not in under:
            first = _first_error(item, ranked, under)
            if first is not None:
                under[item.rule.id] = first.rule.id
    heads = [item for item in ranked if item.rule.id not in under]
    for item in ranked:
        if item.rule.id in under:
            top = _top(item.rule.id, under)
            place = next((place for place, head in enumerate(heads) if head.rule.id == top), None)
            if place is not None:
                heads[place] = heads[place]._replace(finding=_with_echo(heads[place].finding, item.finding))
    return heads


def _first_error(echo: Made, ranked: Sequence[Made], under: Mapping[str, str]) -> Made | None:
    """The first finding that is no echo and at least as severe; for what passes on, else an echo that says more."""
    worst = _SEVERITIES.index(echo.finding.severity)
    others = [
        item
        for item in ranked
        if item.rule.id not in under and _SEVERITIES.index(item.finding.severity) <= worst and item is not echo
    ]
    heads = [item for item in others if not item.rule.echo]
    if not heads and _passes_on(echo.finding):
        heads = [item for item in others if not _passes_on(item.finding) and item.finding.cause_id is not None]
    return heads[0] if heads else None


def _top(name: str, under: Mapping[str, str]) -> str:
    for _ in range(len(under)):
        if name not in under:
            return name
        name = under[name]
    return name


def _with_echo(head: Finding, echo: Finding) -> Finding:
    if sum(1 for item in head.evidence if item.line is not None) >= FIRST_LINES + ECHOES:
        return head
    line = echo.first_line
    source = next((item.source for item in echo.evidence if item.line is not None), "")
    if line is None or any(item.line == line for item in head.evidence):
        return head
    return head.model_copy(update={"evidence": (*head.evidence, Evidence(source=source, line=line))})


def ordered(made: Sequence[Made]) -> list[Made]:
    """By severity, echoes last, then confirmed, likely, undecided, then as they happened, then by gravity."""
    timed = all(item.at is not None for item in made)
    return sorted(
        made,
        key=lambda item: (
            _SEVERITIES.index(item.finding.severity),
            item.rule.echo,
            _passes_on(item.finding),
            _decided(item.finding),
            item.at if timed and item.at is not None else 0.0,
            item.number,
            _GRAVITIES.index(item.rule.severity),
        ),
    )


def _decided(found: Finding) -> int:
    return ORDER.index(found.causes[0].likelihood) if found.cause_id is not None else len(ORDER)


def _passes_on(found: Finding) -> bool:
    """Whether it says nothing but that an earlier error is the cause."""
    return found.cause_id == PASSED_ON
