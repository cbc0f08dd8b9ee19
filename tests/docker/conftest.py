"""A docker engine of its own for each test that asks for one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed import folder as bed_folders
from tests.bed.lanes import SEARCH
from tests.docker.engine import await_engine, make_image


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
        await_engine(place)
        yield place
    finally:
        process.terminate()
        process.wait(20)
        bed_folders.end_session(place, "dockerd")


@pytest.fixture
def image(engine: Path) -> str:
    """An image with a shell: busybox alone."""
    return make_image(engine)
