"""Every pane of the folder, in every size, state, language and glyph set: rows fit, the words are there."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from dsv41_tui.core.messages import LANGUAGES, t
from dsv41_tui.core.model import ClusterState, Link, NodeState, Reading
from dsv41_tui.core.readings import GIB
from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui import glyphs, overview, panes
from dsv41_tui.ui.pages import finding, node
from dsv41_tui.ui.view import Box, Sheet, View
from tests.ui import drawing, states

STATES = ("healthy", "page_cache", "nas_down", "broken_up", "many", "chinese")
SPECS = panes.panes()
Draw = Callable[[View, Box], Sheet]
DRAWS: dict[str, Draw] = {spec.id: spec.draw for spec in SPECS} | {"overview": overview.draw}


def test_each_module_of_the_folder_is_a_pane_with_its_own_key_and_name() -> None:
    modules = [module.name for module in pkgutil.iter_modules(panes.__path__)]
    assert sorted(spec.id for spec in SPECS) == sorted(modules)
    assert [spec.key for spec in SPECS] == list(range(1, len(SPECS) + 1))
    for language in LANGUAGES:
        load_language(language)
        for spec in SPECS:
            assert not t(f"ui.pane.{spec.id}").startswith("ui.pane")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("pane", DRAWS)
def test_rows_are_as_wide_as_the_box_in_every_form(pane: str, name: str, language: str) -> None:
    load_language(language)
    state = getattr(states, name)()
    for marks in (glyphs.UNICODE, glyphs.ASCII):
        view = drawing.view(state, (states.CACHE_FINDING,), ink=drawing.palette(marks=marks))
        for width, height in ((57, 12), (77, 20), (97, 30), (78, 18), (118, 32), (198, 55)):
            for large in (False, True):
                sheet = DRAWS[pane](view, Box(width, height, large=large, focused=True, selected="spark1"))
                assert {strip.cell_length for strip in sheet.rows} == {width}
                for item in sheet.items:
                    assert all(0 <= row < len(sheet.rows) for row in item.rows)


@pytest.mark.parametrize("pane", DRAWS)
def test_before_the_first_state_a_pane_says_that_it_connects(pane: str) -> None:
    rows = drawing.text(DRAWS[pane](drawing.view(None), Box(77, 12)).rows)
    assert "connecting" in rows or "not there yet" in rows


@pytest.mark.parametrize("pane", ["engram", "chat"])
def test_what_is_not_there_yet_says_so_and_what_to_use_meanwhile(pane: str) -> None:
    rows = drawing.text(DRAWS[pane](drawing.view(states.healthy()), Box(57, 12)).rows)
    assert "not there yet" in rows
    assert t(f"ui.meanwhile.{pane}.command") in rows


@pytest.mark.parametrize("marks", [glyphs.ASCII])
@pytest.mark.parametrize("pane", DRAWS)
def test_the_ascii_form_is_ascii(pane: str, marks: glyphs.Glyphs) -> None:
    for name in ("healthy", "page_cache", "nas_down", "broken_up", "many"):
        view = drawing.view(getattr(states, name)(), ink=drawing.palette(marks=marks))
        for large in (False, True):
            rows = drawing.text(DRAWS[pane](view, Box(100, 40, large=large)).rows)
            assert rows.isascii()


def memory(state: ClusterState, width: int = 77, height: int = 30, **more: object) -> str:
    view = drawing.view(state)
    return drawing.text(DRAWS["memory"](view, Box(width, height, **more)).rows)  # type: ignore[arg-type]


def test_memory_shows_free_and_available_and_both_low_marks() -> None:
    row = next(line for line in memory(states.healthy()).splitlines()[4:] if line.startswith("spark1"))
    assert row.split() == ["spark1", "106.2", "5.4", "0.2", "3.0", "1.6", "5.3", "3.7", "6.4", "4.1", "0.0"]


def test_a_narrow_memory_pane_keeps_both_low_marks_in_words() -> None:
    rows = memory(states.healthy(), width=57)
    assert "MemAvailable 4.1, 6.8 since 10:50" in rows
    assert "pool of 121.7" in rows


def test_page_cache_that_holds_the_free_memory_is_coloured() -> None:
    view = drawing.view(states.page_cache())
    rows = DRAWS["memory"](view, Box(77, 30)).rows
    error, warning = view.ink.theme.colours["error"], view.ink.theme.colours["warning"]
    assert error in drawing.styles_of(rows, "1.1")
    assert warning in drawing.styles_of(rows, "109.0")


def changed(state: ClusterState, name: str, **update: object) -> ClusterState:
    nodes = tuple(item.model_copy(update=update) if item.name == name else item for item in state.nodes)
    return state.model_copy(update={"nodes": nodes})


def test_the_kernel_fault_is_named() -> None:
    state = states.healthy()
    spark2 = state.node("spark2")
    assert spark2.memory.value is not None
    value = spark2.memory.value.model_copy(update={"cma_free": 12 * GIB, "cma_total": 64 * 2**20})
    state = changed(state, "spark2", memory=spark2.memory.model_copy(update={"value": value}))
    assert "✖ spark2 CmaFree 12.0 GiB above CmaTotal 64 MiB: kernel fault KHO" in memory(state)


def test_falling_memory_says_when_it_is_used_up() -> None:
    state = changed(states.healthy(), "spark2", free_slope_bytes_per_s=-0.2 * GIB)
    assert "▲ spark2 free falls 205 MiB/s: used up in 35 s" in memory(state)
    cached = states.memory(free=7.1, available=60, gpu=40)
    reading = state.node("spark2").memory.model_copy(update={"value": cached})
    assert "○ spark2 free falls 205 MiB/s into page cache" in memory(changed(state, "spark2", memory=reading))
    assert "free falls" not in memory(changed(states.page_cache(), "spark2", free_slope_bytes_per_s=-0.2 * GIB))
    slow = changed(states.healthy(), "spark2", free_slope_bytes_per_s=-0.001 * GIB)
    assert "used up" not in memory(slow)


def test_pressure_is_said_where_there_is_no_column_for_it() -> None:
    assert "memory pressure 6.2 %" in memory(states.page_cache(), width=57)
    assert "6.2" in memory(states.page_cache())


def test_a_reboot_while_watching_is_shown() -> None:
    assert "▲ spark1 rebooted 14:00:01, while watched" in memory(states.broken_up())


def test_a_late_node_keeps_its_last_values_and_says_how_old_they_are() -> None:
    view = drawing.view(states.broken_up())
    rows = DRAWS["memory"](view, Box(77, 40)).rows
    assert "◷ spark2 no reading for 14 s, ssh open; last values shown" in drawing.text(rows)
    muted = view.ink.theme.colours["text-muted"]
    assert set(drawing.styles_of(rows, "105.0")) == {muted}


def test_a_node_that_was_never_read_shows_no_zero() -> None:
    row = next(line for line in memory(states.broken_up()).splitlines()[6:] if line.startswith("spark3"))
    assert set(row.split()[1:]) == {"—"}


@pytest.mark.parametrize("width", [57, 77, 118])
@pytest.mark.parametrize("pane", ["memory", "overview"])
def test_a_refused_node_shows_the_whole_command(pane: str, width: int) -> None:
    rows = drawing.text(DRAWS[pane](drawing.view(states.broken_up()), Box(width, 40)).rows)
    joined = " ".join(rows.split())
    for command in states.HOST_KEY.fix:
        assert " ".join(command.split()) in joined
    assert "…" not in joined


def test_from_five_nodes_on_each_has_one_row() -> None:
    state = states.many(6)
    lines = memory(state).splitlines()
    assert len(lines) == 8
    assert [line.split()[0] for line in lines[2:]] == [f"gb0{index}" for index in range(1, 7)]


def test_of_many_nodes_the_worst_come_first_and_the_rest_is_counted() -> None:
    lines = memory(states.many(), height=20).splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["gb12", "gb42", "gb23", "gb31"]
    assert lines[-1].strip() == "+ 47 fine"
    assert len(lines) == 20


def test_hidden_nodes_in_trouble_are_not_called_fine() -> None:
    lines = memory(states.many(), height=5).splitlines()
    assert "not fine" in lines[-1]


def test_the_large_form_has_every_node() -> None:
    assert sum(line.startswith("gb") for line in memory(states.many(), large=True).splitlines()) == 64


def test_the_filter_keeps_what_matches() -> None:
    lines = memory(states.many(), search="GB1").splitlines()
    assert [line.split()[0] for line in lines[2:]] == [f"gb1{i}" for i in range(10)]
    assert "nothing matches «xyz»" in memory(states.many(), search="xyz")


def nfs(state: ClusterState, width: int = 77, height: int = 30, **more: object) -> str:
    view = drawing.view(state)
    return drawing.text(DRAWS["nfs"](view, Box(width, height, **more)).rows)  # type: ignore[arg-type]


def test_nfs_shows_rate_times_and_bytes_of_each_mount() -> None:
    row = next(line for line in nfs(states.healthy()).splitlines() if line.startswith("spark2"))
    words = row.replace("▁", "").replace("▃", "").replace("▄", "").split()
    assert words == ["spark2", "/models", "●", "fine", "612", "1.1", "1.4", "0", "163.3"]


def test_a_hung_mount_counts_up_and_says_that_one_probe_waits() -> None:
    rows = nfs(states.nas_down())
    assert "✖ hung 14 s" in rows
    assert "one waits on each hung mount, no more are sent" in rows
    later = drawing.view(states.nas_down(), now=states.NOW + 5)
    assert "✖ hung 19 s" in drawing.text(DRAWS["nfs"](later, Box(77, 30)).rows)


def test_the_sum_stands_against_the_link() -> None:
    assert "612 of 1,192   51 % of 10G" in nfs(states.healthy())


def test_a_sum_that_lacks_a_node_says_so() -> None:
    assert "sum without spark2" in nfs(states.broken_up(), width=57)


def test_obtained_is_shown_beside_asked_and_less_is_coloured() -> None:
    state = changed(states.healthy(), "spark2", nfs=(states.mount(connections=1, got=states.GOT | {"rsize": "32768"}),))
    view = drawing.view(state)
    rows = DRAWS["nfs"](view, Box(77, 30)).rows
    assert "nconnect 1 of 8, rsize 32K of 1M" in " ".join(drawing.text(rows).split())
    assert view.ink.theme.colours["warning"] in drawing.styles_of(rows, "32K")


def test_late_counters_are_shown_with_their_age_though_the_node_is_read() -> None:
    spark2 = states.healthy().node("spark2")
    late = spark2.mountstats.model_copy(update={"at": states.NOW - 30})
    row = next(
        line for line in nfs(changed(states.healthy(), "spark2", mountstats=late)).splitlines() if "spark2" in line
    )
    assert "◷ 30 s" in row


def test_a_late_gpu_or_pressure_reading_is_shown_as_old() -> None:
    spark2 = states.healthy().node("spark2")
    late = {name: getattr(spark2, name).model_copy(update={"at": states.NOW - 30}) for name in ("gpu", "pressure")}
    value = states.GPU_BUSY.model_copy(update={"temperature_c": 71})
    late["gpu"] = late["gpu"].model_copy(update={"value": value})
    view = drawing.view(changed(states.healthy(), "spark2", **late))
    rows = DRAWS["memory"](view, Box(77, 30)).rows
    assert drawing.styles_of(rows, "71 °C") == [view.ink.theme.colours["text-muted"]]


def test_a_nas_can_be_selected_where_its_sum_stands() -> None:
    for pane in ("nfs", "overview"):
        sheet = DRAWS[pane](drawing.view(states.healthy()), Box(78, 30))
        (item,) = [item for item in sheet.items if item.key == "server nas"]
        assert item.node == "nas"
        assert sheet.rows[item.rows[0]].text.startswith("nas")


def test_an_unused_volume_is_told() -> None:
    unused = states.mount("/v", volume="dsv41-exl3-engram", mounted=False, state="unused")
    state = changed(states.healthy(), "spark2", nfs=(states.mount(), unused))
    rows = " ".join(nfs(state).split())
    assert "docker volume dsv41-exl3-engram on spark2: defined, no container uses it" in rows


def test_an_absent_mount_has_no_rate() -> None:
    gone = states.mount(mounted=False, state="unmounted", rate=None, rtt=None, execute=None)
    row = next(line for line in nfs(changed(states.healthy(), "spark2", nfs=(gone,))).splitlines() if "spark2" in line)
    assert "▲ not mounted" in row
    assert " 0 " not in row


def test_a_nas_tells_its_bond_threads_and_rebuilding_array() -> None:
    rows = nfs(states.page_cache())
    assert "bond0 1 of 2 up, 802.3ad, nfsd 16 threads, v3 v4.1" in rows
    assert "▲ md1 raid5 3 of 4 degraded, recovery 42 %, 1:14:00 left" in rows


def test_the_speed_of_the_nas_is_not_taken_for_a_node_that_exports() -> None:
    row = next(line for line in nfs(states.healthy()).splitlines() if line.startswith("spark1") and "MiB/s" in line)
    assert "link speed not known" in row


def test_the_overview_has_all_in_few_rows() -> None:
    view = drawing.view(states.nas_down(), (states.HUNG_FINDING, states.SLOW_FINDING))
    sheet = overview.draw(view, Box(78, 18))
    rows = drawing.text(sheet.rows)
    assert len(sheet.rows) <= 18
    for words in (
        "spark1",
        "spark2",
        "5.3",
        "68 °C 62 W 96 %",
        "✖ hung 14 s",
        "nconnect 8 was asked",
        "not there yet:",
    ):
        assert words in rows


def test_the_page_of_a_finding_has_every_cause_and_whole_commands() -> None:
    view = drawing.view(states.page_cache(), (states.CACHE_FINDING,))
    rows = " ".join(drawing.text(finding.draw(view, Box(78, 40, large=True)).rows).split())
    for words in ("● confirmed", "× ruled out", "○ possible", "page cache", "needs a restart", "1 of 1"):
        assert words in rows
    for command in states.CACHE_FINDING.fix.commands:
        assert command in rows
    assert finding.as_text(states.CACHE_FINDING) == "\n".join(states.CACHE_FINDING.fix.commands)


def test_a_finding_that_is_gone_says_so() -> None:
    assert "gone" in drawing.text(finding.draw(drawing.view(states.healthy()), Box(78, 20, large=True)).rows)


def test_every_number_of_a_node_has_source_unit_and_age() -> None:
    view = drawing.view(states.healthy())
    rows = drawing.text(node.drawing("spark2")(view, Box(118, 400, large=True)).rows)
    spark2 = states.healthy().node("spark2")
    assert spark2.memory.value is not None
    for words in (
        "/proc/meminfo, 0 s ago, every 1 s",
        f"{spark2.memory.value.free:,} B",
        "Cached + Buffers + SwapCached - Shmem",
        "low MemAvailable",
        "/proc/pressure/memory",
        "nvidia-smi --query-gpu",
        "62.41 W",
        "641,728,512 B/s",
        "mountstats bytes: 5th",
        "statfs /dev/shm",
        "s/min",
    ):
        assert words in rows, words


def test_the_numbers_shown_are_those_traced() -> None:
    """What the memory pane shows in GiB stands beside the bytes on the node's page."""
    rows = drawing.text(node.drawing("spark1")(drawing.view(states.healthy()), Box(118, 400, large=True)).rows)
    for name, shown in (("gpu", "106.2"), ("proc", "5.4"), ("cache", "1.6"), ("free", "5.3")):
        assert any(line.split()[0] == name and f"{shown} GiB" in line for line in rows.splitlines() if line.split())


