"""The order of lines over sources, and how the timeline follows a ring."""

from __future__ import annotations

import random

import pytest

from dsv41_tui.core.log import LogLine
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.ring import Ring
from dsv41_tui.ui.logs.query import parse
from dsv41_tui.ui.logs.scope import ALL, Scope, scopes
from dsv41_tui.ui.logs.timeline import STEP, Held, Timeline, Wanted
from tests.ui import log_lines
from tests.ui.log_lines import HEAD, SOURCES, WORKER


def settle(timeline: Timeline, ring: object) -> None:
    while timeline.step(ring):  # type: ignore[arg-type]
        pass


def texts(timeline: Timeline) -> list[str]:
    return [line.text for _, _, line in timeline.entries]


def test_lines_of_nodes_with_other_clocks_stand_in_the_order_in_which_things_happened() -> None:
    timeline = Timeline()
    timeline.want(Wanted(offsets={WORKER.id: log_lines.AHEAD_S, log_lines.KERNEL.id: log_lines.AHEAD_S}))
    settle(timeline, log_lines.hub())
    times = [at for at, _, _ in timeline.entries]
    assert times == sorted(times)
    shown = texts(timeline)
    first = shown.index(log_lines.ERROR)
    assert first < next(index for index, text in enumerate(shown) if text.startswith("socket progress"))
    assert len(shown) == len(log_lines.START)


@pytest.mark.parametrize("seed", range(5))
def test_in_whatever_batches_lines_come_the_result_is_the_same(seed: int) -> None:
    made = random.Random(seed)
    hub, timeline = LogHub(), Timeline()
    expected: list[tuple[float, int]] = []
    for _ in range(40):
        source = made.choice(SOURCES)
        batch = [1000.0 + len(expected) + made.uniform(-30, 30) for _ in range(made.randint(1, 60))]
        lines = hub.add(source, batch, ["x"] * len(batch), ["I"] * len(batch))
        expected += [(line.at or 0.0, line.number) for line in lines]
        if made.random() < 0.5:
            timeline.step(hub)
    settle(timeline, hub)
    assert [(at, number) for at, number, _ in timeline.entries] == sorted(expected)


def test_a_large_ring_is_taken_in_steps_the_newest_lines_first() -> None:
    hub, timeline = LogHub(), Timeline()
    count = 5 * STEP
    hub.add(HEAD, [float(number) for number in range(count)], ["x"] * count, ["I"] * count)
    assert timeline.step(hub)
    assert timeline.step(hub)
    assert 0 < len(timeline.entries) <= 2 * STEP
    assert timeline.entries[-1][1] == hub.end - 1
    settle(timeline, hub)
    assert len(timeline.entries) == count


def test_what_the_ring_forgets_is_forgotten_and_a_ring_that_ran_away_is_taken_up_anew() -> None:
    hub, timeline = LogHub(ring=Ring(limit_bytes=300_000)), Timeline()
    for start in range(0, 20_000, 500):
        hub.add(HEAD, [float(start + n) for n in range(500)], ["y" * 60] * 500, ["I"] * 500)
        if start % 2_000 == 0:
            settle(timeline, hub)
            assert timeline.entries[0][1] >= hub.first
            assert len(timeline.entries) == hub.end - hub.first
    settle(timeline, hub)
    assert timeline.entries[-1][1] == hub.end - 1
    assert [number for _, number, _ in timeline.entries] == list(range(hub.first, hub.end))


def test_a_held_ring_stands_still() -> None:
    hub = log_lines.hub()
    held = Held(hub)
    before = list(held.lines(held.first, held.end))
    hub.add(HEAD, [1.0] * 50_000, ["z" * 500] * 50_000, ["I"] * 50_000)
    hub.add(HEAD, [1.0] * 50_000, ["z" * 500] * 50_000, ["I"] * 50_000)
    assert hub.first > held.end
    assert list(held.lines(held.first, held.end)) == before
    assert list(held.lines(held.first + 2, held.first + 4)) == before[2:4]


def lines(*rows: tuple[str, float, str]) -> list[LogLine]:
    return [
        LogLine(number, HEAD.id, at, at, level, text)  # type: ignore[arg-type]
        for number, (level, at, text) in enumerate(rows, 1)
    ]


def test_a_traceback_belongs_to_the_error_before_it() -> None:
    told = lines(
        ("I", 1.0, "fine"), ("E", 2.0, "Traceback (most recent call last):"), ("", 2.1, "  File x"),
        ("", 2.2, "ValueError"), ("", 9.0, "much later"), ("W", 10.0, "slow"), ("", 10.1, "why"), ("I", 10.2, "fine"),
    )  # fmt: skip
    errors = [line.text for _, _, line in Wanted(levels="E").picks(told)]
    assert errors == ["Traceback (most recent call last):", "  File x", "ValueError"]
    both = [line.text for _, _, line in Wanted(levels="WE").picks(told)]
    assert both == [*errors, "slow", "why"]


def test_a_line_without_a_stamp_stands_where_it_came() -> None:
    told = [LogLine(1, HEAD.id, 5.0, 9.0, "I", "a"), LogLine(2, HEAD.id, None, 4.0, "I", "b")]
    assert [line.text for _, _, line in Wanted(offsets={HEAD.id: 2.0}).picks(told)] == ["a", "b"]
    assert [at for at, _, _ in Wanted(offsets={HEAD.id: 2.0}).picks(told)] == [3.0, 4.0]


def test_scopes_are_those_of_which_there_is_something() -> None:
    found = scopes(SOURCES)
    assert found == [
        ALL, Scope("rank", "0"), Scope("rank", "1"), Scope("node", "spark1"), Scope("node", "spark2"),
        Scope("kind", "kernel"), Scope("kind", "launcher"),
    ]  # fmt: skip
    assert ALL.ids(SOURCES) is None
    assert Scope("rank", "1").ids(SOURCES) == {WORKER.id}
    assert Scope("node", "spark2").ids(SOURCES) == {WORKER.id, log_lines.KERNEL.id}
    assert Scope("kind", "kernel").ids(SOURCES) == {log_lines.KERNEL.id}
    assert scopes(()) == [ALL]


def test_filter_scope_and_levels_together() -> None:
    timeline = Timeline()
    timeline.want(Wanted(Scope("rank", "0").ids(SOURCES), "WE", parse("!exited")))
    settle(timeline, log_lines.hub())
    assert [text.split()[0] for text in texts(timeline)] == ["socket", "EngineDeadError:"]
