"""Who is in the sandbox cluster: names, roles, addresses."""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.value import Value
from dsv41_tui.sandbox.mounts import MOUNT_POINT, NAS_ADDRESS, VOLUME_POINT

MOST_NODES = 64
PREFIX = "dsv41-sandbox-"
"""How the name of every sandbox's folder begins."""
HOME = "/home/dsv"


class Member(Value):
    """One machine."""

    name: str
    role: Literal["head", "worker", "nas"]
    number: int
    """1 for the head; 0 for the NAS."""
    address: str
    """What it believes to be its own; nothing listens there."""
    mounts: tuple[str, ...] = ()
    """Where it mounts the NAS: by fstab, and by docker while its container runs."""


def members(nodes: int, *, nas: bool) -> tuple[Member, ...]:
    """The head, the workers, and the NAS last."""
    found = [_gb10(number) for number in range(1, nodes + 1)]
    if nas:
        found.append(Member(name="nas", role="nas", number=0, address=NAS_ADDRESS))
    return tuple(found)


def _gb10(number: int) -> Member:
    head = number == 1
    return Member(
        name=f"spark{number}",
        role="head" if head else "worker",
        number=number,
        address=f"192.168.50.{100 + number}",
        mounts=(MOUNT_POINT,) if head else (MOUNT_POINT, VOLUME_POINT),
    )
