"""What the failure book says of a live cluster: failures seen in logs, and those that readings alone show.

A log line with a confirmed cause tells more than the reading behind it: the finding of that reading on the same node
is absorbed, its evidence kept. Echoes are folded under the first error over all nodes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from dsv41_tui.core.book_tally import SeenLine
from dsv41_tui.core.decide import first_true, make, weigh
from dsv41_tui.core.decide_report import Made, first_lines, folded, stands
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_live import at_the_time, facts_of, timeless
from dsv41_tui.core.failure import Book, FailureRule
from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import SEVERITIES, Kind, finding, fix, title
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.log import Occurrence
from dsv41_tui.core.model import ClusterState, NodeState
from dsv41_tui.core.reduce_log import LATE_S

BROKEN = Kind(id="failure-file-broken", severities=("info",), pane="log")
KINDS = (BROKEN,)
"""The book is data: its own findings bear the ids of its rules."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of all nodes, folded over the cluster."""
    del limits
    made: list[Made] = []
    for node in state.nodes:
        made.extend(_of_node(node, state, now))
    return [*(item.finding for item in folded(made)), *(_broken(note) for note in state.book_notes)]


def _broken(note: str) -> Finding:
    """Nothing is wrong with the cluster, and what the file describes is not looked for."""
    evidence = Evidence(source="failures", reading=note)
    return finding(BROKEN, "info", title(note=note), fix(), evidence=(evidence,))


def _of_node(node: NodeState, state: ClusterState, now: float) -> Iterable[Made]:
    by_rule: dict[str, list[Occurrence]] = {}
    for item in node.failures:
        by_rule.setdefault(item.rule, []).append(item)
    if not by_rule and not any(rule.match.reading for rule in state.book.failures):
        return
    facts = facts_of(node, state, now)
    loud = _loud(by_rule, state, facts, now)
    for rule in state.book.failures:
        if rule.severity == "none":
            continue
        found = _of_rule(rule, loud.get(rule.id, ()), node, state, facts, now)
        if found is not None:
            yield found


def _loud(
    by_rule: dict[str, list[Occurrence]], state: ClusterState, facts: Facts, now: float
) -> dict[str, list[Occurrence]]:
    """What is not taken by a harmless rule that holds, by the readings of then and now."""
    rules = {rule.id: rule for rule in state.book.failures}
    standing = {
        name
        for name, seen in by_rule.items()
        if name in rules and stands(rules[name], _then(seen, facts, now), _signals(seen))
    }
    kept = {name: [item for item in by_rule[name] if standing.isdisjoint(item.silencers)] for name in standing}
    return {name: seen for name, seen in kept.items() if seen}


def _then(seen: Sequence[Occurrence], facts: Facts, now: float) -> Facts:
    """What the first of them is judged by."""
    first = _first(seen)
    age_s = first.facts_late_s + (now - first.came_at if first.came_at is not None else 0.0)
    return at_the_time(first.facts, facts, age_s)


def _first(seen: Sequence[Occurrence]) -> Occurrence:
    """The one whose readings are nearest to its line, of those the earliest."""
    return min(seen, key=lambda item: (item.facts_late_s > LATE_S, item.first_at))


def _decisive(rule: FailureRule, seen: Sequence[Occurrence], book: Book, then: Facts) -> Facts:
    """The readings that may decide between causes: late ones can prove a cause, and rule none out by themselves.

    A process that has ended gave its memory back, and somebody may have dropped the page cache meanwhile.
    """
    if _first(seen).facts_late_s <= LATE_S:
        return then
    proved = any(
        item.by and item.likelihood in ("confirmed", "likely") for item in weigh(rule, book, then, _signals(seen))
    )
    return then if proved else timeless(then)


def _signals(seen: Sequence[Occurrence]) -> dict[str, str]:
    return {pattern: line for item in seen for pattern, line in item.signals.items()}


def _of_rule(
    rule: FailureRule, seen: Sequence[Occurrence], node: NodeState, state: ClusterState, facts: Facts, now: float
) -> Made | None:
    if not seen:
        shown = first_true(rule.match.reading, facts, {})
        if shown is None or not node.reachable or not stands(rule, facts, {}):
            return None
        found = make(rule, state.book, facts, {}, node=node.name, shown_by=shown)
        return None if found is None else Made(found, rule, None, 0)
    lines = first_lines(
        [
            SeenLine(source=item.source, number=item.first_number or 0, at=item.first_at, text=item.first_line)
            for item in seen
        ]
    )
    count = sum(item.count for item in seen)
    then = _decisive(rule, seen, state.book, _then(seen, facts, now))
    found = make(rule, state.book, then, _signals(seen), lines, count=count, node=node.name)
    if found is None:
        return None
    first_at, last_at = min(item.first_at for item in seen), max(item.last_at for item in seen)
    found = found.model_copy(update={"first_at": first_at, "last_at": last_at})
    return Made(found, rule, lines[0].at, lines[0].number)


def absorb(found: Sequence[Finding], told: Sequence[Finding], echoes: Container[str] = ()) -> list[Finding]:
    """Both together, each failure once.

    A reading goes under the line of the same node (`told`) that has confirmed the same cause, or above it where it is
    more severe; a line that only follows from another error (a rule of `echoes`) goes under the first error that
    readings show.
    """
    first = next((item for item in found if item.severity == "error"), None)
    heads: list[Finding] = []
    kept = list(found)
    for item in told:
        if first is not None and item.id in echoes:
            place = kept.index(first)
            kept[place] = first = _under(first, item)
        else:
            heads.append(item)
    for item in tuple(kept):
        under = [head for head in heads if _same(head, item)]
        if not under:
            continue
        if SEVERITIES.index(item.severity) < min(SEVERITIES.index(head.severity) for head in under):
            heads = [head for head in heads if head not in under]
            kept[kept.index(item)] = _told_by(item, under)
        else:
            heads[heads.index(under[0])] = _under(under[0], item)
            kept.remove(item)
    return [*heads, *kept]


def _same(line: Finding, reading: Finding) -> bool:
    """Whether a line of the same node has confirmed the cause that a reading names; of a cluster's, of any node."""
    confirmed = bool(line.causes) and line.causes[0].likelihood == "confirmed" and line.first_line is not None
    return confirmed and reading.node in (line.node, None) and line.cause_id == reading.cause_id


def _told_by(reading: Finding, lines: Sequence[Finding]) -> Finding:
    """A reading that weighs more than the lines that show the same: they are its evidence, and the jump leads there."""
    for line in lines:
        reading = _under(reading, line)
    first = lines[0]
    return reading.model_copy(update={"first_line": first.first_line, "log_number": first.log_number})


def _under(head: Finding, other: Finding) -> Finding:
    evidence = (*head.evidence, *(proof for proof in other.evidence if proof not in head.evidence))
    return head.model_copy(update={"evidence": evidence})
