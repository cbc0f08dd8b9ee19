"""A docker engine of its own for each test that asks for one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.engine import address, dockerd, make_image


@pytest.fixture
def engine(bed_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a running engine, which `docker` reaches without a word about it."""
    place = Path(tempfile.mkdtemp(prefix="docker", dir=bed_folder))
    monkeypatch.setenv("DOCKER_HOST", address(place))
    with dockerd(place):
        yield place


@pytest.fixture
def image(engine: Path) -> str:
    """An image with a shell: busybox alone."""
    return make_image(engine)
