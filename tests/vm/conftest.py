"""One pair of guests for the lane, with soft-RoCE, docker and a rank up and frozen; tests begin there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.vm.guests import IDS, Guests, guests

DEVICE = "rocep1s0f0"
CONTAINERS = {"spark1": "dsv41-exl3-head", "spark2": "dsv41-exl3-worker"}
_RXE_UP = (
    "modprobe crc32_generic; modprobe rdma_rxe; "
    f"rdma link add {DEVICE} type rxe netdev eth2 && ethtool -s eth2 speed 100000 duplex full && "
    f"until grep -q ACTIVE /sys/class/infiniband/{DEVICE}/ports/1/state; do sleep 0.1; done"
)
"""Without crc32_generic `rdma link add` says only that there is no such file."""
_IMAGE = (
    "mkdir -p /tmp/i/usr /tmp/i/etc /tmp/i/tmp && cd /tmp/i && ln -sf usr/bin bin && ln -sf usr/lib lib && "
    "ln -sf usr/lib64 lib64 && systemctl start docker && tar c . | docker import - rank >/dev/null"
)
"""An image of links: the guest's own /usr is mounted into the container."""
_RUN = (
    "docker run -d --name {name} --network host --device /dev/infiniband -v /usr:/usr:ro "
    "-v /etc/libibverbs.d:/etc/libibverbs.d:ro -e NCCL_IB_HCA={device} -e NCCL_IB_GID_INDEX=1 {options} "
    "rank {command} >/dev/null"
)


def run_rank(pair: Guests, name: str, options: str = "--ulimit memlock=-1", command: str = "sleep 3600") -> None:
    """Start the container of a guest's rank anew, as a launcher does."""
    container = CONTAINERS[name]
    run = _RUN.format(name=container, device=DEVICE, options=options, command=command)
    pair.run(name, f"docker rm -f {container} >/dev/null 2>&1; {run}")


@pytest.fixture(scope="session")
def running_guests(bed_folder: Path) -> Iterator[Guests]:
    with guests(bed_folder / "vm") as pair:
        for name in IDS:
            pair.run(name, _RXE_UP)
            pair.run(name, _IMAGE)
            run_rank(pair, name)
        pair.freeze()
        yield pair


@pytest.fixture
def pair(running_guests: Guests) -> Guests:
    running_guests.restore()
    return running_guests
