"""Docker volumes as a real engine tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui.config import NodeConfig
from tests.bed.panel import panel
from tests.docker.engine import docker

pytestmark = pytest.mark.docker


async def test_a_defined_nfs_volume_is_shown_and_an_ordinary_one_is_not(engine: Path) -> None:
    docker("volume", "create", "plain")
    options = "addr=198.18.0.1,nfsvers=4.2,ro,nconnect=8,rsize=1048576,wsize=1048576,hard,timeo=600"
    docker(
        "volume", "create", "--driver", "local", "--opt", "type=nfs", "--opt", f"o={options}",
        "--opt", "device=:/dsv41-exl3", "dsv41-exl3-weights",
    )  # fmt: skip
    async with panel(NodeConfig(name="node", local=True)) as seen:
        await seen.until(lambda: seen.node().volumes.value is not None)
        place = f"{engine}/data/volumes/dsv41-exl3-weights/_data"
        await seen.until(lambda: seen.mount(place).state == "unused")
        mount = seen.mount(place)
    assert (mount.volume, mount.source) == ("dsv41-exl3-weights", "198.18.0.1:/dsv41-exl3")
    assert (mount.asked["nconnect"], mount.asked["rsize"]) == ("8", "1048576")
    assert mount.asked_source == "docker volume dsv41-exl3-weights"


async def test_no_volume_at_all_is_no_error(engine: Path) -> None:
    async with panel(NodeConfig(name="node", local=True)) as seen:
        await seen.until(lambda: seen.node().volumes.value == ())
    assert seen.node().volumes.error is None


async def test_an_engine_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    async with panel(NodeConfig(name="node", local=True)) as seen:
        await seen.until(lambda: seen.node().volumes.error is not None)
    assert "daemon" in (seen.node().volumes.error or "")
