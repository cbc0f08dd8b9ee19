"""One pair for the lane; a test that breaks it leaves it to the next one to start it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.engine.pair import Pair, engine_pair


@pytest.fixture(scope="session")
def stopped_pair(bed_folder: Path) -> Iterator[Pair]:
    with engine_pair(bed_folder / "engine") as made:
        yield made


@pytest.fixture
def pair(stopped_pair: Pair) -> Pair:
    """A pair that serves."""
    stopped_pair.ready()
    return stopped_pair
