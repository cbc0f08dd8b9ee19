"""The log view under a pilot: what each key does, what is said, what is copied and written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.log import Level, LogSource
from dsv41_tui.core.model import ClusterState, Link
from dsv41_tui.runtime.logs.hub import LogHub
from dsv41_tui.runtime.logs.ring import Ring
from dsv41_tui.ui import glyphs
from dsv41_tui.ui.app import PanelApp
from dsv41_tui.ui.logs import export, lines, page
from dsv41_tui.ui.logs.model import LogModel
from dsv41_tui.ui.logs.query import parse
from dsv41_tui.ui.main_screen import MainScreen
from dsv41_tui.ui.screens.page import FindingScreen, PageScreen
from dsv41_tui.ui.view import Box, View
from dsv41_tui.ui.widgets.log import LogWidget
from tests.ui import drawing, fakes, log_lines, states
from tests.ui.log_lines import END, HEAD, REGISTRATION, WORKER

FINDINGS: tuple[Finding, ...] = (REGISTRATION, states.SLOW_FINDING)


def panel(hub: LogHub | None = None, state: ClusterState | None = None) -> PanelApp:
    return fakes.panel(state or log_lines.failed_start(), FINDINGS, logs=hub or log_lines.hub())


async def ready(pilot: Pilot[int], *keys: str) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    for _ in range(3):
        await pilot.pause()


def log_of(pilot: Pilot[int]) -> LogWidget:
    assert isinstance(pilot.app.screen, MainScreen)
    found = pilot.app.screen.sheet(6)
    assert isinstance(found, LogWidget)
    return found


def shown(pilot: Pilot[int]) -> str:
    return "\n".join(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())


def rows_of(pilot: Pilot[int]) -> list[str]:
    """Rows of the log pane that are lines."""
    return [strip.text.rstrip() for strip in log_of(pilot)._rows if re.match(r"\d\d:\d\d:\d\d ", strip.text)]


def here(pilot: Pilot[int]) -> str:
    """The line under the cursor."""
    return next(row for row in rows_of(pilot) if ">" in row[11:15])


def model(hub: LogHub | None, state: ClusterState | None = None) -> tuple[LogModel, View]:
    view = drawing.view(state or log_lines.failed_start(), FINDINGS, logs=hub)
    made = LogModel()
    made.renew(view)
    while made.step():
        pass
    return made, view


async def test_one_timeline_over_ranks_with_the_line_of_a_finding_on_its_tint() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot)
        rows = rows_of(pilot)
        assert rows[-1].startswith("14:02:02 r0 E dsv41-exl3-head exited")
        marked = [row for row in rows if "r1✖W" in row]
        assert len(marked) == 1
        assert "14:01:57 r1✖W misc/ibvwrap.cc:278" in marked[0]
        tint = drawing.palette().style("text", "tint-error").bgcolor
        strip = next(strip for strip in log_of(pilot)._rows if "✖W" in strip.text)
        assert {segment.style.bgcolor for segment in strip if segment.style} == {tint}


async def test_scrolling_up_pauses_and_new_lines_do_not_move_what_is_read() -> None:
    hub = log_lines.hub()
    async with panel(hub).run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "k", "k")
        assert "EngineDeadError" in here(pilot)
        before = rows_of(pilot)
        hub.add(HEAD, [END] * 3000, ["flood"] * 3000, ["I"] * 3000)
        log_of(pilot).renew()
        assert rows_of(pilot) == before
        assert "paused, 3,000 new; G follows" in shown(pilot) or "3,000 new" in page.status(log_of(pilot).model)
        await ready(pilot, "G")
        assert log_of(pilot).model.following
        assert all("flood" in row for row in rows_of(pilot))


async def test_a_pause_moves_nothing_and_enter_opens_the_node_of_a_line() -> None:
    async with panel().run_test(size=(80, 24)) as pilot:
        await ready(pilot, "6")
        before = [row[15:] for row in rows_of(pilot)]
        await ready(pilot, "k", "k")
        assert [row[15:] for row in rows_of(pilot)] == before
        await ready(pilot, "enter")
        assert isinstance(pilot.app.screen, PageScreen)
        assert "spark1" in shown(pilot)


async def test_space_stops_and_goes_on() -> None:
    hub = log_lines.hub()
    async with panel(hub).run_test(size=(120, 36)) as pilot:
        await ready(pilot, "6", "space")
        assert not log_of(pilot).model.following
        assert pilot.app.feed._frozen is None  # type: ignore[attr-defined]
        hub.add(HEAD, [END], ["after the pause"], ["I"])
        await ready(pilot, "space")
        assert "after the pause" in shown(pilot)


async def test_brackets_go_through_the_scopes_and_the_title_says_which() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "right_square_bracket")
        assert "rank 0, following" in shown(pilot)
        assert {row[9:11] for row in rows_of(pilot)} == {"r0"}
        await ready(pilot, "left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert "kernel, following" in shown(pilot)
        assert [row[14:21] for row in rows_of(pilot)] == ["kernel:"]
        await ready(pilot, "escape")
        assert "all ranks, following" in shown(pilot)


async def test_levels() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "e")
        assert {row[12] for row in rows_of(pilot)} <= {"W", "E", " "}
        assert "all ranks, W+E, following" in shown(pilot)
        await ready(pilot, "e")
        assert "W" not in {row[12] for row in rows_of(pilot)}
        await ready(pilot, "e")
        assert "I" in {row[12] for row in rows_of(pilot)}


async def test_filter_then_context_and_the_way_from_match_to_match() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "slash", *"net/ib", "enter")
        assert all("NET/IB" in row for row in rows_of(pilot))
        assert "2 match" in shown(pilot)
        await ready(pilot, "f")
        assert len(rows_of(pilot)) > 2
        await ready(pilot, "N")
        assert "10.0.0.2<0>" in log_of(pilot).model.chosen()[2].text  # type: ignore[index]
        await ready(pilot, "N")
        assert "10.0.0.1<0>" in log_of(pilot).model.chosen()[2].text  # type: ignore[index]
        await ready(pilot, "N")
        assert "no more matches" in shown(pilot)
        await ready(pilot, "n")
        assert "10.0.0.2<0>" in log_of(pilot).model.chosen()[2].text  # type: ignore[index]


async def test_without_a_filter_n_goes_to_the_next_finding() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "n")
        assert states.SLOW_FINDING.title[:30] in shown(pilot)


async def test_a_bad_pattern_is_said_and_hides_nothing() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "slash", "slash", *"(a+)+", "slash", "enter")
        assert "this regex can take for ever" in shown(pilot)
        assert len(rows_of(pilot)) > 5
        await ready(pilot, "escape")
        assert "for ever" not in shown(pilot)


async def test_escape_goes_one_level_back_at_a_time() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "z", "e", "slash", "e", "enter", "k", "m")
        made = log_of(pilot).model
        left = []
        for _ in range(5):
            left.append((made.mark is not None, made.search, made.levels, made.following, pilot.app.screen.zoomed))  # type: ignore[attr-defined]
            await ready(pilot, "escape")
        assert left == [
            (True, "e", "WE", False, True), (False, "e", "WE", False, True), (False, "", "WE", False, True),
            (False, "", "", False, True), (False, "", "", True, True),
        ]  # fmt: skip
        assert not pilot.app.screen.zoomed  # type: ignore[attr-defined]


async def test_wrap_times_and_sideways() -> None:
    long = "begin " + "x" * 300 + " end of line"
    hub = log_lines.hub(((HEAD, -1.0, "I", long),))
    async with panel(hub).run_test(size=(80, 24)) as pilot:
        await ready(pilot, "6")
        assert "begin" in shown(pilot)
        assert "end of line" not in shown(pilot)
        await ready(pilot, *["l"] * 40)
        assert "end of line" in shown(pilot)
        assert "begin" not in shown(pilot)
        await ready(pilot, "w")
        assert "begin" in shown(pilot)
        assert "end of line" in shown(pilot)
        await ready(pilot, "i")
        assert "14:02:10" not in shown(pilot)


async def test_h_and_l_go_to_the_pane_beside_where_the_log_is_not_alone() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "h")
        assert pilot.app.screen.current.id == "pane-5"  # type: ignore[attr-defined]


def copied(app: PanelApp) -> str:
    return app.clipboard


async def test_copy_of_a_line_of_a_range_and_of_all_matches() -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "k", "k", "y")
        app: PanelApp = pilot.app  # type: ignore[assignment]
        assert copied(app) == log_lines.START[18][3]
        await ready(pilot, "m", "k", "k", "Y")
        assert [line.split()[3] for line in copied(app).splitlines()] == [
            "socket",
            "ncclSystemError:",
            "EngineDeadError:",
        ]
        assert copied(app).startswith("2026-09-30T14:01:58.000+00:00 spark1/dsv41-exl3-head W socket")
        await ready(pilot, "escape", "slash", *"net/ib", "enter", "Y")
        assert len(copied(app).splitlines()) == 2


def test_one_huge_line_leaves_room_for_others() -> None:
    made, view = model(log_lines.hub(((HEAD, -2.0, "I", "before"), (HEAD, -1.0, "I", "z" * (4 << 20)))))
    text, left = export.clipboard(made, view)
    assert left == 0
    assert "before" in text
    assert len("".join(export.texts(made, view))) > 4 << 20


def test_what_a_terminal_cannot_take_is_left_out_and_counted() -> None:
    hub = LogHub()
    hub.add(HEAD, [END] * 3000, ["a" * 100] * 3000, ["I"] * 3000)
    made, view = model(hub)
    text, left = export.clipboard(made, view)
    assert len(text.encode()) <= export.COPY_MOST
    assert text.count("\n") + 1 + left == 3000


async def test_dump_to_a_private_file(tmp_path: Path) -> None:
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "e", "e", "o")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        (file,) = (tmp_path / "state").rglob("log-*.txt")
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
        written = file.read_text("utf-8").splitlines()
        assert len(written) == len(log_of(pilot).model.entries)
        assert "dsv41-exl3-head E EngineDeadError: EngineCore" in written[1]
        assert f"{len(written)} lines in" in shown(pilot)
        assert file.name in shown(pilot)


async def test_a_dump_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    async with panel().run_test(size=(160, 50)) as pilot:
        await ready(pilot, "6", "o")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "not written" in shown(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_from_a_finding_to_its_line_and_back(size: tuple[int, int]) -> None:
    async with panel().run_test(size=size) as pilot:
        await ready(pilot, "enter")
        assert isinstance(pilot.app.screen, FindingScreen)
        assert "r1 W misc/ibvwrap.cc:278" in shown(pilot)
        assert "since 14:01:57, 4 times" in shown(pilot)
        await ready(pilot, "l")
        assert "misc/ibvwrap" in here(pilot)
        await ready(pilot, "enter")
        assert isinstance(pilot.app.screen, FindingScreen)


async def test_a_line_that_left_the_memory_is_said() -> None:
    hub = LogHub(ring=Ring(limit_bytes=100_000))
    for _ in range(40):
        hub.add(HEAD, [END] * 400, ["z" * 80] * 400, ["I"] * 400)
    assert hub.first > (REGISTRATION.log_number or 0)
    async with panel(hub).run_test(size=(120, 36)) as pilot:
        await ready(pilot, "enter", "l")
        assert isinstance(pilot.app.screen, FindingScreen)
        assert "the line has left the memory" in shown(pilot)


async def test_a_finding_of_a_reading_offers_no_line() -> None:
    app = fakes.panel(states.page_cache(), (states.CACHE_FINDING,))
    async with app.run_test(size=(120, 36)) as pilot:
        await ready(pilot, "enter")
        assert "log line" not in shown(pilot)
        await ready(pilot, "l")
        assert isinstance(pilot.app.screen, FindingScreen)


def draw(hub: LogHub | None, state: ClusterState, width: int = 78, height: int = 16, **more: object) -> str:
    made, view = model(hub, state)
    return drawing.text(page.draw(made, view, Box(width, height, large=True, **more)).rows)  # type: ignore[arg-type]


def test_what_keeps_lines_away_is_said_with_the_fix() -> None:
    rows = draw(log_lines.hub(), log_lines.failed_start())
    assert "▲ spark1  kernel is not read: the login is not in group adm; sudo usermod -aG" in rows
    assert "its clock is 14 s ahead" in rows
    state = log_lines.failed_start()
    spark1, spark2, nas = state.nodes
    down = Link(phase="waiting", kind="unreachable", since=states.NOW - 3, down_since=states.NOW - 20)
    few = spark1.link.model_copy(update={"unwatched": ("kernel log", "docker events")})
    nodes = (spark1.model_copy(update={"link": few}), spark2.model_copy(update={"link": down}), nas)
    rows = draw(log_lines.hub(), state.model_copy(update={"nodes": nodes}))
    assert "not watched for want of a channel: kernel log, docker events" in rows
    assert "◷ spark2  no lines since 14:01:51: not connected" in rows


def test_a_record_that_lacks_lines_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogHub, "record_error", "no space left on device")
    assert "▲ record  no space left on device" in draw(log_lines.hub(), log_lines.failed_start())


async def test_the_palette_has_the_keys_of_the_log_while_it_has_the_focus() -> None:
    async with panel().run_test(size=(120, 36)) as pilot:
        await ready(pilot, "colon", *"wrap long")
        assert "wrap long lines" not in shown(pilot)
        await ready(pilot, "escape", "6", "colon", *"wrap long")
        assert "wrap long lines" in shown(pilot)
        await ready(pilot, "enter")
        for _ in range(5):
            await pilot.pause()
        assert log_of(pilot).model.wrap


def test_empty_states_are_words() -> None:
    assert "no log is followed yet" in draw(None, states.healthy())
    assert "no line yet" in draw(LogHub(), log_lines.failed_start())
    made, view = model(log_lines.hub())
    made.type("nowhere")
    while made.step():
        pass
    assert "nothing matches «nowhere»" in drawing.text(page.draw(made, view, Box(78, 10)).rows)


def test_lines_of_another_day_say_so() -> None:
    second = int(END)
    zone, today = states.WALL.tzinfo, states.WALL.date()
    assert lines.time_text(second, today, zone) == "14:02:11"
    assert lines.time_text(second - 86_400, today, zone) == "-1d14:02"
    assert lines.time_text(second - 40 * 86_400, today, zone) == "26-08-21"
    assert {len(lines.time_text(second - 3600 * hour, today, zone)) for hour in range(400)} == {8}


WIDE = "模型倉庫 loading 權重 完成 " * 12


@pytest.mark.parametrize("pan", range(9))
@pytest.mark.parametrize("width", [30, 31, 40, 57])
def test_wide_characters_are_never_cut_in_half(width: int, pan: int) -> None:
    hub = log_lines.hub(((HEAD, -2.0, "W", WIDE), (WORKER, -1.0, "I", "e\u0301" * 90 + WIDE)))
    made, view = model(hub)
    for made.wrap in (False, True):
        made.pan = pan
        made.query = parse("權重")
        for strip in page.draw(made, view, Box(width, 20)).rows:
            assert strip.cell_length == width == cell_len(strip.text)


def test_wrapped_lines_lose_nothing() -> None:
    text = "word " * 40 + "x" * 200 + WIDE
    state = states.healthy().model_copy(update={"log_sources": log_lines.SOURCES})
    made, view = model(log_lines.hub(((HEAD, -2.0, "W", text),)), state)
    made.wrap = True
    joined = "".join(strip.text[14:] for strip in page.draw(made, view, Box(60, 40)).rows[1:])
    assert joined.replace(" ", "") == text.replace(" ", "")


def test_ascii_alone_tells_the_line_of_a_finding_and_the_cursor() -> None:
    view = drawing.view(
        log_lines.failed_start(), FINDINGS, logs=log_lines.hub(), ink=drawing.palette(marks=glyphs.ASCII)
    )
    made = LogModel()
    made.renew(view)
    made.step()
    assert made.jump(REGISTRATION.log_number or 0)
    rows = drawing.text(page.draw(made, view, Box(78, 12, focused=True)).rows)
    assert "r1xW>misc/ibvwrap" in rows


def test_memory_of_the_view_does_not_grow_with_the_lines() -> None:
    hub = LogHub(ring=Ring(limit_bytes=1 << 20))
    made, view = model(hub)
    sizes = []
    for _ in range(30):
        hub.add(HEAD, [END] * 2000, ["m" * 100] * 2000, ["I"] * 2000)
        while made.step():
            pass
        page.draw(made, view, Box(78, 20))
        sizes.append(len(made.entries))
    assert max(sizes[5:]) <= hub.end - hub.first + 2000
    assert sizes[-1] == hub.end - hub.first


EVIL: tuple[tuple[LogSource, float, Level, str], ...] = tuple(
    (HEAD, float(-index), "E", text) for index, text in enumerate(log_lines.HOSTILE)
)


@pytest.mark.parametrize("keys", [("6",), ("6", "w"), ("6", "slash", "e", "enter"), ("6", "k", "Y")])
async def test_hostile_lines_are_inert_in_every_form(keys: tuple[str, ...]) -> None:
    """Even if the edge let them by."""
    async with panel(log_lines.hub(EVIL)).run_test(size=(80, 24)) as pilot:
        await ready(pilot, *keys)
        for strip in pilot.app.screen._compositor.render_strips():
            assert strip.text.isprintable(), strip.text
        assert not set(pilot.app.clipboard) & set("\x1b\x9b\x00\x07\u202e")
