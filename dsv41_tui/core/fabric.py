"""What a node's rank was told of the fabric, and which HCA ports it uses.

The environment of the rank's container says what holds: the launcher made it of the configuration. A node without such
a container tells nothing, and nothing is assumed. NCCL's grammar of NCCL_IB_HCA: names by commas, each with an
optional `:PORT`; a name stands for all that begin with it; `=` before the list asks for whole names, `^` excludes.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.containers import Container, ProcessLimits
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import NodeState
from dsv41_tui.core.rdma import PortRate, RdmaPort

LOSS = (
    "out_of_sequence", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
    "out_of_seq_request", "rcvd_seq_err", "completer_retry_err", "retry_exceeded_err", "rcvd_rnr_err",
)  # fmt: skip
"""Counters of packets that came out of order or had to be sent again: mlx5's names, then those of rxe."""
CNP = ("np_cnp_sent", "rp_cnp_handled")
DATA = ("port_rcv_data", "port_xmit_data")
PACKETS = ("port_rcv_packets", "port_xmit_packets", "rcvd_pkts", "sent_pkts")
FABRIC_KEYS = ("NCCL_", "GLOO_", "VLLM_HOST_IP")


def rank_container(node: NodeState) -> Container | None:
    """The container of the node's rank: one that runs before one that ended, one whose log we follow before others."""
    engine = node.containers.value
    if engine is None:
        return None
    logged = {log.container for log in node.logs}
    found = [known for known in engine.containers if known.name in logged or _has_fabric(known)]
    return max(
        found,
        key=lambda known: (known.state == "running", known.name in logged, known.started_at or 0.0),
        default=None,
    )


def _has_fabric(container: Container) -> bool:
    return any(key.startswith(FABRIC_KEYS) for key in container.env)


def rank_log(node: NodeState) -> RankLog | None:
    """What the log of that container says of this start."""
    container = rank_container(node)
    logs = [log for log in node.logs if container is None or log.container == container.name]
    return max(logs, key=lambda log: log.started_at or 0.0, default=None)


def rank_process(node: NodeState) -> ProcessLimits | None:
    """The first process of that container while it runs."""
    container = rank_container(node)
    if container is None or container.state != "running":
        return None
    return next((known for known in node.processes.value or () if known.container == container.name), None)


def serving(node: NodeState) -> bool:
    """Whether the rank's container runs and NCCL is up in it."""
    container, log = rank_container(node), rank_log(node)
    running = container is not None and container.state == "running"
    return running and log is not None and (log.served or log.init_complete > 0)


def setting(node: NodeState, key: str) -> str | None:
    """A variable of the rank's container; None where it is unset or no container is known."""
    container = rank_container(node)
    return None if container is None else container.env.get(key)


def named(spec: str) -> tuple[str, ...]:
    """The names of NCCL_IB_HCA without their marks and ports; none of an excluding list."""
    if spec.startswith("^"):
        return ()
    words = spec.removeprefix("=").split(",")
    return tuple(word.partition(":")[0].strip() for word in words if word.strip())


def matches(spec: str, port: RdmaPort) -> bool:
    """Whether NCCL_IB_HCA lets a port through; an empty one lets all."""
    exact, exclude = spec.startswith(("=", "^=")), spec.startswith("^")
    words = [word.strip() for word in spec.lstrip("^").removeprefix("=").split(",") if word.strip()]
    if not words:
        return True
    return any(_fits(word, port, exact) for word in words) != exclude


def _fits(word: str, port: RdmaPort, exact: bool) -> bool:
    name, _, number = word.partition(":")
    same = port.device == name if exact else port.device.startswith(name)
    return same and (not number or number == str(port.port))


def uses(node: NodeState, port: RdmaPort) -> bool | None:
    """Whether the rank uses a port: as NCCL said, else as its container is told; None where nobody tells."""
    log = rank_log(node)
    if log is not None and log.devices:
        return f"{port.device}:{port.port}" in log.devices
    spec = setting(node, "NCCL_IB_HCA")
    return matches(spec, port) if spec else None


def fabric_ports(node: NodeState) -> tuple[PortRate, ...]:
    """The ports that the rank uses; where nobody tells, those that are ACTIVE."""
    ports = node.rdma.value or ()
    used = tuple(known for known in ports if uses(node, known.port))
    return used or tuple(known for known in ports if known.port.state == "ACTIVE" and uses(node, known.port) is None)


def per_s(known: PortRate, names: tuple[str, ...]) -> float | None:
    """The sum of these counters' rates; None where none of them has one."""
    found = [known.per_s[name] for name in names if name in known.per_s]
    return sum(found) if found else None


def subnets(ports: Iterable[PortRate]) -> tuple[str | None, ...]:
    """The first three numbers of each port's first IPv4 address; None for a port without one."""
    found = []
    for known in ports:
        address = next((gid.ipv4 for gid in known.port.gids if gid.ipv4), None)
        found.append(address.rpartition(".")[0] if address else None)
    return tuple(found)
