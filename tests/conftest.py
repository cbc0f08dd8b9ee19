"""What all tests share: English, no trace of the machine's own settings, and lanes.

A lane that a machine cannot run is skipped with the reason; in CI nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from dsv41_tui.runtime.language import load_language
from tests.bed import folder
from tests.bed.lanes import LANES, in_ci


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run here; long lanes first, each on one worker, as they wait more than they compute."""
    for lane in LANES:
        marked = [item for item in items if item.get_closest_marker(lane.marker)]
        if marked and (reason := lane.missing()) is not None:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=f"lane {lane.marker}: {reason}"))
    if config.pluginmanager.hasplugin("xdist"):
        items.sort(key=_lane_rank)
        for item in items:
            item.add_marker(pytest.mark.xdist_group(_group(item)))


def _lane_rank(item: pytest.Item) -> int:
    return next((rank for rank, lane in enumerate(LANES) if item.get_closest_marker(lane.marker)), len(LANES))


def _group(item: pytest.Item) -> str:
    """A lane with one bed for all its tests stays together; everything else by file."""
    lane = next((lane for lane in LANES if lane.one_bed and item.get_closest_marker(lane.marker)), None)
    return lane.marker if lane is not None else item.nodeid.partition("::")[0]


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


@pytest.fixture(autouse=True)
def clean_house(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """English messages, and XDG folders of this test alone."""
    home = tmp_path_factory.mktemp("home")
    for name, place in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(home / place))
    for name in ("LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    load_language("en")
    yield home
