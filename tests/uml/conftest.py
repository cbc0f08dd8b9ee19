"""One cluster for the whole lane; every test begins with nothing mounted and everything running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.uml.cluster import UmlCluster, uml_cluster
from tests.bed.uml.netns import inside


@pytest.fixture(scope="session")
def running_cluster(bed_folder: Path) -> Iterator[UmlCluster]:
    with uml_cluster(bed_folder / "uml") as cluster:
        yield cluster


@pytest.fixture
def cluster(running_cluster: UmlCluster) -> Iterator[UmlCluster]:
    """The machines, and this test inside their network; what a test broke is mended after it."""
    with inside(running_cluster.namespace):
        yield running_cluster
    running_cluster.mend()
