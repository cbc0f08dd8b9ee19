"""Open the cluster that a command speaks of: the sandbox, or the operator's configuration."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from dsv41_tui.cli.arguments import Globals
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.runtime.cluster import Cluster
from dsv41_tui.runtime.config_file import find_config
from dsv41_tui.runtime.open import open_config


@contextlib.asynccontextmanager
async def opened(flags: Globals) -> AsyncIterator[Cluster]:
    """The cluster of this call; the sandbox ends with the context."""
    if flags.demo is not None:
        from dsv41_tui.sandbox.launch import start_sandbox

        sandbox = await start_sandbox(flags.demo, told=True)
        try:
            yield open_config(sandbox.config)
        finally:
            await sandbox.stop()
        return
    path = find_config(Path(flags.config) if flags.config else None)
    if path is None:
        raise ConfigError(t("cli.no-config"))
    yield open_config(path)
