"""What the failure book says of a live cluster: failures seen in logs, and those that readings alone show.

A log line with a confirmed cause tells more than the reading behind it: the finding of that reading on the same node
is absorbed, its evidence kept. Echoes are folded under the first error over all nodes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from dsv41_tui.core.book_tally import SeenLine
from dsv41_tui.core.decide import first_true, make
from dsv41_tui.core.decide_report import Made, first_lines, folded, stands
from dsv41_tui.core.facts import Facts
from dsv41_tui.core.facts_live import facts_of
from dsv41_tui.core.failure import FailureRule
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.health.common import Kind
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.log import Occurrence
from dsv41_tui.core.model import ClusterState, NodeState

KINDS: tuple[Kind, ...] = ()
"""The book is data: its findings bear the ids of its rules."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of all nodes, folded over the cluster."""
    del limits
    made: list[Made] = []
    for node in state.nodes:
        made.extend(_of_node(node, state, now))
    return [item.finding for item in folded(made)]


def _of_node(node: NodeState, state: ClusterState, now: float) -> Iterable[Made]:
    by_rule: dict[str, list[Occurrence]] = {}
    for item in node.failures:
        by_rule.setdefault(item.rule, []).append(item)
    if not by_rule and not any(rule.match.reading for rule in state.book.failures):
        return
    facts = facts_of(node, state, now)
    loud = _loud(by_rule, state, facts)
    for rule in state.book.failures:
        if rule.severity == "none":
            continue
        found = _of_rule(rule, loud.get(rule.id, ()), node, state, facts)
        if found is not None:
            yield found


def _loud(by_rule: dict[str, list[Occurrence]], state: ClusterState, facts: Facts) -> dict[str, list[Occurrence]]:
    """What is not taken by a harmless rule that holds, by the readings of then and now."""
    rules = {rule.id: rule for rule in state.book.failures}
    standing = {
        name
        for name, seen in by_rule.items()
        if name in rules and stands(rules[name], _at_the_time(seen, facts), _signals(seen))
    }
    kept = {name: [item for item in by_rule[name] if standing.isdisjoint(item.silencers)] for name in standing}
    return {name: seen for name, seen in kept.items() if seen}


def _at_the_time(seen: Sequence[Occurrence], facts: Facts) -> Facts:
    """Readings of now, over them those of when it was first seen: these decide."""
    return {**facts, **seen[0].facts}


def _signals(seen: Sequence[Occurrence]) -> dict[str, str]:
    return {pattern: line for item in seen for pattern, line in item.signals.items()}


def _of_rule(
    rule: FailureRule, seen: Sequence[Occurrence], node: NodeState, state: ClusterState, facts: Facts
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
    then = _at_the_time(seen, facts)
    found = make(rule, state.book, then, _signals(seen), lines, count=count, node=node.name)
    return None if found is None else Made(found, rule, lines[0].at, lines[0].number)


def absorb(found: Sequence[Finding], told: Sequence[Finding], echoes: Container[str] = ()) -> list[Finding]:
    """Both together, each failure once.

    A reading goes under the line of the same node (`told`) that has confirmed the same cause; a line that only follows
    from another error (a rule of `echoes`) goes under the first error that readings show.
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
        place = next((place for place, head in enumerate(heads) if _same(head, item)), -1)
        if place >= 0:
            heads[place] = _under(heads[place], item)
            kept.remove(item)
    return [*heads, *kept]


def _same(line: Finding, reading: Finding) -> bool:
    """Whether a line of the same node has confirmed the cause that a reading names."""
    confirmed = bool(line.causes) and line.causes[0].likelihood == "confirmed" and line.first_line is not None
    return confirmed and line.node == reading.node and line.cause_id == reading.cause_id


def _under(head: Finding, other: Finding) -> Finding:
    evidence = (*head.evidence, *(proof for proof in other.evidence if proof not in head.evidence))
    return head.model_copy(update={"evidence": evidence})
