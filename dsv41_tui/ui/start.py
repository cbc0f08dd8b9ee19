"""What the command `dsv41-tui` without a verb does: find out what to open, then run the panel on it.

Pydantic, asyncssh and the sandbox are imported inside the functions, which run after the first frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsv41_tui.core.errors import PanelError
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.language import load_language
from dsv41_tui.ui import keys, themes
from dsv41_tui.ui.run import run_panel
from dsv41_tui.ui.source import Cluster, LogRing

if TYPE_CHECKING:
    from dsv41_tui.config import Config


def start_panel(*, demo: str | None = None, config: str | None = None, language: str | None = None) -> int:
    """Run the panel on the sandbox scenario `demo`, on the file `config`, or on what is found; gives the exit code.

    `language` was asked for on the command line and beats the configuration's.
    """
    opener = Opener(demo, language=language)
    if demo is not None:
        return run_panel(opener.open)
    from dsv41_tui.runtime.config_file import find_config

    opener.file = find_config(config)
    if opener.file is None:
        return run_panel(opener.open, welcome=Welcome(opener))
    return run_panel(opener.open)


@dataclass
class Opener:
    """Opens clusters, and ends the sandbox that it started."""

    demo: str | None
    file: Path | None = None
    language: str | None = None
    sandboxes: list[Any] = field(default_factory=list)

    async def open(self, path: Path | None) -> Cluster:
        """The cluster of `path`, else of what the panel was started with. Raises ConfigError, PanelError."""
        from dsv41_tui.runtime.open import open_config

        file = path or self.file or await self.sandbox(self.demo or "healthy")
        cluster = open_config(file, record=True)
        check(file, cluster.config)
        if cluster.config.cluster.language and self.language is None:
            load_language(cluster.config.cluster.language)
        return Watched(cluster, self)

    async def sandbox(self, scenario: str) -> Path:
        """Start the embedded cluster; its configuration."""
        from dsv41_tui.sandbox.launch import start_sandbox

        handle = await start_sandbox(scenario)
        self.sandboxes.append(handle)
        return handle.config

    async def close(self) -> None:
        """End what was started."""
        while self.sandboxes:
            await self.sandboxes.pop().stop()


class Watched:
    """A cluster that takes the sandbox with it when it stops."""

    def __init__(self, cluster: Cluster, opener: Opener) -> None:
        self._cluster = cluster
        self._opener = opener
        self.store, self.config, self.limits = cluster.store, cluster.config, cluster.limits

    @property
    def logs(self) -> LogRing | None:
        return self._cluster.logs

    async def start(self) -> None:
        await self._cluster.start()

    async def stop(self) -> None:
        await self._cluster.stop()
        await self._opener.close()

    def refresh(self) -> None:
        self._cluster.refresh()


def check(file: Path, config: Config) -> None:
    """What only the panel knows of a configuration: its themes and its keys. Raises ConfigError."""
    from dsv41_tui.core.errors import ConfigError
    from dsv41_tui.runtime.configuration import check_choice

    known, skipped = themes.load()
    if config.cluster.theme not in known and (why := themes.refusal(config.cluster.theme, skipped)) is not None:
        raise ConfigError(f"{file}: cluster.theme: {why}")
    check_choice(file, "cluster.theme", config.cluster.theme, known)
    for action in config.keys:
        check_choice(file, f"keys.{action}", action, keys.default_keys())
    for first, second, key in keys.clashes(config.keys):
        raise ConfigError(t("ui.keys.clash", file=str(file), first=first, second=second, key=key))


class Welcome:
    """What the welcome screen can ask for; nothing is contacted, files are written to the config folder."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener

    async def demo(self) -> Path | str:
        try:
            return await self._opener.sandbox("healthy")
        except PanelError as error:
            return error.message

    async def this_machine(self) -> Path | str:
        from dsv41_tui.runtime import welcome

        return await _written(welcome.config_for_this_machine)

    async def hosts(self, names: list[str]) -> Path | str:
        from dsv41_tui.runtime import welcome

        return await _written(lambda: welcome.config_for_hosts(names))

    async def env_file(self, path: str) -> Path | str:
        from dsv41_tui.runtime import welcome

        return await _written(lambda: welcome.config_from_env(path).text())


async def _written(make: Callable[[], str]) -> Path | str:
    """Make a configuration in a thread, since it reads files and names, and write it."""
    from dsv41_tui.runtime import welcome

    def work() -> Path:
        path = welcome.default_path()
        welcome.write_config(make(), path)
        return path

    try:
        return await asyncio.to_thread(work)
    except PanelError as error:
        return error.message
