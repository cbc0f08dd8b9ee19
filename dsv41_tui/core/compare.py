"""What differs between the boxes, and the settings that each of them needs. Unknown is never equal."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Any, Literal

from dsv41_tui.core import fabric, gid
from dsv41_tui.core.containers import UNLIMITED
from dsv41_tui.core.model import NodeState, Reading
from dsv41_tui.core.rdma import RdmaPort
from dsv41_tui.core.readings import GIB, MIB
from dsv41_tui.core.value import Value

Verdict = Literal["same", "differs", "unknown"]


class Row(Value):
    """One property over all nodes that compute."""

    name: str
    """A term of the field: kernel, driver, firmware, image, ..."""
    values: tuple[str | None, ...]
    """In the order of the nodes; None where it is not known."""
    verdict: Verdict


def compare(nodes: tuple[NodeState, ...], now: float) -> tuple[Row, ...]:
    """One row a property that at least one node tells; with fewer than two nodes there is nothing to compare."""
    if len(nodes) < 2:
        return ()
    rows = []
    for name, read in PROPERTIES.items():
        values = tuple(read(node, now) if node.reachable else None for node in nodes)
        if any(value is not None for value in values):
            rows.append(Row(name=name, values=values, verdict=verdict(values)))
    return tuple(rows)


def verdict(values: tuple[str | None, ...]) -> Verdict:
    """`differs` as soon as two known values do, `same` only when all are known."""
    known = {value for value in values if value is not None}
    if len(known) > 1:
        return "differs"
    return "same" if known and None not in values else "unknown"


def limit_text(value: int | None) -> str | None:
    """A limit for people: `unlimited`, `8 MiB`."""
    if value is None:
        return None
    if value == UNLIMITED:
        return "unlimited"
    for size, unit in ((GIB, "GiB"), (MIB, "MiB"), (1024, "KiB")):
        if value >= size:
            return f"{value / size:g} {unit}" if value % size == 0 else f"{value / size:.1f} {unit}"
    return f"{value} B"


def _of(reading: Reading[Any], now: float, field: str) -> str | None:
    value = reading.value if reading.read(now) != "unknown" else None
    found = getattr(value, field, None)
    return None if found in (None, "") else str(found)


def _port(node: NodeState, now: float) -> RdmaPort | None:
    ports = fabric.fabric_ports(node) if node.rdma.read(now) != "unknown" else ()
    return ports[0].port if ports else None


def _of_port(field: str) -> Callable[[NodeState, float], str | None]:
    def read(node: NodeState, now: float) -> str | None:
        found = getattr(_port(node, now), field, None)
        return None if found in (None, "") else str(found)

    return read


def _image(node: NodeState, now: float) -> str | None:
    container = fabric.rank_container(node) if node.containers.read(now) != "unknown" else None
    digest = container.image_digest if container is not None else None
    return None if digest is None else digest.removeprefix("sha256:")[:12]


def _memlock(node: NodeState, now: float) -> str | None:
    process = fabric.rank_process(node) if node.processes.read(now) != "unknown" else None
    return limit_text(process.memlock_bytes) if process is not None else None


def _of_log(field: str) -> Callable[[NodeState, float], str | None]:
    def read(node: NodeState, now: float) -> str | None:
        del now
        found = getattr(fabric.rank_log(node), field, None)
        return None if found in (None, "") else str(found)

    return read


PROPERTIES: dict[str, Callable[[NodeState, float], str | None]] = {
    "kernel": lambda node, now: _of(node.host, now, "kernel"),
    "driver": lambda node, now: _of(node.gpu, now, "driver"),
    "image": _image,
    "firmware": _of_port("firmware"),
    "HCA": _of_port("hca_type"),
    "MTU": _of_port("netdev_mtu"),
    "NCCL": _of_log("nccl_version"),
    "engine": _of_log("engine_version"),
    "memlock": _memlock,
    "docker": lambda node, now: _of(node.containers, now, "version"),
    "product": lambda node, now: _of(node.host, now, "product"),
}


def settings(node: NodeState) -> tuple[str, ...]:
    """`KEY=value` lines for the environment of this node's rank, as far as they are known; none where they are not.

    Of the ports that the rank uses, else of the ACTIVE ones with an IPv4 address. The index is named only where all of
    them have the same one: where they do not, NCCL has to choose it, and the variable must stay unset. The names are
    those that the node gave; an env file is often run by a shell, so an odd one is quoted.
    """
    ports = [known.port for known in fabric.fabric_ports(node)]
    host = fabric.setting(node, "VLLM_HOST_IP")
    chosen = [(port, best) for port in ports if port.state == "ACTIVE" and (best := gid.right(port, host)) is not None]
    if not chosen:
        return ()
    lines = [f"NCCL_IB_HCA={quote(','.join(port.device for port, _ in chosen))}"]
    indices = {best.index for _, best in chosen if best.type == gid.V2}
    if len(indices) == 1:
        lines.append(f"NCCL_IB_GID_INDEX={indices.pop()}")
    first = next((pair for pair in chosen if pair[1].ipv4 == host), chosen[0])
    name = first[1].netdev or first[0].netdev
    if name:
        lines += [f"NCCL_SOCKET_IFNAME={quote(name)}", f"GLOO_SOCKET_IFNAME={quote(name)}"]
    lines.append(f"VLLM_HOST_IP={first[1].ipv4}")
    return tuple(lines)


def recommended_mtu(node: NodeState) -> tuple[str, ...]:
    """Commands that give the fabric's interfaces jumbo frames, for those that are known to have smaller ones."""
    ports = [known.port for known in fabric.fabric_ports(node)]
    small = {port.netdev for port in ports if port.netdev and port.netdev_mtu is not None and port.netdev_mtu < 4192}
    return tuple(f"sudo ip link set {quote(name)} mtu 9000" for name in sorted(small))
