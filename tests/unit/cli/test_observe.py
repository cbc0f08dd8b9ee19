"""When a cluster has settled: every reading told or refused, the cost known or given up."""

from __future__ import annotations

from typing import Any

import pytest

from dsv41_tui.core.model import ClusterState, Link, NfsMount, NodeState, Observer, Probe, Reading
from dsv41_tui.runtime.observe import COST_WAIT_S, settled
from dsv41_tui.runtime.session import PROBES_AND_JOBS
from dsv41_tui.runtime.sources import FILE_SOURCES, JOB_SOURCES

SINCE = 100.0
REFUSED = Reading[Any](error="no")
FILES = [source.name for source in FILE_SOURCES if source.name != "nas"]
JOBS = [*(source.name for source in JOB_SOURCES), "gpu", "containers"]


def is_settled(now: float = SINCE + 1, **changes: Any) -> bool:
    values: dict[str, Any] = {
        "name": "a",
        "link": Link(phase="up", since=SINCE),
        "observer": Observer(cpu_s_per_min=0.1),
        **dict.fromkeys([*FILES, *JOBS], REFUSED),
    }
    return settled(ClusterState(nodes=(NodeState(**{**values, **changes}),)), now)


def test_an_answer_or_a_refusal_of_everything_settles() -> None:
    assert is_settled()


@pytest.mark.parametrize("name", [*FILES, *JOBS])
def test_each_reading_is_waited_for(name: str) -> None:
    assert not is_settled(**{name: Reading[Any]()})


def test_what_is_unwatched_is_not_waited_for() -> None:
    untold = dict.fromkeys(JOBS, Reading[Any]())
    assert is_settled(link=Link(phase="up", since=SINCE, unwatched=(f"{PROBES_AND_JOBS}: no",)), **untold)
    assert not is_settled(link=Link(phase="up", since=SINCE, unwatched=("GPU: no",)), **untold)


def test_a_nas_has_its_own_word_and_no_jobs() -> None:
    untold = dict.fromkeys(JOBS, Reading[Any]())
    assert is_settled(role="nas", nas=REFUSED, **untold)
    assert not is_settled(role="nas", **untold)


def test_one_probe_stands_for_a_superblock() -> None:
    probed = NfsMount(
        mount_point="/a", source="nas:/m", fstype="nfs", device="0:9", last_probe=Probe(started_at=SINCE, outcome="ok")
    )
    twin = probed.model_copy(update={"mount_point": "/b", "last_probe": None})
    assert is_settled(nfs=(probed, twin))
    assert not is_settled(nfs=(probed, twin.model_copy(update={"device": "0:10"})))
    assert not is_settled(nfs=(twin,))
    assert is_settled(nfs=(twin.model_copy(update={"mounted": False}),))


def test_the_cost_is_waited_for_a_moment() -> None:
    assert not is_settled(observer=Observer())
    assert is_settled(SINCE + COST_WAIT_S, observer=Observer())


@pytest.mark.parametrize(("phase", "expected"), [("waiting", True), ("connecting", False), ("idle", False)])
def test_a_node_that_failed_to_connect_is_not_waited_for(phase: str, expected: bool) -> None:
    assert is_settled(link=Link(phase=phase, since=SINCE)) is expected  # type: ignore[arg-type]
