"""HCA ports and what a rank needs of them: a link, the HCA that it names, the device and the limit of its container.

Only ports that a rank uses are judged; a second port without a cable is no fault. Where nobody tells which ones are
used, a port that was ACTIVE while watched counts, and a node without any ACTIVE port.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core import fabric
from dsv41_tui.core.compare import limit_text
from dsv41_tui.core.containers import UNLIMITED, Container
from dsv41_tui.core.finding import Cause, Evidence, Finding
from dsv41_tui.core.health.common import (
    Kind,
    argument,
    cause,
    compute_nodes,
    finding,
    fix,
    fresh,
    title,
    usable,
)
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, NodeState, Notice
from dsv41_tui.core.rdma import RdmaPort
from dsv41_tui.core.readings import GIB

PORT_DOWN = Kind(id="rdma-port-down", severities=("error", "warn"), pane="rdma")
HCA_ABSENT = Kind(id="rdma-hca-absent", severities=("error", "warn"), pane="rdma")
NO_DEVICE = Kind(id="rdma-not-in-container", severities=("error",), pane="rdma")
MEMLOCK = Kind(id="rdma-memlock", severities=("error", "warn"), pane="rdma")
KINDS = (PORT_DOWN, HCA_ABSENT, NO_DEVICE, MEMLOCK)

MEMLOCK_NEEDED = GIB
"""Registered buffers of one rank stay below this; a container with a lower limit was started without the option."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of each node by itself; what all containers of the launcher lack is one."""
    del limits
    bare: list[tuple[NodeState, Container]] = []
    for node in compute_nodes(state):
        yield from _ports_down(node, state.notices, now)
        yield from _hca_absent(node, now)
        container = _unproved(node, now)
        if container is not None:
            bare += [(node, container)] if _lacks_device(container) else []
            yield from _memlock(node, container, now)
    if bare:
        yield _no_device(bare)


def place(port: RdmaPort) -> str:
    """`rocep1s0f0`, with the number where it is not 1."""
    return port.device if port.port == 1 else f"{port.device}:{port.port}"


def folder(port: RdmaPort) -> str:
    return f"/sys/class/infiniband/{port.device}/ports/{port.port}"


def _ports_down(node: NodeState, notices: tuple[Notice, ...], now: float) -> Iterable[Finding]:
    seen = usable(node, node.rdma, now)
    if seen is None:
        return
    ports, stale_s = seen
    down = [known.port for known in ports if known.port.state not in ("ACTIVE", None)]
    running = (container := fabric.rank_container(node)) is not None and container.state == "running"
    told = False
    for port in down:
        used = fabric.uses(node, port)
        fell = _fell(node, port, notices)
        if used or (used is None and fell):
            told = True
            yield _down(node, port, "error" if used or running else "warn", fell, stale_s)
    if not told and down and len(down) == len(ports) and fabric.uses(node, down[0]) is None:
        yield _down(node, down[0], "warn", False, stale_s, "title-all")


def _fell(node: NodeState, port: RdmaPort, notices: tuple[Notice, ...]) -> bool:
    """Whether it was ACTIVE while watched, since the panel started."""
    return any(
        notice.kind == "port-down" and notice.node == node.name and notice.detail.split(" ")[0] == place(port)
        for notice in notices
    )


def _down(
    node: NodeState, port: RdmaPort, severity: str, fell: bool, stale_s: float | None, text: str = "title"
) -> Finding:
    causes = _why_down(port)
    admin = causes[0].cause_id == "port_admin_down" and len(causes) == 1
    name = argument(port.netdev) if port.netdev else "NETDEV"
    evidence = [Evidence(source=f"{folder(port)}/state", reading=f"{port.state}, {port.physical_state or '?'}")]
    if port.netdev_up is not None:
        flag = "UP" if port.netdev_up else "not UP"
        evidence.append(Evidence(source=f"/sys/class/net/{port.netdev}/flags", reading=flag))
    return finding(
        PORT_DOWN,
        "error" if severity == "error" else "warn",
        title(
            "title-fell" if fell and text == "title" else text,
            port=place(port),
            state=port.state or "?",
            physical=port.physical_state or "?",
        ),
        fix("fix-admin" if admin else "fix"),
        node=node.name,
        causes=causes,
        evidence=evidence,
        commands=(f"sudo ip link set {name} up",) if admin else (f"ip -br link show {name}", f"sudo ethtool {name}"),
        stale_s=stale_s,
    )


