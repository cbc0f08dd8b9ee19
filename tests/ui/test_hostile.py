"""Remote text never becomes markup and never reaches the terminal as a control sequence, even if the edge let it by."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dsv41_tui.core.finding import Evidence
from dsv41_tui.core.model import Link, NfsMount
from dsv41_tui.ui.app import PanelApp
from tests.ui import fakes, states

EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202e[red]x[/x][link=http://e]\r\nb"
SHOWN = "[red]x[/x][link=http://e]"


def poisoned() -> PanelApp:
    """Every text that can come from outside is hostile."""
    state = states.healthy()
    spark1, spark2, nas = state.nodes
    place: NfsMount = states.mount("/" + EVIL, source="nas:/" + EVIL, rate=612, state="fine")
    link = Link(phase="waiting", kind="refused", why=EVIL, fix=("ssh-keygen -R " + EVIL,), down_since=states.NOW - 5)
    state = state.model_copy(
        update={
            "name": EVIL,
            "nodes": (
                spark1.model_copy(update={"nfs": (place,)}),
                spark2.model_copy(update={"name": "s" + EVIL, "link": link, "target": EVIL}),
                nas,
            ),
        }
    )
    finding = states.CACHE_FINDING.model_copy(
        update={
            "title": EVIL,
            "node": EVIL,
            "evidence": (Evidence(source=EVIL, line=EVIL),),
            "fix": states.CACHE_FINDING.fix.model_copy(update={"text": EVIL, "commands": (EVIL,)}),
        }
    )
    return fakes.panel(state, (finding,))


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
@pytest.mark.parametrize(
    "keys", [(), ("enter",), ("j", "enter"), ("G", "enter"), ("2", "z"), ("question_mark",), ("colon",)]
)
async def test_no_escape_from_data_is_in_a_frame(size: tuple[int, int], keys: tuple[str, ...]) -> None:
    app = poisoned()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.press(*keys)
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            assert strip.text.isprintable(), strip.text
            assert "owned" not in strip.text


async def test_what_goes_to_the_terminal_has_only_our_own_sequences() -> None:
    app = poisoned()
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
        console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=160)
        frame = "".join(strip.render(console) for strip in app.screen._compositor.render_strips())
        assert "\x1b[38;2;" in frame
        assert "\x1b]" not in frame
        assert "\x1b[2J" not in frame
        assert "\x9b" not in frame


async def test_markup_in_data_is_shown_as_it_is() -> None:
    app = poisoned()
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert any(SHOWN in strip.text for strip in app.screen._compositor.render_strips())
