"""What the panel itself makes of each scenario, over its own transport and parsers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dsv41_tui.core.model import NodeState
from dsv41_tui.core.readings import MIB
from dsv41_tui.runtime.cluster import Cluster
from dsv41_tui.runtime.configuration import load_config
from dsv41_tui.sandbox.launch import SandboxHandle
from tests.sandbox.conftest import Start, outage, until

pytestmark = pytest.mark.sandbox


@asynccontextmanager
async def watched(sandbox: SandboxHandle) -> AsyncIterator[Cluster]:
    cluster = Cluster(load_config(sandbox.config))
    await cluster.start()
    try:
        yield cluster
    finally:
        await cluster.stop()


def states(node: NodeState) -> set[str]:
    return {mount.state for mount in node.nfs}


async def test_the_nas_is_seen_to_serve_to_be_lost_and_to_return(start: Start, tmp_path: Path) -> None:
    sandbox = await start(outage(tmp_path, stops=8, returns=18))
    async with watched(sandbox) as cluster:

        def reader() -> NodeState:
            return cluster.store.state.node("spark2")

        await until(lambda: states(reader()) == {"fine"})
        rate = reader().nfs[0].read_bytes_per_s
        assert rate is not None and 500 * MIB < rate < 720 * MIB
        assert len(reader().nfs) == 2, "the mount and the docker volume of the same export"
        await until(lambda: states(reader()) == {"not-responding"}, 25)
        await until(lambda: states(reader()) == {"fine"}, 25)
