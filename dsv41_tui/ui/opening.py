"""Opens the cluster once the first frame stands, and says what stands in the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dsv41_tui.core.errors import ConfigError, PanelError
from dsv41_tui.ui import themes
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.source import Cluster, OpenCluster

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp

EXIT_CONFIG = 2


class Opening:
    """One for the panel; `path` None is what the panel was started with."""

    def __init__(self, app: PanelApp, open_cluster: OpenCluster) -> None:
        self._app = app
        self._open_cluster = open_cluster
        self.last_word = ""
        """What is said on stderr after the terminal is restored."""

    def begin(self, path: Path | None) -> None:
        """Open in the background."""
        self._app.run_worker(self._open(path), group="open", exclusive=True)

    def go_on(self, path: Path) -> None:
        """From the welcome screen to the cluster that it configured."""
        self._app.feed.unset = False
        self._app.pop_screen()
        self.begin(path)

    async def _open(self, path: Path | None) -> None:
        try:
            cluster = await self._open_cluster(path)
        except ConfigError as error:
            self.last_word = error.message
            self._app.exit(return_code=EXIT_CONFIG)
            return
        except PanelError as error:
            self._app.feed.trouble = error.message
            self._app.paint()
            return
        self._adopt(cluster)
        await cluster.start()

    def _adopt(self, cluster: Cluster) -> None:
        app = self._app
        app.feed.attach(cluster)
        app.set_keymap(cluster.config.keys)
        app.theme = first_theme(app, cluster.config.cluster.theme)
        app.tick()
        app.paint()
        if isinstance(app.screen, LiveScreen):
            app.screen.renew_hints()


def first_theme(app: PanelApp, wanted: str) -> str:
    """The theme to begin with: that of sixteen colours where the terminal has no more, else the one that is wanted."""
    if app.console.color_system == "standard":
        return themes.SIXTEEN
    return wanted if wanted in app.theme_files else themes.DEFAULT