def test_a_node_that_is_not_read_can_be_opened() -> None:
    empty = NodeState(name="spark9", target="spark9", link=Link(phase="waiting", kind="unreachable", why="no route"))
    state = states.cluster(empty)
    rows = drawing.text(node.drawing("spark9")(drawing.view(state), Box(78, 50, large=True)).rows)
    assert "no route" in rows
    assert "not configured" in drawing.text(node.drawing("gone")(drawing.view(state), Box(78, 50, large=True)).rows)


def test_a_failed_reading_says_why() -> None:
    state = changed(states.healthy(), "spark1", gpu=Reading(error="nvidia-smi: no devices"))
    rows = drawing.text(node.drawing("spark1")(drawing.view(state), Box(118, 400, large=True)).rows)
    assert "never read: nvidia-smi: no devices" in rows


def test_long_names_widen_the_label_of_every_pane_alike() -> None:
    state = states.healthy()
    first = state.nodes[0].model_copy(update={"name": "dgx-spark-01"})
    view = drawing.view(state.model_copy(update={"nodes": (first, *state.nodes[1:])}))
    assert view.label == 13
    for pane in ("memory", "nfs"):
        assert "dgx-spark-01" in drawing.text(DRAWS[pane](view, Box(77, 30)).rows)


def test_paused_and_chosen_do_not_change_what_is_drawn() -> None:
    view = drawing.view(states.healthy(), (states.SLOW_FINDING,))
    held = replace(view, paused_s=4.0)
    assert DRAWS["memory"](view, Box(77, 30)).rows == DRAWS["memory"](held, Box(77, 30)).rows


