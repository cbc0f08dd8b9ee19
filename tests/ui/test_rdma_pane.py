"""The RDMA pane: what it says of ports, indices, rates and differences, and what it leaves unsaid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dsv41_tui.core import health
from dsv41_tui.core.model import ClusterState
from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui import overview
from dsv41_tui.ui.panes import rdma
from dsv41_tui.ui.rdma.ports import gigabytes, thousands, whole
from dsv41_tui.ui.view import Box, View
from tests.ui import drawing, fabric_states, fakes, states
from tests.ui.test_snapshots import settled, then


@pytest.fixture(autouse=True)
def english() -> None:
    load_language("en")


def view(state: ClusterState, **more: Any) -> View:
    return drawing.view(state, health.findings(state, states.LIMITS, states.NOW), **more)


def shown(state: ClusterState, width: int = 77, height: int = 30, **box: Any) -> str:
    return drawing.text(rdma.draw(view(state), Box(width, height, **box)).rows)


def row(text: str, *words: str) -> str:
    (found,) = [line for line in text.split("\n") if all(word in line for word in words)]
    return " ".join(found.split())


def test_each_used_port_has_its_row() -> None:
    text = shown(fabric_states.serving())
    assert row(text, "spark1") == "spark1 r0 rocep1s0f0 ● 200G 3 v2 ● registered 2.3 0 12"
    assert text.count("roceP2p1s0f0") == 2 and "rocep1s0f1" not in text
    assert "NCCL 2.29.7" in text.split("\n")[0]
    assert row(text, "same") == "same kernel 6.17.0-1029-nvidia, driver 580.95.05, image 9f31c2a07d11,"
    assert "memlock unlimited in all containers" in " ".join(text.split())
    assert "differs" not in text


def test_the_narrow_form_keeps_the_index_the_memory_and_what_is_lost() -> None:
    text = shown(fabric_states.serving(), 57)
    assert row(text, "spark1") == "spark1 r0 rocep1s0f0 ● 200G 3 v2 ● registered 0"
    assert "same    kernel, driver, image" in text


def test_what_is_wrong_is_marked() -> None:
    text = shown(fabric_states.broken())
    assert row(text, "spark2") == "spark2 r1 rocep1s0f0 ✖ down — ✖ failed — — —"
    assert row(text, "✖ 3") == "roceP2p1s0f0 ● 200G ✖ 3 ✖ failed 2.3 14 12"
    assert row(text, "differs") == "differs firmware 28.45.4028 and 28.45.4006"


def test_the_large_form_shows_the_table_what_moved_and_the_settings() -> None:
    text = shown(fabric_states.broken(), 158, 60, large=True)
    assert "10.77.3.12 4 -> " not in text and "moved since the boot: 10.77.3.12 3 -> 5" in text
    assert row(text, "right one").startswith("5 10.77.3.12 RoCE v2 enP2p1s0f0np0")
    assert "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0" in text and "NCCL_IB_HCA=roceP2p1s0f0" in text
    assert "VLLM_HOST_IP=10.77.1.11" in text
    assert "9000/4096" in text and "Disabled" in text
    assert "since the start: np_cnp_sent 18k" in text


def test_unused_ports_are_in_the_large_form_only_and_muted() -> None:
    text = shown(fabric_states.serving(), 118, 40, large=True)
    assert text.count("unused") == 2
    assert row(text, "spark1 ", "● 200G").endswith("● registered 2.3 1120k 0 12")


def test_no_hca_and_old_readings_are_said() -> None:
    text = shown(fabric_states.unread())
    assert row(text, "no HCA") == "spark1 r0 ○ no HCA"
    assert row(text, "rocep1s0f0") == "spark2 r1 rocep1s0f0 ◷ 14 s 3 v2 — — — —"


def test_nothing_read_is_unknown_and_never_healthy() -> None:
    text = shown(states.healthy())
    assert text.count("? not read") == 2 and "●" not in text
    assert rdma.mark(view(states.healthy()))[1] == "warning"


def test_the_tab_shows_the_worst() -> None:
    assert rdma.mark(view(fabric_states.serving())) == ("●", "success")
    assert rdma.mark(view(fabric_states.broken())) == ("✖", "error")


def test_the_page_of_small_screens_has_the_fabric_in_one_row() -> None:
    def fabric(state: ClusterState) -> str:
        return row(drawing.text(overview.draw(view(state), Box(78, 18)).rows), "fabric")

    assert fabric(fabric_states.serving()) == "fabric ● 200G GID 3 v2 ● registered 4 of 4 ports"
    assert fabric(fabric_states.broken()).startswith("fabric ✖ down spark2 rocep1s0f0 1 of 4 ports")


def test_a_filter_takes_node_device_or_interface() -> None:
    text = shown(fabric_states.serving(), search="enp2p1s0f0")
    assert text.count("roceP2p1s0f0") == 2 and " rocep1s0f0" not in text
    assert "nothing matches" in shown(fabric_states.serving(), search="mlx5")


@pytest.mark.parametrize("make", [fabric_states.serving, fabric_states.broken, fabric_states.unread])
@pytest.mark.parametrize("language", ["en", "zh-Hant", "zh-Hans"])
def test_rows_are_as_wide_as_the_box(make: Callable[[], ClusterState], language: str) -> None:
    load_language(language)
    for width, height in ((57, 12), (77, 20), (78, 18), (118, 32), (198, 55)):
        for large in (False, True):
            sheet = rdma.draw(view(make()), Box(width, height, large=large, focused=True))
            assert {strip.cell_length for strip in sheet.rows} == {width}
            assert sheet.items


def test_wants_is_what_it_draws() -> None:
    for width in (57, 77):
        made = view(fabric_states.broken())
        assert rdma.wants(made, width) == len(rdma.draw(made, Box(width, 40)).rows)


@pytest.mark.parametrize(
    ("value", "shown_as"), [(None, "—"), (0.0, "0.0"), (310e6, "0.3"), (9.94e9, "9.9"), (24.1e9, "24")]
)
def test_rates_are_rounded_until_still(value: float | None, shown_as: str) -> None:
    assert gigabytes(value, "—") == shown_as


def test_little_is_no_zero() -> None:
    assert [whole(value, "—") for value in (None, 0.0, 0.2, 3.4)] == ["—", "0", "<1", "3"]
    assert [thousands(value, "—") for value in (9_000, 12_345, 12_345_678)] == ["9000", "12k", "12M"]


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ["serving", "broken"])
def test_large(snap_compare: Callable[..., bool], name: str, size: tuple[int, int]) -> None:
    state = getattr(fabric_states, name)()
    found = health.findings(state, states.LIMITS, states.NOW)
    keys = ("4",) if size[0] < 100 else ("4", "z")
    assert snap_compare(fakes.panel(state, found), terminal_size=size, run_before=then(*keys))


def test_beside_the_others(snap_compare: Callable[..., bool]) -> None:
    state = fabric_states.broken()
    found = health.findings(state, states.LIMITS, states.NOW)
    assert snap_compare(fakes.panel(state, found), terminal_size=(160, 50), run_before=settled)
