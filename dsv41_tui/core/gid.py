"""The GID index: which one a port's rank is told, which one is right, and what is wrong with the one that is told.

Right is the `RoCE v2` entry of the fabric address. NCCL 2.30 finds it by itself where NCCL_IB_GID_INDEX is unset or -1:
it walks the table from 0 and keeps the first entry that is IPv4, not empty, and of RoCE version 2. An empty string
counts as 0, which is the link-local entry. Removing and adding an address, a late DHCP or a reboot moves the index.
"""

from __future__ import annotations

import re
from typing import Literal

from dsv41_tui.core import fabric
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.rdma import Gid, PortRate, RdmaPort
from dsv41_tui.core.value import Value

V2 = "RoCE v2"
LAST_READ = 15
"""Higher slots are not read."""
Fault = Literal["empty", "v1", "link-local", "other-interface", "other-address", "no-address"]


class GidVerdict(Value):
    """One port's index as it is and as it has to be."""

    told: int | None = None
    """NCCL_IB_GID_INDEX of the rank, or the index that NCCL said it uses; None: NCCL chooses."""
    right: Gid | None = None
    entry: Gid | None = None
    """What stands at `told`, else at `right`; None for an empty slot."""
    fault: Fault | None = None
    known: bool = True
    """False where the index lies beyond what is read, or the table was not read."""


def nccl_choice(port: RdmaPort) -> Gid | None:
    """What NCCL takes by itself: the first IPv4 entry of RoCE v2, else the first IPv4 entry."""
    mapped = [gid for gid in port.gids if gid.ipv4 and not gid.ipv4.startswith("0.")]
    return next((gid for gid in mapped if gid.type == V2), mapped[0] if mapped else None)


def right(port: RdmaPort, address: str | None) -> Gid | None:
    """The v2 entry of the fabric address where the port has it, else what NCCL takes."""
    own = next((gid for gid in port.gids if address and gid.ipv4 == address and gid.type == V2), None)
    return own or nccl_choice(port)


def told_index(node: NodeState) -> int | None:
    """The index that the rank was told; None where it is unset, -1 or no number."""
    text = fabric.setting(node, "NCCL_IB_GID_INDEX")
    if text is None:
        log = fabric.rank_log(node)
        return None if log is None else log.gid_index
    if not text.strip():
        return 0
    number = int(text) if re.fullmatch(r"\s*-?[0-9]{1,4}\s*", text) else -1
    return None if number < 0 else number


def judge(node: NodeState, port: RdmaPort) -> GidVerdict:
    """The verdict of one port that is ACTIVE; of another one nothing is said, since its addresses are gone."""
    told = told_index(node)
    best = right(port, fabric.setting(node, "VLLM_HOST_IP"))
    if port.state != "ACTIVE" or (not port.gids and port.link_layer != "Ethernet"):
        return GidVerdict(told=told, right=best, entry=best, known=False)
    if best is None and any(gid.netdev or gid.type for gid in port.gids):
        return GidVerdict(told=told, fault="no-address")
    if told is None:
        return GidVerdict(right=best, entry=best, known=best is not None)
    if told > LAST_READ:
        return GidVerdict(told=told, right=best, known=False)
    entry = next((gid for gid in port.gids if gid.index == told), None)
    return GidVerdict(told=told, right=best, entry=entry, fault=_fault(port, entry, best))


def _fault(port: RdmaPort, entry: Gid | None, best: Gid | None) -> Fault | None:
    if entry is None:
        return "empty"
    if entry.ipv4 is None:
        return "link-local" if entry.gid.startswith("fe80:") else None
    if entry.type is not None and entry.type != V2:
        return "v1"
    if best is None or entry == best:
        return None
    if entry.netdev and best.netdev and entry.netdev != best.netdev:
        return "other-interface"
    return "other-address" if entry.ipv4 != best.ipv4 else None


def drifted(known: PortRate) -> tuple[str, ...]:
    """`ADDRESS FIRST -> NOW` for each v2 address whose index is another than at the first reading of this boot."""
    first: dict[str, int] = {}
    for line in known.first_gids:
        index, raw, rest = line.split(" ", 2)
        if rest.startswith(V2):
            first.setdefault(raw, int(index))
    now: dict[str, Gid] = {}
    for entry in known.port.gids:
        if entry.ipv4 and entry.type == V2:
            now.setdefault(entry.gid, entry)
    return tuple(
        f"{entry.ipv4} {first[raw]} -> {entry.index}"
        for raw, entry in now.items()
        if first.get(raw, entry.index) != entry.index
    )
