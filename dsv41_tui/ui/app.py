"""The panel's shell: it names screens, keys and themes, and holds the feed; everything else is elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.command import Provider
from textual.screen import Screen

from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.ui import glyphs, navigate, themes
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.feed import Feed
from dsv41_tui.ui.main_screen import MainScreen
from dsv41_tui.ui.palette import Palette
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.source import Cluster, OpenCluster, WelcomeActions


def commands() -> type[Provider]:
    """The palette's provider, loaded when the palette is opened."""
    from dsv41_tui.ui.commands import PanelCommands

    return PanelCommands


EXIT_CONFIG = 2
STOP_S = 3.0


class PanelApp(App[int], inherit_bindings=False):
    """Opens the cluster after the first frame; without a configuration it opens the welcome screen."""

    CSS_PATH: ClassVar[str] = "panel.tcss"
    TITLE = "dsv41-tui"
    BINDINGS = bindings("app")
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {commands}

    def __init__(
        self,
        open_cluster: OpenCluster,
        *,
        welcome: WelcomeActions | None = None,
        theme: str = "",
        keys: Mapping[str, str] | None = None,
        marks: glyphs.Glyphs | None = None,
    ) -> None:
        """`welcome` is given where there is no configuration; `marks` are measured, else chosen by the locale."""
        self.theme_files, self.skipped_themes = themes.load()
        super().__init__()
        self._open_cluster = open_cluster
        self.welcome = welcome
        self.last_word = ""
        """What is said on stderr after the terminal is restored."""
        self.marks = marks or glyphs.choose(os.environ)
        self.set_keymap(dict(keys or {}))
        for file in self.theme_files.values():
            self.register_theme(file.to_textual())
        self.feed = Feed(self._ink(themes.DEFAULT), self.paint)
        self.theme = self._first_theme(theme)

    def _first_theme(self, wanted: str) -> str:
        if self.console.color_system == "standard":
            return themes.SIXTEEN
        return wanted if wanted in self.theme_files else themes.DEFAULT

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """For a theme of Textual's own: our variables in the colours of `ink`."""
        return self.theme_files[themes.DEFAULT].to_textual().variables

    def _ink(self, theme: str) -> Palette:
        file = self.theme_files.get(theme) or self.theme_files[themes.DEFAULT]
        return Palette(file, self.marks)

    def get_default_screen(self) -> Screen[Any]:
        view = self.feed.view()
        if self.welcome is None:
            return MainScreen(view)
        from dsv41_tui.ui.screens.welcome import WelcomeScreen

        return WelcomeScreen(view, self.welcome)

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        if self.welcome is None:
            self.call_after_refresh(self.open_cluster, None)

    def open_cluster(self, path: Path | None) -> None:
        """Open the configuration at `path`, or the one the panel was started with."""
        self.run_worker(self._open(path), group="open", exclusive=True)

    def go_on(self, path: Path) -> None:
        """From the welcome screen to the cluster that it configured."""
        self.switch_screen(MainScreen(self.feed.view()))
        self.open_cluster(path)

    async def _open(self, path: Path | None) -> None:
        try:
            cluster = await self._open_cluster(path)
        except ConfigError as error:
            self.last_word = error.message
            self.exit(return_code=EXIT_CONFIG)
            return
        except PanelError as error:
            self.feed.trouble = error.message
            self.paint()
            return
        self._adopt(cluster)
        self._tick()
        await cluster.start()

    def _adopt(self, cluster: Cluster) -> None:
        self.feed.attach(cluster)
        settings = cluster.config
        self.set_keymap(settings.keys)
        self.theme = self._first_theme(settings.cluster.theme)

    def watch_theme(self, theme: str) -> None:
        self.feed.ink = self._ink(theme)
        self.paint()

    def paint(self) -> None:
        """Show the newest view on the screen that is on top."""
        screen = self.screen_stack[-1] if self.screen_stack else None
        if isinstance(screen, LiveScreen) and screen.is_mounted:
            screen.paint(self.feed.view())

    def clock_text(self) -> str:
        return self.feed.wall().strftime("%H:%M:%S")

    def _tick(self) -> None:
        if isinstance(self.screen, LiveScreen):
            self.screen.tick(self.clock_text())
            self.paint()

    def action_help(self) -> None:
        navigate.show_help(self)

    def action_refresh(self) -> None:
        if self.feed.cluster is not None:
            self.feed.cluster.refresh()
            navigate.say(self, "ui.said.refresh")

    def action_next_theme(self) -> None:
        names = sorted(self.theme_files)
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        navigate.say(self, "ui.said.theme", name=self.theme)

    async def action_quit(self) -> None:
        """At once: no work is running yet that a person would want to be asked about."""
        self.exit(return_code=0)

    async def on_unmount(self) -> None:
        """After the terminal is restored; a node that does not answer does not hold the prompt for long."""
        self.feed.detach()
        if self.feed.cluster is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.feed.cluster.stop(), STOP_S)
