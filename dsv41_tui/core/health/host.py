"""The machines themselves: restarted while watched, kernels that differ, a kernel with a known fault."""

from __future__ import annotations

from collections.abc import Iterable

from dsv41_tui.core.finding import Evidence, Finding
from dsv41_tui.core.health.common import (
    Kind,
    cause,
    compute_nodes,
    duration,
    finding,
    fix,
    fresh,
    title,
    usable,
)
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, NodeState, Notice

REBOOTED = Kind(id="host-rebooted", severities=("warn",), pane="memory")
KHO_KERNEL = Kind(id="host-kernel-kho", severities=("warn",), pane="memory")
KERNELS_DIFFER = Kind(id="host-kernels-differ", severities=("info",), pane="memory")
KINDS = (REBOOTED, KHO_KERNEL, KERNELS_DIFFER)

REBOOT_SHOWN_S = 3600.0
"""A restart is news for an hour; then it is history, which the notices keep."""
KHO_KERNELS = ("7.0.0-1019-nvidia", "7.0.0-31")
"""Kernels whose Kexec HandOver gives memory away as CMA: DGX OS 7.6 and the HWE kernel of the same fault."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of single nodes, then of the cluster."""
    for node in state.nodes:
        yield from _rebooted(node, state.notices, now)
    for node in compute_nodes(state):
        yield from _kho_kernel(node, now)
    yield from _kernels_differ(state, now)


def recent_reboots(node: NodeState, notices: tuple[Notice, ...], now: float) -> list[Notice]:
    """Restarts of a node within the last hour, oldest first."""
    return [
        notice
        for notice in notices
        if notice.kind == "rebooted" and notice.node == node.name and now - notice.at <= REBOOT_SHOWN_S
    ]


def _rebooted(node: NodeState, notices: tuple[Notice, ...], now: float) -> Iterable[Finding]:
    reboots = recent_reboots(node, notices, now)
    if not reboots:
        return
    last = reboots[-1]
    changed = t("findings.boot-changed", age=duration(now - last.at))
    evidence = [Evidence(source="/proc/sys/kernel/random/boot_id", reading=changed)]
    if last.detail:
        evidence.append(Evidence(source="uname -r", reading=last.detail))
    yield finding(
        REBOOTED,
        "warn",
        title(age=duration(now - last.at)),
        fix(),
        node=node.name,
        evidence=evidence,
        commands=("last -x reboot shutdown | head", "journalctl -k -b -1 --no-pager | tail -60"),
        count=len(reboots),
    )


def is_kho_kernel(kernel: str) -> bool:
    """Whether `uname -r` names a kernel that is known for the fault, in any flavour."""
    return any(kernel == known or kernel.startswith(f"{known}-") for known in KHO_KERNELS)


def _kho_kernel(node: NodeState, now: float) -> Iterable[Finding]:
    """Only where `/proc/meminfo` has no CMA lines: with them the fault itself is seen, or is not there."""
    seen = usable(node, node.host, now)
    memory = fresh(node, node.memory, now)
    if seen is None or memory is None or (memory.cma_total is not None and memory.cma_free is not None):
        return
    host, stale_s = seen
    if host.kernel is None or not is_kho_kernel(host.kernel) or host.kho_off:
        return
    option = "kho=off absent" if host.kho_off is False else "unread"
    yield finding(
        KHO_KERNEL,
        "warn",
        title(kernel=host.kernel),
        fix(),
        node=node.name,
        causes=(cause("kernel_kho_cma", "possible", "kho-kernel", kernel=host.kernel),),
        evidence=(
            Evidence(source="uname -r", reading=host.kernel),
            Evidence(source="/proc/cmdline", reading=option),
        ),
        commands=("grep -E 'CmaTotal|CmaFree' /proc/meminfo", "cat /proc/cmdline"),
        stale_s=stale_s,
    )


def _kernels_differ(state: ClusterState, now: float) -> Iterable[Finding]:
    kernels: dict[str, list[str]] = {}
    for node in compute_nodes(state):
        host = fresh(node, node.host, now)
        if host is not None and host.kernel:
            kernels.setdefault(host.kernel, []).append(node.name)
    if len(kernels) < 2:
        return
    groups = sorted(kernels.items(), key=lambda item: (-len(item[1]), item[0]))
    yield finding(
        KERNELS_DIFFER,
        "info",
        title(count=len(kernels), kernels="; ".join(f"{kernel}: {_names(names)}" for kernel, names in groups)),
        fix(),
        evidence=[Evidence(source="uname -r", reading=f"{kernel}: {', '.join(names)}") for kernel, names in groups],
        commands=("uname -r",),
    )


def _names(names: list[str]) -> str:
    """Names while they are few; a fleet of 64 is counted."""
    return ", ".join(names) if len(names) <= 3 else str(len(names))
