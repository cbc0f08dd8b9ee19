"""Ways from the main screen to its pages, and what is copied; pages are imported when they are first opened."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.command import Provider

from dsv41_tui.core.messages import t
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.source import WelcomeActions
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp


def commands() -> type[Provider]:
    """The palette's provider, loaded when the palette is opened."""
    from dsv41_tui.ui.commands import PanelCommands

    return PanelCommands


def in_field(app: PanelApp) -> bool:
    """Whether a text field has the focus; no field can have it before its module is loaded."""
    inputs = sys.modules.get("textual.widgets._input")
    return inputs is not None and isinstance(app.focused, inputs.Input)


def refresh(app: PanelApp) -> None:
    """Ask all nodes for new readings."""
    if app.feed.cluster is not None:
        app.feed.cluster.refresh()
        say(app, "ui.said.refresh")


def next_theme(app: PanelApp) -> None:
    """The next theme by name."""
    names = sorted(app.theme_files)
    app.theme = names[(names.index(app.theme) + 1) % len(names)] if app.theme in names else names[0]
    say(app, "ui.said.theme", name=app.theme)


def say(app: PanelApp, key: str, **values: object) -> None:
    """A passing message on the screen that is on top."""
    if (screen := app.live) is not None:
        screen.say(key, **values)


def show_welcome(app: PanelApp, actions: WelcomeActions) -> None:
    """The first screen without a configuration, over the empty main screen."""
    from dsv41_tui.ui.screens.welcome import WelcomeScreen

    app.push_screen(WelcomeScreen(app.feed.view(), actions))


def show_finding(app: PanelApp) -> None:
    """The page of the finding that row 1 shows."""
    from dsv41_tui.ui.pages import finding
    from dsv41_tui.ui.screens.page import FindingScreen

    def copied(view: View) -> str:
        return finding.as_text(view.finding) if view.finding else ""

    app.push_screen(FindingScreen(app.feed.view(), finding.draw, copied))


def show_line(app: PanelApp, number: int) -> None:
    """The log view on this line; where the line is gone, where the record lies."""
    from dsv41_tui.ui.main_screen import MainScreen

    logs = app.feed.view().logs
    if logs is None or not logs.lines(number, number + 1):
        folder = logs.folder if logs is not None else None
        say(app, "ui.log.gone" if folder else "ui.log.gone_unrecorded", folder=folder)
        return
    while not isinstance(app.screen, MainScreen):
        app.pop_screen()
    app.screen.show_line(number)


def show_finding_at(app: PanelApp, index: int) -> None:
    """The page of one of the findings; row 1 shows it from then on."""
    app.feed.choose_worst()
    app.feed.step_finding(index)
    show_finding(app)


def show_node(app: PanelApp, name: str) -> None:
    """The page of one node."""
    from dsv41_tui.ui.pages import node
    from dsv41_tui.ui.screens.page import PageScreen

    app.push_screen(PageScreen(app.feed.view(), node.drawing(name), lambda view: _node_text(view, name)))


def _node_text(view: View, name: str) -> str:
    from dsv41_tui.ui.pages import node

    found = node.find(view, name)
    return node.as_text(found, view) if found else ""


def show_commands(app: PanelApp) -> None:
    """The palette, once."""
    from textual.command import CommandPalette

    shell: App[Any] = app
    if not CommandPalette.is_open(shell):
        app.typing.begin()
        app.push_screen(CommandPalette(placeholder=t("ui.command.search"), id="--command-palette"))


def show_help(app: PanelApp) -> None:
    """The help of the screen that is on top; on the help page itself the key goes back."""
    from dsv41_tui.ui.bindings import hints
    from dsv41_tui.ui.pages import help as help_page
    from dsv41_tui.ui.screens.page import HelpScreen

    screen = app.screen
    if isinstance(screen, HelpScreen):
        screen.dismiss()
    elif isinstance(screen, LiveScreen):
        found = hints(app, screen, all_keys=True)
        app.push_screen(HelpScreen(app.feed.view(), help_page.drawing(found), lambda view: ""))


def copy(app: PanelApp, text: str) -> None:
    """To the clipboard of the operator's terminal by OSC 52, which works over SSH."""
    if text:
        app.copy_to_clipboard(text)
        say(app, "ui.said.copied", lines=text.count("\n") + 1)
    else:
        say(app, "ui.said.nothing_to_copy")


def copy_about(app: PanelApp, node: str | None) -> None:
    """All readings of the selected node; without one the fix of the finding in row 1."""
    view = app.feed.view()
    if node is not None:
        copy(app, _node_text(view, node))
        return
    from dsv41_tui.ui.pages import finding

    copy(app, finding.as_text(view.finding) if view.finding else "")
