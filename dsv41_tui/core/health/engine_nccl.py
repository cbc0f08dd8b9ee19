"""NCCL between the ranks: an init that does not end, sockets where RDMA was asked for, versions that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dsv41_tui.core.containers import Container
from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import Kind, argument, cause, duration, finding, fix, title
from dsv41_tui.core.health.engine import Seat, rank_seats
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState

HANGING = Kind(id="nccl-init-hanging", severities=("error", "warn"), pane="log")
SOCKET = Kind(id="nccl-socket-instead", severities=("error", "warn"), pane="rdma")
VERSIONS = Kind(id="nccl-versions-differ", severities=("error", "warn"), pane="log")
KINDS = (HANGING, SOCKET, VERSIONS)

HANGING_S = 120.0
"""An init takes seconds: it begins when all ranks have met."""
_DEVICES = "/dev/infiniband"


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of the ranks whose containers run."""
    seats = [
        seat for seat in rank_seats(state, now) if seat.container is not None and seat.container.state == "running"
    ]
    for seat in seats:
        yield from _hanging(seat, now)
        yield from _socket(seat)
    yield from _versions(seats)


def _rank(seat: Seat) -> str:
    return "?" if seat.rank is None else str(seat.rank)


def _hanging(seat: Seat, now: float) -> Iterator[Finding]:
    log = seat.log
    if log is None or log.init_open_since is None or now - log.init_open_since < HANGING_S:
        return
    age = duration(now - log.init_open_since)
    yield finding(
        HANGING,
        "error",
        title(rank=_rank(seat), age=age),
        fix(),
        node=seat.node.name,
        causes=(
            cause("wrong_interface", "possible", "init-interface", interface=log.socket_interface or "?"),
            cause("fabric_unreachable", "possible", "init-fabric"),
        ),
        evidence=(
            Evidence(source=f"{seat.node.name}/{seat.name}", reading=f"Init START without Init COMPLETE, {age}"),
        ),
        commands=(f"docker logs {argument(seat.name)} 2>&1 | grep NCCL | tail -50", "ss -tn state syn-sent"),
        restart=True,
        stale_s=seat.stale_s,
    )


def _wants_rdma(box: Container) -> bool:
    """What its environment asks NCCL for; without a word of it sockets are what was asked for."""
    env = box.env
    if env.get("NCCL_IB_DISABLE", "0") not in ("0", ""):
        return False
    if env.get("NCCL_NET"):
        return env["NCCL_NET"].upper().startswith("IB")
    return any(env.get(key) for key in ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX")) or "NCCL_IB_DISABLE" in env


def _socket(seat: Seat) -> Iterator[Finding]:
    log, box = seat.log, seat.container
    if log is None or log.transport != "socket" or box is None or not _wants_rdma(box) or not _passed(box):
        return
    asked = ", ".join(
        f"{key}={value}" for key, value in sorted(box.env.items()) if key.startswith(("NCCL_IB", "NCCL_NET"))
    )
    yield finding(
        SOCKET,
        "error",
        title(rank=_rank(seat), interface=log.socket_interface or "?"),
        fix(),
        node=seat.node.name,
        causes=(cause("ib_device_not_in_container", "possible", "device-passed"),),
        evidence=(
            Evidence(
                source=f"{seat.node.name}/{seat.name}",
                reading=f"NCCL: Using network Socket, {log.socket_interface or '?'}",
            ),
            Evidence(source="docker inspect", reading=f"{asked or '-'}; devices {', '.join(box.devices) or '-'}"),
        ),
        commands=(f"docker exec {argument(seat.name)} ls -l {_DEVICES}", "ls -l /sys/class/infiniband"),
        restart=True,
        stale_s=seat.stale_s,
    )


def _passed(box: Container) -> bool:
    """Whether the devices are in the container; where they are not, `rdma-not-in-container` says it."""
    return bool(box.privileged) or any(device.startswith(_DEVICES) for device in box.devices)


def _versions(seats: list[Seat]) -> Iterator[Finding]:
    known = [
        (seat, _version(seat.log.nccl_version)) for seat in seats if seat.log is not None and seat.log.nccl_version
    ]
    if len({version for _, version in known}) < 2:
        return
    served = any(seat.log is not None and seat.log.served for seat, _ in known)
    stale = [seat.stale_s for seat, _ in known if seat.stale_s is not None]
    yield finding(
        VERSIONS,
        "warn" if served else "error",
        title(versions=", ".join(f"rank {_rank(seat)} {version}" for seat, version in known)),
        fix(),
        causes=(cause("nccl_version_mismatch", "confirmed", "nccl-versions"),),
        evidence=tuple(
            Evidence(source=f"{seat.node.name}/{seat.name}", reading=f"NCCL version {version}, image {_image(seat)}")
            for seat, version in known
        ),
        commands=("docker image ls --digests", "docker inspect -f '{{.Image}}' CONTAINER"),
        restart=True,
        stale_s=max(stale, default=None),
    )


def _version(text: str) -> str:
    """Without the CUDA version behind it, which not every line of a rank names."""
    return text.partition("+")[0]


def _image(seat: Seat) -> str:
    assert seat.container is not None
    return (seat.container.image_digest or seat.container.image or "?")[:19]
