"""The palette: the same actions as the keys, and what has no key of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from dsv41_tui.core.messages import t
from dsv41_tui.ui import keys, navigate
from dsv41_tui.ui.bindings import key_display
from dsv41_tui.ui.cells import safe
from dsv41_tui.ui.main_screen import MainScreen
from dsv41_tui.ui.widgets.sheet import SheetWidget

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp

Command = tuple[str, str, Callable[[], object]]
"""Title, key, what it does."""
KEY = 5
OFFERED = ("zoom", "filter", "pause", "refresh", "copy", "finding-next", "theme", "help", "quit")


class PanelCommands(Provider):
    """Asks the screen under the palette what can be done there."""

    @property
    def panel(self) -> PanelApp:
        return cast("PanelApp", self.app)

    def _commands(self) -> Iterator[Command]:
        screen, pane = self.screen, self._pane
        if isinstance(screen, MainScreen):
            yield from self._places(screen)
        for key in keys.KEYS:
            if pane is not None and key.where == pane.own_keys:
                run = partial(self.app.run_action, key.action, pane)
                yield t(f"ui.keys.{key.id}-tip"), key_display(key.keys.split(",")[0]), run
            if key.id in OFFERED and (key.where == "app" or isinstance(screen, MainScreen)):
                yield t(f"ui.keys.{key.id}-tip"), key_display(key.keys.split(",")[0]), partial(self._act, key.action)
        for name in sorted(self.panel.theme_files):
            yield t("ui.command.theme", name=name), "", partial(setattr, self.app, "theme", name)

    @property
    def _pane(self) -> SheetWidget | None:
        """The pane that had the focus."""
        return self.screen.current if isinstance(self.screen, MainScreen) else None

    def _places(self, screen: MainScreen) -> Iterator[Command]:
        yield t("ui.command.pane", name=t("ui.pane.all")), "0", partial(screen.go, 0)
        for spec in screen.specs:
            yield t("ui.command.pane", name=t(f"ui.pane.{spec.id}")), str(spec.key), partial(screen.go, spec.key)
        view = self.panel.feed.view()
        for index, finding in enumerate(view.findings):
            title = f"{finding.node or view.state.name if view.state else ''}: {finding.title}"
            yield (
                t("ui.command.finding", title=safe(title)),
                "Enter",
                partial(navigate.show_finding_at, self.panel, index),
            )
        for node in view.nodes:
            yield (
                t("ui.command.node", name=safe(node.name)),
                "Enter",
                partial(navigate.show_node, self.panel, node.name),
            )

    async def _act(self, action: str) -> None:
        await self.app.run_action(
            action, self.app.screen if hasattr(self.app.screen, f"action_{_name(action)}") else self.app
        )

    async def discover(self) -> Hits:
        for title, key, run in self._commands():
            yield DiscoveryHit(_shown(key, Content(title)), run, title)

    async def search(self, query: str) -> Hits:
        """What matches; one that says so where nothing does, since Textual would say it in English only."""
        matcher = self.matcher(query)
        found = False
        for title, key, run in self._commands():
            score = matcher.match(title)
            if score > 0:
                found = True
                yield Hit(score, _shown(key, matcher.highlight(title)), run, title)
        if not found:
            yield Hit(0.1, _shown("", Content(t("ui.command.none"))), _nothing, t("ui.command.none"))


def _nothing() -> None:
    """The command of a line that is none."""


def _shown(key: str, title: Content) -> Content:
    """The key in its own column, then the title; never markup."""
    return Content.assemble((key.rjust(KEY), "$primary bold"), "  ", title)


def _name(action: str) -> str:
    return action.split("(")[0]
