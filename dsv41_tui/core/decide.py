"""From what a scan found and what was read to findings: the causes weighed, one fix, echoes folded.

A cause is ruled out, confirmed or made likely by conditions on readings and on lines that were seen; without any it is
as likely as its rule says. A reading that decides beats every prior.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dsv41_tui.core.book_index import conditions_of
from dsv41_tui.core.book_tally import SeenLine
from dsv41_tui.core.conditions import Condition, evaluate, facts_used, parse, patterns_used
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_text import reading, readings
from dsv41_tui.core.failure import SEVERITY, Book, CauseFile, CauseRule, FailureRule, Prior, Text
from dsv41_tui.core.finding import Cause, Evidence, Finding, Fix, Likelihood
from dsv41_tui.core.messages import language, t
from dsv41_tui.core.text import clean_line

HARMLESS = "benign"
"""The cause that says that nothing is wrong."""
ORDER: tuple[Likelihood, ...] = ("confirmed", "likely", "possible", "ruled-out")
_PRIOR: dict[Prior, Likelihood] = {"certain": "confirmed", "likely": "likely", "possible": "possible"}
WHY_LIMIT = 400


class Weighed(NamedTuple):
    """One cause with what spoke for or against it."""

    rule: CauseRule
    file: CauseFile | None
    likelihood: Likelihood
    by: Condition = ()
    """The condition that decided; empty where none did."""


def say(text: Text) -> str:
    """A text of the book in the language of the interface, else in English."""
    return text.get(language()) or text.get("en", "")


def weigh(rule: FailureRule, book: Book, facts: Facts, signals: Mapping[str, str]) -> tuple[Weighed, ...]:
    """The causes of a rule: confirmed first, then likely, possible, ruled out.

    Of equals those that a reading or a line speaks for come first, then they stand as the file has them.
    """
    causes = [_weigh(cause, book.causes.get(cause.id), facts, signals) for cause in rule.cause]
    if any(item.likelihood == "confirmed" and item.by for item in causes):
        causes = [item if item.by else item._replace(likelihood="possible") for item in causes]
    causes = _survivor(causes)
    return tuple(sorted(causes, key=lambda item: (ORDER.index(item.likelihood), not item.by)))


def _survivor(causes: list[Weighed]) -> list[Weighed]:
    """The one cause that is left when all others are ruled out, promoted.

    That is a proof as far as the causes of a rule are complete: confirmed where it was likely already, else likely.
    That lines are missing alone proves nothing, a log can be cut: one cause at least is ruled out by what is there.
    """
    left = [item for item in causes if item.likelihood != "ruled-out"]
    out = [item for item in causes if item.likelihood == "ruled-out"]
    if len(left) != 1 or not out or left[0].likelihood == "confirmed":
        return causes
    shown = any(not term.negated for item in out for term in item.by)
    likelihood: Likelihood = "confirmed" if left[0].likelihood == "likely" and shown else "likely"
    return [item._replace(likelihood=likelihood) if item is left[0] else item for item in causes]


def _weigh(rule: CauseRule, file: CauseFile | None, facts: Facts, signals: Mapping[str, str]) -> Weighed:
    confirmed, likely, ruled_out = conditions_of(rule, file)
    choices: tuple[tuple[Likelihood, tuple[str, ...]], ...] = (
        ("ruled-out", ruled_out), ("confirmed", confirmed), ("likely", likely),
    )  # fmt: skip
    for likelihood, texts in choices:
        if (by := first_true(texts, facts, signals)) is not None:
            return Weighed(rule, file, likelihood, by)
    return Weighed(rule, file, _PRIOR[rule.prior])


def first_true(texts: Iterable[str], facts: Facts, signals: Mapping[str, str]) -> Condition | None:
    """The first of the conditions that is true."""
    conditions = (parse(text) for text in texts)
    return next((item for item in conditions if evaluate(item, facts, signals.__contains__)), None)


def make(
    rule: FailureRule,
    book: Book,
    facts: Facts,
    signals: Mapping[str, str],
    lines: Sequence[SeenLine] = (),
    *,
    count: int = 1,
    node: str | None = None,
    shown_by: Condition = (),
) -> Finding | None:
    """The finding of a rule that stands; None where it turns out to be harmless.

    `lines` show it, or `shown_by`, the condition on readings that does.
    """
    weighed = weigh(rule, book, facts, signals)
    first = weighed[0] if weighed and weighed[0].likelihood in ("confirmed", "likely") else None
    if first is not None and first.rule.id == HARMLESS:
        return None
    title = say(rule.title)
    if first is not None and first.file is not None:
        title = t("failures.title", failure=title, cause=say(first.file.title))
    return Finding(
        id=rule.id,
        severity=SEVERITY[rule.severity],
        title=title,
        cause_id=first.rule.id if first is not None else None,
        causes=tuple(
            Cause(cause_id=item.rule.id, likelihood=item.likelihood, why=_why(item, facts, signals)) for item in weighed
        ),
        evidence=(*_lines(lines), *_readings(weighed, shown_by, facts)),
        fix=_fix(rule, first, weighed),
        node=node,
        count=count,
        first_line=lines[0].text if lines else None,
        pane="log" if lines else None,
        log_number=lines[0].number if lines else None,
    )


def _why(item: Weighed, facts: Facts, signals: Mapping[str, str]) -> str:
    """The cause's own words, then the readings and lines that decided."""
    seen = (signals.get(pattern) for pattern in patterns_used((item.by,)))
    parts = [readings(facts_used((item.by,)), facts)]
    parts += [t("failures.seen", line=clean_line(line, 120)) for line in seen if line]
    proof = ", ".join(part for part in parts if part)
    words = say(item.rule.why) if item.likelihood != "ruled-out" else ""
    if words and proof:
        return clean_line(t("failures.why", why=words, readings=proof), WHY_LIMIT)
    if words or proof:
        return clean_line(words or proof, WHY_LIMIT)
    if item.by:
        return t("failures.not-seen")
    return t(f"failures.prior.{item.likelihood}")


