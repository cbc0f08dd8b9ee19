"""The table of health_cases, and that it leaves no kind of finding without an example and a counter-example."""

from __future__ import annotations

import pytest
from health_builders import NOW
from health_cases import CASES, Case

from dsv41_tui.core import health


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_state_gives_exactly_its_findings(case: Case) -> None:
    found = health.findings(case.state, case.limits, NOW)
    assert sorted((f.id, f.severity, f.node or "") for f in found) == sorted(
        (kind, severity, node or "") for kind, severity, node in case.expected
    )


def test_the_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("kind", health.KINDS, ids=lambda kind: kind.id)
def test_each_kind_has_examples_of_each_severity_and_a_counter_example(kind: health.Kind) -> None:
    shown = {severity for case in CASES for found, severity, _ in case.expected if found == kind.id}
    assert shown, "no example"
    assert shown <= set(kind.severities)
    assert any(kind.id in case.spares for case in CASES), "no counter-example"


def test_counter_examples_do_not_contradict_their_expectation() -> None:
    known = {kind.id for kind in health.KINDS}
    for case in CASES:
        assert set(case.spares) <= known, case.name
        assert not set(case.spares) & {found for found, _, _ in case.expected}, case.name
