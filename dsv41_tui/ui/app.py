"""The panel's shell: it names screens, keys and themes, and holds the feed; everything else is elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.command import Provider
from textual.screen import Screen

from dsv41_tui.ui import glyphs, navigate, themes
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.feed import Feed
from dsv41_tui.ui.main_screen import MainScreen
from dsv41_tui.ui.opening import Opening, first_theme
from dsv41_tui.ui.palette import Palette
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.source import OpenCluster, WelcomeActions
from dsv41_tui.ui.typing import Typing, half_width

STOP_S = 3.0


class PanelApp(App[int], inherit_bindings=False):
    """Opens the cluster after the first frame; without a configuration it opens the welcome screen."""

    CSS_PATH: ClassVar[str] = "panel.tcss"
    TITLE = "dsv41-tui"
    BINDINGS = bindings("app")
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {navigate.commands}

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
        self.typing = Typing()
        self.welcome = welcome
        self.marks = marks or glyphs.choose(os.environ)
        self.opening = Opening(self, open_cluster)
        self.set_keymap(dict(keys or {}))
        for file in self.theme_files.values():
            self.register_theme(file.to_textual())
        self.feed = Feed(self._ink(themes.DEFAULT), self.paint)
        self.feed.unset = welcome is not None
        self.theme = first_theme(self, theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """For a theme of Textual's own: our variables in the colours of `ink`."""
        return self.theme_files[themes.DEFAULT].to_textual().variables

    def _ink(self, theme: str) -> Palette:
        return Palette(self.theme_files.get(theme) or self.theme_files[themes.DEFAULT], self.marks)

    def get_default_screen(self) -> Screen[Any]:
        return MainScreen(self.feed.view())

    def on_mount(self) -> None:
        self.set_interval(1.0, self.tick)
        if self.welcome is None:
            self.call_after_refresh(self.opening.begin, None)
        else:
            navigate.show_welcome(self, self.welcome)
        for line in self.skipped_themes:
            self.call_after_refresh(navigate.say, self, "ui.said.text", text=line)

    def watch_theme(self, theme: str) -> None:
        self.feed.ink = self._ink(theme)
        self.paint()

    @property
    def live(self) -> LiveScreen | None:
        """The screen on top, if it shows the cluster and is there to be painted."""
        screen = self.screen_stack[-1] if self.screen_stack else None
        return screen if isinstance(screen, LiveScreen) and screen.complete else None

    def paint(self) -> None:
        """Show the newest view on the screen that is on top."""
        if (screen := self.live) is not None:
            screen.paint(self.feed.view())

    def tick(self) -> None:
        """A second has passed: the clock, and what depends on an age."""
        if (screen := self.live) is not None:
            screen.tick(self.feed.clock())
            self.feed.second()

    async def on_event(self, event: events.Event) -> None:
        """Keys are held while a text field opens, and do nothing once the panel is leaving."""
        if isinstance(event, events.Key):
            if self.return_code is not None or self.typing.takes(event):
                return
            if not event.is_forwarded and not navigate.in_field(self):
                event = half_width(event)
        await super().on_event(event)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if navigate.in_field(self):
            self.typing.end(event.widget)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No dead keys: nothing to read anew without a cluster."""
        return self.feed.cluster is not None if action == "refresh" else True

    def action_command_palette(self) -> None:
        navigate.show_commands(self)

    def action_help(self) -> None:
        navigate.show_help(self)

    def action_refresh(self) -> None:
        navigate.refresh(self)

    def action_next_theme(self) -> None:
        navigate.next_theme(self)

    async def action_quit(self) -> None:
        """At once: no work is running yet that a person would want to be asked about."""
        self.exit(return_code=0)

    async def on_unmount(self) -> None:
        """After the terminal is restored; a node that does not answer does not hold the prompt for long."""
        self.feed.detach()
        if self.feed.cluster is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.feed.cluster.stop(), STOP_S)