def _why_down(port: RdmaPort) -> tuple[Cause, ...]:
    """A ConnectX-7 says Disabled in both cases; there the flags of its netdev decide."""
    by_flags = port.netdev_up
    if by_flags is None and port.hca_type is None and port.physical_state in ("Disabled", "Polling"):
        by_flags = port.physical_state == "Polling"
    if by_flags is False:
        return (cause("port_admin_down", "confirmed", "port-admin-down", netdev=port.netdev or "?"),)
    if port.physical_state in ("PortConfigurationTraining", "LinkErrorRecovery", "Phy Test"):
        return (
            cause("cx7_degraded_init", "possible", "port-training", physical=port.physical_state),
            cause("cx7_unplugged_or_powered_off", "possible", "port-no-signal"),
        )
    if by_flags is True or port.physical_state == "Polling":
        return (cause("cx7_unplugged_or_powered_off", "likely", "port-no-signal"),)
    return (
        cause("cx7_unplugged_or_powered_off", "possible", "port-no-signal"),
        cause("port_admin_down", "possible", "port-flags-unread"),
    )


def _hca_absent(node: NodeState, now: float) -> Iterable[Finding]:
    seen = usable(node, node.rdma, now)
    spec = fabric.setting(node, "NCCL_IB_HCA")
    if seen is None or not spec:
        return
    ports, stale_s = seen
    names = fabric.named(spec)
    absent = [name for name in names if not any(fabric.matches(f"{name}", known.port) for known in ports)]
    if not absent:
        return
    if ports:
        there = ", ".join(place(known.port) for known in ports)
        causes: tuple[Cause, ...] = (cause("wrong_interface", "confirmed", "hca-named-wrong", there=there),)
    else:
        causes = (
            cause("cx7_degraded_init", "possible", "hca-none"),
            cause("cx7_pcie_fatal", "possible", "hca-none"),
        )
    yield finding(
        HCA_ABSENT,
        "error" if len(absent) == len(names) else "warn",
        title(names=", ".join(absent), count=len(absent)),
        fix() if ports else fix("fix-none"),
        node=node.name,
        causes=causes,
        evidence=(
            Evidence(source=_source(fabric.rank_container(node)), reading=f"NCCL_IB_HCA={spec}"),
            Evidence(source="/sys/class/infiniband", reading=", ".join(place(known.port) for known in ports) or "-"),
        ),
        commands=("ls -l /sys/class/infiniband", "lspci -d 15b3:"),
        restart=bool(ports),
        stale_s=stale_s,
    )


def _source(container: Container | None) -> str:
    return f"container {container.name}" if container is not None else "container"


def _unproved(node: NodeState, now: float) -> Container | None:
    """The running container of the rank; None where NCCL proved by itself that nothing is lacking."""
    container, log = fabric.rank_container(node), fabric.rank_log(node)
    if fresh(node, node.containers, now) is None or container is None or container.state != "running":
        return None
    if log is not None and (log.registration == "ok" or log.transport == "ib") and log.registration != "failed":
        return None
    return container


def _lacks_device(container: Container) -> bool:
    wanted = container.env.get("NCCL_IB_DISABLE") == "0" or container.env.get("NCCL_NET") == "IB"
    wanted = wanted or bool(container.env.get("NCCL_IB_HCA"))
    given = any(path.startswith("/dev/infiniband") for path in container.devices)
    return wanted and container.privileged is False and not given


def _no_device(bare: list[tuple[NodeState, Container]]) -> Finding:
    """One finding however many ranks: they were started by one launcher."""
    return finding(
        NO_DEVICE,
        "error",
        title(name=", ".join(container.name for _, container in bare)),
        fix(),
        node=bare[0][0].name if len(bare) == 1 else None,
        causes=(cause("ib_device_not_in_container", "confirmed", "no-ib-device"),),
        evidence=[
            Evidence(source=_source(container), reading=f"devices: {', '.join(container.devices) or '-'}")
            for _, container in bare
        ],
        commands=[f"docker inspect -f '{{{{json .HostConfig.Devices}}}}' {argument(item.name)}" for _, item in bare],
        restart=True,
    )


def _memlock(node: NodeState, container: Container, now: float) -> Iterable[Finding]:
    process, log = fabric.rank_process(node), fabric.rank_log(node)
    read = process.memlock_bytes if process is not None and fresh(node, node.processes, now) is not None else None
    limit = container.memlock_bytes if read is None else read
    if limit is None or limit == UNLIMITED or limit >= MEMLOCK_NEEDED or container.privileged:
        return
    failed = log is not None and log.registration == "failed"
    where = f"/proc/{process.pid}/limits" if read is not None and process is not None else _source(container)
    yield finding(
        MEMLOCK,
        "error" if failed else "warn",
        title(name=container.name, limit=limit_text(limit) or "?"),
        fix(),
        node=node.name,
        causes=(cause("memlock_ulimit", "confirmed" if failed else "likely", "memlock-low", limit=limit_text(limit)),),
        evidence=(Evidence(source=where, reading=f"Max locked memory {limit_text(limit)}"),),
        commands=(f"docker inspect -f '{{{{json .HostConfig.Ulimits}}}}' {argument(container.name)}",),
        restart=True,
    )
