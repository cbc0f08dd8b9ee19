"""`y` in the RDMA pane: the settings of the nodes go to the clipboard as lines of an env file, and that is said."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from dsv41_tui.core.model import ClusterState
from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui.app import PanelApp
from dsv41_tui.ui.rdma.environment import environment
from tests.ui import drawing, fabric_states, fakes
from tests.ui.test_app import ready, shown


@pytest.fixture(autouse=True)
def english() -> None:
    load_language("en")


def panel(state: ClusterState) -> PanelApp:
    return fakes.panel(state)


async def copied(state: ClusterState, *keys: str) -> tuple[str, str]:
    """What is in the clipboard and on the screen after the keys."""
    app = panel(state)
    async with app.run_test(size=(160, 50)) as pilot:
        await pressed(pilot, "4", *keys)
        return app.clipboard, shown(app)


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await ready(pilot)
    for key in keys:
        await pilot.press(key)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def test_all_nodes_are_copied_each_under_its_name() -> None:
    text, screen = await copied(fabric_states.broken(), "y")
    first, second = text.split("\n\n")
    assert first.split("\n")[:2] == ["# spark1", "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0"]
    assert second.split("\n")[:2] == ["# spark2", "NCCL_IB_HCA=roceP2p1s0f0"]
    settings = [line for line in text.split("\n") if line and not line.startswith("# ")]
    assert all("=" in line for line in settings)
    assert f"copied {len(settings)} settings of spark1, spark2" in screen


async def test_the_selected_node_is_copied_alone() -> None:
    text, screen = await copied(fabric_states.broken(), "right_square_bracket", "right_square_bracket", "y")
    assert text.startswith("# spark2\n") and "spark1" not in text
    assert "settings of spark2" in screen and "settings of spark1" not in screen


async def test_nodes_without_settings_are_said() -> None:
    state = fabric_states.unread()
    made = environment(drawing.view(state, ()), None)
    assert "spark1" in made.unknown
    text, screen = await copied(state, "right_square_bracket", "y")
    assert text == ""
    assert "no settings are known of spark1" in screen


async def test_help_and_palette_list_the_key_in_this_pane_alone() -> None:
    app = panel(fabric_states.broken())
    words = "RDMA: copy the settings"
    async with app.run_test(size=(160, 60)) as pilot:
        await pressed(pilot, "4", "question_mark")
        assert words in shown(app)
        await pressed(pilot, "escape", "1", "question_mark")
        assert words not in shown(app)
        await pressed(pilot, "escape", "4", "colon", *"copy the settings")
        assert words in shown(app)
        await pressed(pilot, "enter")
        assert app.clipboard.startswith("# spark1\n")


def test_a_name_that_a_shell_would_run_is_quoted() -> None:
    odd = fabric_states.half(11, netdev="a;reboot;", gids=fabric_states.table(11, 1, "a;reboot;"))
    state = fabric_states.joined(fabric_states.rank(0, odd))
    text = environment(drawing.view(state, ()), "spark1").text
    assert "NCCL_SOCKET_IFNAME='a;reboot;'" in text.split("\n")