def _lines(lines: Sequence[SeenLine]) -> tuple[Evidence, ...]:
    return tuple(Evidence(source=line.source or t("failures.log"), line=line.text) for line in lines)


def _readings(weighed: Sequence[Weighed], shown_by: Condition, facts: Facts) -> tuple[Evidence, ...]:
    """Every reading that a deciding condition speaks of, once."""
    names = facts_used((shown_by, *(item.by for item in weighed)))
    return tuple(Evidence(source=name, reading=text) for name in names if (text := reading(name, facts)) is not None)


def _fix(rule: FailureRule, first: Weighed | None, weighed: Sequence[Weighed]) -> Fix:
    if first is not None:
        return _fix_of(first)
    left = [item for item in weighed if item.likelihood != "ruled-out"]
    measure = tuple(dict.fromkeys([*rule.measure, *(text for item in left if item.file for text in item.file.measure)]))
    if not left:
        return Fix(text=say(rule.what) or t("failures.no-cause"), commands=measure)
    names = "; ".join(say(item.file.title) if item.file is not None else item.rule.id for item in left)
    text = t("failures.undecided" if measure else "failures.undecided-unmeasured", causes=names)
    own = _fix_of(left[0])
    if len(left) == 1 or not measure:
        text = f"{text} {own.text}"
    return Fix(text=text, commands=measure or own.commands, restart=any(_fix_of(item).restart for item in left))


def _fix_of(item: Weighed) -> Fix:
    """The rule's own words and commands, else those of the cause's file."""
    file, rule = item.file, item.rule
    text = say(rule.fix) or (say(file.fix) if file is not None else "")
    commands = rule.commands if rule.commands is not None else file.commands if file is not None else ()
    restart = file.restart if file is not None else False
    return Fix(text=text, commands=commands, restart=restart, plan=file.plan if file is not None else None)