@pytest.mark.parametrize("pane", ["nfs", "overview"])
def test_no_mount_is_said_only_where_every_node_was_read(pane: str) -> None:
    empty = states.cluster(*(node.model_copy(update={"nfs": ()}) for node in states.healthy().nodes))
    read = states.cluster(*(n.model_copy(update={"mountinfo": states.ok(())}) for n in empty.nodes))
    unread = changed(read, "spark2", mountinfo=Reading())
    down = changed(read, "spark2", link=states.HOST_KEY)
    nothing = states.cluster(NodeState(name="spark1"))
    shown = [
        "no NFS mount" in drawing.text(DRAWS[pane](drawing.view(state), Box(78, 30)).rows)
        for state in (read, unread, down, nothing)
    ]
    assert shown == [True, False, False, False]


def test_a_mount_that_does_not_respond_has_no_rate() -> None:
    hung = states.mount(state="not-responding", rate=0.0)
    row = next(line for line in nfs(changed(states.healthy(), "spark2", nfs=(hung,))).splitlines() if "spark2" in line)
    assert "—" in row.split("hung")[1]
    assert " 0 " not in row.split("hung")[1][:22]


def test_the_kernel_fault_shows_no_false_zero() -> None:
    state = states.healthy()
    spark2 = state.node("spark2")
    assert spark2.memory.value is not None
    value = spark2.memory.value.model_copy(update={"cma_free": int(9.3 * GIB), "cma_total": 32 * 2**20})
    state = changed(state, "spark2", memory=spark2.memory.model_copy(update={"value": value}))
    assert "CmaFree 9.3 GiB above CmaTotal 32 MiB" in memory(state)


def test_the_page_of_a_finding_says_where_its_commands_run() -> None:
    long = states.CACHE_FINDING.model_copy(update={"node": "dgx-spark-02"})
    link = long.model_copy(update={"id": "link-refused"})
    for item, words in ((long, "on dgx-spark-02:"), (link, "here, on this machine:")):
        rows = drawing.text(finding.draw(drawing.view(states.healthy(), (item,)), Box(78, 40, large=True)).rows)
        assert words in rows
