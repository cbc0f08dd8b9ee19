"""Docker volumes as a real engine tells of them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsv41_tui.config import NodeConfig
from tests.bed import folder as bed_folders
from tests.bed.lanes import SEARCH
from tests.bed.panel import panel

pytestmark = pytest.mark.docker

START_LIMIT_S = 30.0


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def engine(bed_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A docker engine of its own: no bridge, no iptables, all its files in the bed's folder."""
    place = Path(tempfile.mkdtemp(prefix="docker", dir=bed_folder))
    socket = place / "docker.sock"
    program = shutil.which("dockerd", path=SEARCH)
    assert program is not None
    argv = [
        program, "--iptables=false", "--ip6tables=false", "--bridge=none", f"--data-root={place}/data",
        f"--exec-root={place}/exec", f"--pidfile={place}/pid", "-H", f"unix://{socket}",
        "--default-ulimit", "nofile=20000:20000",
    ]  # fmt: skip
    with (place / "log").open("w") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    bed_folders.note_session(place, "dockerd", process.pid)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{socket}")
    try:
        _await(place)
        yield place
    finally:
        process.terminate()
        process.wait(20)
        bed_folders.end_session(place, "dockerd")


def _await(place: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    while subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
        if time.monotonic() > end:
            raise RuntimeError(f"dockerd did not start: {(place / 'log').read_text()[-2000:]}")
        time.sleep(0.1)


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
