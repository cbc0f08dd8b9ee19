"""What the panel looks like, as committed pictures of the real app on states with the figures of real boxes.

Plain functions, since the plugin runs the app itself; clock and state stand still, animations are off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dsv41_tui.config import ClusterConfig, Config
from dsv41_tui.core.finding import Finding
from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui import glyphs
from dsv41_tui.ui.app import PanelApp
from dsv41_tui.ui.feed import Feed
from dsv41_tui.ui.source import Cluster
from tests.ui import fakes, log_lines, states
from tests.ui.test_app import Actions

SnapCompare = Callable[..., bool]
SIZES = [(80, 24), (120, 36), (160, 50), (200, 60)]
FINDINGS: dict[str, tuple[Finding, ...]] = {
    "healthy": (),
    "page_cache": (states.CACHE_FINDING, states.SLOW_FINDING),
    "nas_down": (states.HUNG_FINDING, states.SLOW_FINDING),
    "broken_up": (),
    "many": (),
    "chinese": (states.SLOW_FINDING,),
}


async def settled(pilot: Pilot[int]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def then(*keys: str) -> Callable[[Pilot[int]], object]:
    """Settle, press, settle."""

    async def run(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)

    return run


def app_of(name: str, *, theme: str = "ink", marks: glyphs.Glyphs = glyphs.UNICODE) -> PanelApp:
    config = Config(cluster=ClusterConfig(theme=theme))
    return fakes.panel(getattr(states, name)(), FINDINGS[name], config, marks=marks)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ["healthy", "page_cache", "nas_down", "broken_up", "many"])
def test_main(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_of(name), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("name", ["healthy", "nas_down"])
def test_light(snap_compare: SnapCompare, name: str) -> None:
    assert snap_compare(app_of(name, theme="paper"), terminal_size=(120, 36), run_before=settled)


def test_ascii(snap_compare: SnapCompare) -> None:
    app = app_of("page_cache", theme="sixteen", marks=glyphs.ASCII)
    assert snap_compare(app, terminal_size=(80, 24), run_before=then("1"))


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_chinese(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    load_language("zh-Hant")
    assert snap_compare(app_of("chinese"), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("key", ["1", "2"])
def test_tab(snap_compare: SnapCompare, key: str) -> None:
    assert snap_compare(app_of("page_cache"), terminal_size=(80, 24), run_before=then(key))


@pytest.mark.parametrize("key", ["1", "2"])
def test_zoom(snap_compare: SnapCompare, key: str) -> None:
    assert snap_compare(app_of("healthy"), terminal_size=(120, 36), run_before=then(key, "z"))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_finding(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_of("page_cache"), terminal_size=size, run_before=then("enter"))


def test_node(snap_compare: SnapCompare) -> None:
    assert snap_compare(app_of("healthy"), terminal_size=(120, 60), run_before=then("j", "enter"))


def test_help(snap_compare: SnapCompare) -> None:
    assert snap_compare(app_of("healthy"), terminal_size=(120, 50), run_before=then("question_mark"))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_welcome(snap_compare: SnapCompare, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_cluster(path: Path | None) -> Cluster:
        raise AssertionError("nothing is opened before a choice")

    monkeypatch.setattr(Feed, "clock", lambda feed: "14:02:11")
    app = PanelApp(open_cluster, welcome=Actions())
    assert snap_compare(app, terminal_size=size, run_before=settled)


def failed_start(*, marks: glyphs.Glyphs = glyphs.UNICODE, theme: str = "ink") -> PanelApp:
    config = Config(cluster=ClusterConfig(theme=theme))
    findings = (log_lines.REGISTRATION, states.SLOW_FINDING)
    return fakes.panel(log_lines.failed_start(), findings, config, logs=log_lines.hub(), marks=marks)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_log(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    """All panes, the lines of the log among them."""
    assert snap_compare(failed_start(), terminal_size=size, run_before=settled)


def test_log_tab(snap_compare: SnapCompare) -> None:
    assert snap_compare(failed_start(), terminal_size=(80, 24), run_before=then("6", "k", "k", "m", "k"))


def test_log_filter(snap_compare: SnapCompare) -> None:
    keys = then("6", "z", "slash", *"net/ib", "enter", "f", "N")
    assert snap_compare(failed_start(), terminal_size=(160, 50), run_before=keys)


def test_log_ascii(snap_compare: SnapCompare) -> None:
    app = failed_start(marks=glyphs.ASCII, theme="sixteen")
    assert snap_compare(app, terminal_size=(80, 24), run_before=then("enter", "l"))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_log_finding(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(failed_start(), terminal_size=size, run_before=then("enter"))


def test_log_finding_chinese(snap_compare: SnapCompare) -> None:
    load_language("zh-Hant")
    assert snap_compare(failed_start(), terminal_size=(120, 36), run_before=then("enter"))
