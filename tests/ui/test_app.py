"""The panel under a pilot: keys, screens, palette, filter, copy, pause, welcome; nothing slow holds the keys."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual import events
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from dsv41_tui.config import ClusterConfig, Config
from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.core.model import ClusterState
from dsv41_tui.ui.app import PanelApp
from dsv41_tui.ui.main_screen import MainScreen
from dsv41_tui.ui.screens.page import HelpScreen, PageScreen
from dsv41_tui.ui.screens.welcome import WelcomeScreen
from dsv41_tui.ui.source import Cluster
from dsv41_tui.ui.widgets.chrome import FindingRow, Footer, Header, Tabs
from dsv41_tui.ui.widgets.sheet import SheetWidget
from tests.ui import fakes, states

BIG, SMALL = (160, 50), (80, 24)
FINDINGS = (states.CACHE_FINDING, states.SLOW_FINDING)


def shown(app: PanelApp) -> str:
    """The text of the whole screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def main(app: PanelApp) -> MainScreen:
    assert isinstance(app.screen, MainScreen)
    return app.screen


def visible(app: PanelApp) -> list[str]:
    return [sheet.id or "" for sheet in app.screen.query(SheetWidget) if sheet.display]


async def ready(pilot: Pilot[int]) -> None:
    """Until the cluster is opened and painted."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def typed(pilot: Pilot[int], character: str) -> None:
    """A character as a terminal sends it; the pilot itself knows names of keys only."""
    driver = pilot.app._driver
    assert driver is not None
    driver.send_message(events.Key("fullwidth", character))
    for _ in range(3):
        await pilot.pause()


async def test_large_screens_show_all_panes_and_small_ones_the_overview() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        assert visible(app) == [f"pane-{key}" for key in range(1, 7)]
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        assert visible(app) == ["pane-0"]
        assert app.screen.query_one(Tabs).size.height == 2
        await pilot.resize_terminal(120, 36)
        await pilot.pause()
        assert visible(app) == [f"pane-{key}" for key in range(1, 7)]


@pytest.mark.parametrize("size", [(80, 24), (119, 50), (120, 35), (120, 36), (160, 50), (200, 60), (60, 15), (20, 5)])
async def test_any_size_is_drawn_to_its_edges(size: tuple[int, int]) -> None:
    app = fakes.panel(states.nas_down(), FINDINGS)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        strips = app.screen._compositor.render_strips()
        assert len(strips) == size[1]
        assert {strip.cell_length for strip in strips} == {size[0]}


async def test_digits_tab_and_arrows_go_to_panes() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        order = []
        for key in ("2", "tab", "shift+tab", "l", "right", "h", "left", "6", "tab", "0"):
            await pilot.press(key)
            order.append(app.focused.id if app.focused else None)
        numbers = (2, 3, 2, 3, 4, 3, 2, 6, 1, 1)
        assert order == [f"pane-{number}" for number in numbers]


async def test_on_a_small_screen_digits_are_tabs() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=SMALL) as pilot:
        await ready(pilot)
        await pilot.press("2")
        assert visible(app) == ["pane-2"]
        assert main(app).sheet(2).large
        await pilot.press("tab")
        assert visible(app) == ["pane-3"]
        await pilot.press("escape")
        assert visible(app) == ["pane-0"]
        await pilot.press("z")
        assert visible(app) == ["pane-1"]


async def test_zoom_and_back() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("2", "z")
        assert visible(app) == ["pane-2"]
        assert main(app).sheet(2).large
        await pilot.press("1")
        assert visible(app) == ["pane-1"]
        await pilot.press("escape")
        assert len(visible(app)) == 6
        assert not main(app).sheet(1).large
        assert app.focused is main(app).sheet(1)


async def test_rows_and_nodes_are_selected_and_opened() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("2", "j")
        assert main(app).current.selected == "spark1 /models"
        await pilot.press("j")
        assert main(app).current.selected == "spark1 /engram"
        await pilot.press("]")
        assert main(app).current.selected == "spark2 /models"
        await pilot.press("[")
        assert main(app).current.selected == "spark1 /models"
        await pilot.press("G")
        assert main(app).current.selected == "server nas"
        await pilot.press("k", "enter")
        assert isinstance(app.screen, PageScreen)
        assert shown(app).splitlines()[3].startswith(" spark2  rank, rank 1")
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)
        await pilot.press("escape")
        assert main(app).current.selected is None


async def test_enter_opens_the_finding_and_n_goes_through_them() -> None:
    app = fakes.panel(states.page_cache(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        assert "page cache holds 109.0 GiB" in shown(app).splitlines()[1]
        await pilot.press("n")
        assert "nconnect 8 was asked for" in shown(app).splitlines()[1]
        await pilot.press("enter")
        assert "sudo umount /models" in shown(app)
        await pilot.press("N")
        assert "model-00047-of-00048" in shown(app)
        await pilot.press("escape", "escape")
        assert "page cache holds" in shown(app).splitlines()[1]


async def test_the_chosen_finding_stays_while_worse_ones_come() -> None:
    app = fakes.panel(states.page_cache(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("n")
        app.fake.store.set(states.page_cache(), (states.HUNG_FINDING, *FINDINGS))  # type: ignore[attr-defined]
        app.paint()
        await pilot.pause()
        assert "nconnect 8 was asked for" in shown(app).splitlines()[1]
        assert "NFS HUNG" in shown(app).splitlines()[0]


async def test_the_filter_is_live_kept_by_enter_and_dropped_by_escape() -> None:
    app = fakes.panel(states.many())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("slash", *"gb42")
        assert isinstance(app.focused, Input)
        assert "gb42" in shown(app)
        assert "gb12" not in "\n".join(line[:78] for line in shown(app).splitlines())
        await pilot.press("enter")
        assert app.focused is main(app).sheet(1)
        assert "1 Memory /gb42" in shown(app)
        await pilot.press("slash", "x", "escape")
        assert main(app).sheet(1).search == ""
        await pilot.pause()
        assert app.screen.query_one(Footer).display


async def test_keys_typed_into_a_field_are_text() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("slash", "q", "z", "1", "question_mark")
        await typed(pilot, "？")
        assert app.is_running
        assert app.screen.query_one(Input).value == "qz1?？"


@pytest.mark.parametrize(("character", "screen"), [("？", HelpScreen), ("：", CommandPalette)])
async def test_full_width_characters_act_as_keys(character: str, screen: type) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await typed(pilot, character)
        assert isinstance(app.screen, screen)


@pytest.mark.parametrize("character", ["ｚ", "／", "２"])
async def test_full_width_letters_act_as_keys(character: str) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await typed(pilot, character)
        done = {"ｚ": main(app).zoomed, "／": bool(app.screen.query(Input)), "２": app.focused is main(app).sheet(2)}
        assert done[character]


async def test_help_lists_the_keys_of_this_view_and_toggles() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=(120, 60)) as pilot:
        await ready(pilot)
        await pilot.press("question_mark")
        text = shown(app)
        for words in ("filter the pane that has the focus", "1-6", "PgDn", "unknown, never counted as fine"):
            assert words in text
        await pilot.press("question_mark")
        assert isinstance(app.screen, MainScreen)
        await pilot.press("enter", "question_mark")
        assert "copy the commands or numbers of this page" in shown(app)


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_the_palette_runs_what_the_keys_run(key: str) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press(key)
        await pilot.press(*"paper")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.theme == "paper"


async def test_the_palette_offers_nodes_findings_panes_and_keys() -> None:
    app = fakes.panel(states.page_cache(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("colon")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        text = shown(app)
        for words in ("go to NFS", "numbers of spark2", "finding on spark2: RDMA", "stop the view", "theme paper"):
            assert words in text
        await pilot.press(*"zzzzzz")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "no action has these letters" in shown(app)


async def test_pause_stops_the_view_and_says_so() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("space")
        store = app.fake.store  # type: ignore[attr-defined]
        store.moved_s = 20
        store.set(states.page_cache(), FINDINGS)
        app.tick()
        app.paint()
        await pilot.pause()
        text = shown(app)
        assert "paused 20 s" in text
        assert "14:02:31" in text
        assert "109.0" not in text
        assert "◷ 20 s" not in text
        await pilot.press("space")
        assert "109.0" in shown(app)


async def test_refresh_asks_the_cluster() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("r")
        assert app.fake.refreshed == 1  # type: ignore[attr-defined]
        assert "asked all nodes" in shown(app)


async def test_copy_gives_commands_or_the_numbers_of_the_selected_node() -> None:
    app = fakes.panel(states.page_cache(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("y")
        assert app.clipboard == "\n".join(states.CACHE_FINDING.fix.commands)
        assert "copied 2 lines" in shown(app)
        await pilot.press("j", "y")
        assert "MemFree\t" in app.clipboard
        assert app.clipboard.startswith("spark1\t2026-09-30T14:02:11")
        await pilot.press("escape", "enter", "n", "y")
        assert app.clipboard == "sudo umount /models"


async def test_a_state_that_does_not_change_repaints_nothing() -> None:
    app = fakes.panel(states.healthy(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        app.paint()
        await pilot.pause()
        dirty: list[str] = []
        for widget in app.screen.query("*"):
            original = widget.refresh

            def spy(*regions: object, name: str = widget.id or "", call: object = original, **more: object) -> object:
                dirty.append(name)
                return call(*regions, **more)  # type: ignore[operator]

            widget.refresh = spy  # type: ignore[method-assign, assignment]
        app.fake.store.set(states.healthy(), FINDINGS)  # type: ignore[attr-defined]
        app.paint()
        app.tick()
        await pilot.pause()
        assert dirty == []
        spark1, *others = states.healthy().nodes
        less = states.memory(free=4.1, available=5.2, gpu=107.0)
        spark1 = spark1.model_copy(update={"memory": spark1.memory.model_copy(update={"value": less})})
        app.fake.store.set(states.cluster(spark1, *others), FINDINGS)  # type: ignore[attr-defined]
        app.paint()
        assert dirty == ["pane-1"]


async def test_a_flood_of_changes_is_few_paints_and_keys_are_served_between(monkeypatch: pytest.MonkeyPatch) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        paints = 0
        real = MainScreen.paint_body

        def counted(screen: MainScreen, view: object) -> None:
            nonlocal paints
            paints += 1
            real(screen, view)  # type: ignore[arg-type]

        monkeypatch.setattr(MainScreen, "paint_body", counted)
        for _ in range(2_000):
            app.fake.store.set(states.healthy())  # type: ignore[attr-defined]
        assert paints == 0
        await pilot.press("z")
        assert main(app).zoomed
        assert paints < 5


async def test_the_first_frame_stands_before_the_cluster_is_opened() -> None:
    opened = asyncio.Event()
    release = asyncio.Event()

    async def open_cluster(path: Path | None) -> Cluster:
        opened.set()
        await release.wait()
        return fakes.FakeCluster(states.healthy())

    app = PanelApp(open_cluster)
    async with app.run_test(size=BIG) as pilot:
        await pilot.pause()
        await opened.wait()
        assert "CONNECTING" in shown(app)
        assert "1 Memory" in shown(app)
        await pilot.press("2", "z")
        assert visible(app) == ["pane-2"]
        release.set()
        await ready(pilot)
        assert "WATCHING" in shown(app)


async def test_a_cluster_that_never_starts_does_not_hold_the_keys() -> None:
    cluster = fakes.FakeCluster(states.healthy())

    async def never() -> None:
        await asyncio.Event().wait()

    cluster.start = never  # type: ignore[method-assign]
    cluster.stop = never  # type: ignore[method-assign]

    async def open_cluster(path: Path | None) -> Cluster:
        return cluster

    app = PanelApp(open_cluster)
    async with app.run_test(size=BIG) as pilot:
        await pilot.pause()
        await pilot.press("z")
        assert main(app).zoomed
        await pilot.press("q")
    assert app.return_code == 0


async def test_quitting_stops_the_cluster() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press("q")
    assert app.fake.stopped == 1  # type: ignore[attr-defined]
    assert app.return_code == 0


async def test_a_cluster_that_cannot_be_opened_is_said_in_row_two() -> None:
    async def open_cluster(path: Path | None) -> Cluster:
        raise PanelError("the sandbox did not start: no /bin/sh")

    app = PanelApp(open_cluster)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        assert "the sandbox did not start: no /bin/sh" in shown(app).splitlines()[1]
        assert "NO CLUSTER" in shown(app).splitlines()[0]


async def test_a_wrong_configuration_ends_the_panel_with_its_line() -> None:
    async def open_cluster(path: Path | None) -> Cluster:
        raise ConfigError("dsv41.toml: node.0.port is 99999; allowed are 1 to 65535")

    app = PanelApp(open_cluster)
    async with app.run_test(size=BIG) as pilot:
        await pilot.pause()
    assert app.return_code == 2
    assert "node.0.port" in app.opening.last_word


async def test_the_key_map_of_the_configuration_is_used_and_shown() -> None:
    config = Config(cluster=ClusterConfig(theme="paper"), keys={"zoom": "x", "pause": "p"})
    app = fakes.panel(states.healthy(), (), config)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        assert app.theme == "paper"
        await pilot.press("z")
        assert not main(app).zoomed
        await pilot.press("x")
        assert main(app).zoomed
        assert " x zoom " in shown(app).splitlines()[-1]


@dataclass
class Actions:
    """Answers as it is told and notes what it was asked."""

    answer: Path | str = "no"
    asked: list[object] = field(default_factory=list)

    async def demo(self) -> Path | str:
        return self._note("demo")

    async def this_machine(self) -> Path | str:
        return self._note("machine")

    async def hosts(self, names: list[str]) -> Path | str:
        return self._note(names)

    async def env_file(self, path: str) -> Path | str:
        return self._note(path)

    def _note(self, what: object) -> Path | str:
        self.asked.append(what)
        return self.answer


def welcome(actions: Actions) -> tuple[PanelApp, list[Path | None]]:
    opened: list[Path | None] = []

    async def open_cluster(path: Path | None) -> Cluster:
        opened.append(path)
        return fakes.FakeCluster(states.healthy())

    return PanelApp(open_cluster, welcome=actions), opened


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        (("1",), "demo"),
        (("j", "enter"), "machine"),
        (("3", *"spark1,me@", "b", "enter"), ["spark1", "me@b"]),
        (("4", *"/srv/x", "enter"), "/srv/x"),
    ],
)
async def test_the_welcome_goes_on_to_what_it_configured(keys: tuple[str, ...], asked: object) -> None:
    actions = Actions(Path("/tmp/dsv41.toml"))
    app, opened = welcome(actions)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, WelcomeScreen)
        assert "NO CONFIGURATION" in shown(app)
        assert opened == []
        await pilot.press(*keys)
        await ready(pilot)
        await ready(pilot)
        assert actions.asked == [asked]
        assert opened == [Path("/tmp/dsv41.toml")]
        assert isinstance(app.screen, MainScreen)
        assert "WATCHING" in shown(app)


async def test_the_welcome_says_what_is_wrong_and_goes_on() -> None:
    actions = Actions("no such file: /srv/x\nanother line")
    app, opened = welcome(actions)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        await pilot.press("4", *"/srv/x", "enter")
        await ready(pilot)
        assert "✖ no such file: /srv/x" in shown(app)
        assert "✖ another line" in shown(app)
        assert opened == []
        await pilot.press("escape")
        assert not app.screen.query(Input)
        assert "no such file" not in shown(app)


async def test_escape_never_quits() -> None:
    app = fakes.panel(states.healthy(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press(*["escape"] * 6)
        assert app.is_running
        assert isinstance(app.screen, MainScreen)


def unreachable(state: ClusterState) -> ClusterState:
    link = states.HOST_KEY.model_copy(update={"kind": "unreachable", "why": "no route", "fix": ()})
    return state.model_copy(update={"nodes": tuple(n.model_copy(update={"link": link}) for n in state.nodes)})


@pytest.mark.parametrize(
    ("state", "findings", "words"),
    [
        (states.healthy(), (), "● WATCHING"),
        (states.page_cache(), FINDINGS, "✖ PAGE CACHE"),
        (states.nas_down(), (states.HUNG_FINDING,), "✖ NFS HUNG"),
        (states.broken_up(), (), "? PARTLY READ"),
        (unreachable(states.healthy()), (), "✖ NO NODE ANSWERS"),
    ],
)
async def test_the_pill_says_the_worst_in_plain_words(state: ClusterState, findings: tuple, words: str) -> None:
    app = fakes.panel(state, findings)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        header = shown(app).splitlines()[0]
        assert words in header
        assert "SERVING" not in header
        assert app.screen.query_one(Header).size.height == 1
        assert app.screen.query_one(FindingRow).size.height == 1


async def test_scrolling_a_long_sheet_keeps_its_head_and_says_where() -> None:
    app = fakes.panel(states.many())
    async with app.run_test(size=SMALL) as pilot:
        await ready(pilot)
        await pilot.press("1", "G")
        text = shown(app)
        assert main(app).current.selected is not None
        assert "rows 49 to 64 of 64" in text or "of 64" in text
        assert "free" in text.splitlines()[6]
        await pilot.press("g")
        assert "rows 1 to" in shown(app)
        await pilot.press(*["pagedown"] * 9)
        assert "to 64 of 64" in shown(app)


@pytest.mark.parametrize("keys", [("slash",), ("colon",), ("question_mark",), ("enter",)])
async def test_ctrl_c_leaves_from_everywhere(keys: tuple[str, ...]) -> None:
    app = fakes.panel(states.page_cache(), FINDINGS)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await pilot.press(*keys)
        await pilot.pause()
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_code == 0


async def in_one_read(pilot: Pilot[int], text: str) -> None:
    """Characters that arrive together, none of them waiting for what the one before does."""
    driver = pilot.app._driver
    assert driver is not None
    names = {"/": "slash", ":": "colon", "!": "exclamation_mark", ".": "full_stop", " ": "space", "\r": "enter"}
    for character in text:
        key = names.get(character, character if character.isascii() else "fullwidth")
        driver.send_message(events.Key("escape" if character == "\x1b" else key, character))
    for _ in range(8):
        await pilot.pause()


@pytest.mark.parametrize(
    ("text", "value"), [("//", "/"), ("／／", "/"), ("/quick", "quick"), ("／ｑ", "q"), ("/t z 1", "t z 1")]
)
async def test_what_follows_the_filter_key_at_once_is_text(text: str, value: str) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await in_one_read(pilot, text)
        assert app.is_running
        (field,) = app.screen.query(Input)
        assert app.focused is field
        assert field.value == value
        assert app.return_code is None
        assert app.theme == "ink"


async def test_a_filter_can_be_closed_and_opened_at_once() -> None:
    app = fakes.panel(states.many())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await in_one_read(pilot, "/gb4\r")
        assert main(app).sheet(1).search == "gb4"
        for key in ("slash", "enter", "slash", "escape", "slash", "tab", "slash"):
            await pilot.press(key)
        assert len([bar for bar in app.screen.query("FilterBar") if not bar.closed]) == 1  # type: ignore[attr-defined]
        assert app.return_code is None


@pytest.mark.parametrize("text", ["q/", "q//", "q:", "qq"])
async def test_leaving_is_not_held_up_by_more_keys(text: str) -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await in_one_read(pilot, text)
    assert app.return_code == 0
    assert app._exception is None


async def test_what_follows_the_palette_key_at_once_is_searched() -> None:
    app = fakes.panel(states.healthy())
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        await in_one_read(pilot, ":quit")
        assert app.return_code is None
        assert app.screen.query_one(Input).value == "quit"


async def test_the_filter_opens_while_the_cluster_is_not_there_yet() -> None:
    release = asyncio.Event()

    async def open_cluster(path: Path | None) -> Cluster:
        await release.wait()
        return fakes.FakeCluster(states.healthy())

    app = PanelApp(open_cluster)
    async with app.run_test(size=BIG) as pilot:
        await in_one_read(pilot, "/quick")
        assert app.return_code is None
        assert app.screen.query_one(Input).value == "quick"
        release.set()


@pytest.mark.parametrize(("text", "value"), [("33", "3"), ("34", "4"), ("4/tmp/q.env", "/tmp/q.env"), ("3q t", "q t")])
async def test_what_follows_a_choice_at_once_is_text(text: str, value: str) -> None:
    app, _ = welcome(Actions())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        await in_one_read(pilot, text)
        assert app.return_code is None
        (field,) = app.screen.query(Input)
        assert field.value == value


async def test_choices_can_be_changed_as_fast_as_keys_come() -> None:
    actions = Actions()
    app, _ = welcome(actions)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        for key in ("3", "escape", "3", "escape", "4", *"/x", "up", "enter"):
            await pilot.press(key)
        await ready(pilot)
        assert actions.asked == ["/x"]


async def test_a_worse_finding_takes_the_place_of_a_chosen_information() -> None:
    notes = tuple(states.SLOW_FINDING.model_copy(update={"severity": "info", "title": f"note {x}"}) for x in "ab")
    app = fakes.panel(states.healthy(), notes)
    async with app.run_test(size=BIG) as pilot:
        await ready(pilot)
        assert "2 notes" in shown(app).splitlines()[0]
        await pilot.press("n")
        assert "note b" in shown(app).splitlines()[1]
        app.fake.store.set(states.healthy(), (states.CACHE_FINDING, *notes))  # type: ignore[attr-defined]
        app.paint()
        await pilot.pause()
        assert "page cache holds" in shown(app).splitlines()[1]
        await pilot.press("n")
        assert "note a" in shown(app).splitlines()[1]


@pytest.mark.parametrize("size", [(80, 24), (80, 20), (120, 40)])
async def test_a_long_error_leaves_all_choices_in_sight(size: tuple[int, int]) -> None:
    app, _ = welcome(Actions("\n".join(f"line {index} is wrong" for index in range(40))))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("2")
        await ready(pilot)
        text = shown(app)
        for words in ("Demo", "This machine", "Name your hosts", "Read a recipe's .env", "line 0 is wrong"):
            assert words in text


async def test_a_narrow_header_has_no_clock_and_a_small_tab_row_whole_units() -> None:
    app = fakes.panel(states.nas_down(), (states.HUNG_FINDING,))
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        assert "14:02:11" in shown(app).splitlines()[0]
        await pilot.press("2")
        assert "MiB/s, ms, Gi" not in shown(app).replace("MiB/s, ms, GiB", "")
        await pilot.resize_terminal(50, 20)
        await pilot.pause()
        header = shown(app).splitlines()[0]
        assert "NFS HUNG" in header
        assert ":02:" not in header
