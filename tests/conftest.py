"""What all tests share: lanes that a machine cannot run are skipped with the reason, and in CI nothing is."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.bed import folder
from tests.bed.lanes import LANES, in_ci


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for lane in LANES:
        marked = [item for item in items if item.get_closest_marker(lane.marker)]
        if marked and (reason := lane.missing()) is not None:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=f"lane {lane.marker}: {reason}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip hides what CI is there to see."""
    report = yield
    if in_ci() and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing is: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module that skips itself while it is collected counts as well."""
    report = yield
    if in_ci() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped in CI, where nothing is: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def bed_folder() -> Iterator[Path]:
    """A folder for real parts, open to all accounts of this machine."""
    made = folder.make()
    yield made
    folder.remove(made)
