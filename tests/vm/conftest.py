"""One pair of guests for the lane, with soft-RoCE up and frozen; every test begins at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.vm.guests import IDS, Guests, guests

DEVICE = "rocep1s0f0"
RXE_UP = (
    "modprobe crc32_generic; modprobe rdma_rxe; "
    f"rdma link add {DEVICE} type rxe netdev eth2 && ethtool -s eth2 speed 100000 duplex full && "
    f"until grep -q ACTIVE /sys/class/infiniband/{DEVICE}/ports/1/state; do sleep 0.1; done"
)
"""Without crc32_generic `rdma link add` says only that there is no such file."""


@pytest.fixture(scope="session")
def running_guests(bed_folder: Path) -> Iterator[Guests]:
    with guests(bed_folder / "vm") as pair:
        for name in IDS:
            pair.run(name, RXE_UP)
        pair.freeze()
        yield pair


@pytest.fixture
def pair(running_guests: Guests) -> Guests:
    running_guests.restore()
    return running_guests
