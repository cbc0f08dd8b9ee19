"""The same for people: plain lines, no colour, readable in a log."""

from __future__ import annotations

from dsv41_tui.core.finding import Finding
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.core.readings import GIB, MIB

UNKNOWN = "—"


def status_lines(state: ClusterState, now: float) -> list[str]:
    """One line a node, one a mount."""
    lines: list[str] = []
    for node in state.nodes:
        lines.append(_node_line(node, now))
        if not node.reachable and node.link.why:
            lines.append(f"  {node.link.why}")
            lines += [f"  $ {command}" for command in node.link.fix]
        lines += [_mount_line(mount) for mount in node.nfs]
    return lines


def _node_line(node: NodeState, now: float) -> str:
    memory = node.memory.value
    place = f"{node.name:<10} {node.role:<7}"
    if memory is None:
        return f"{place} {t('cli.memory-unknown')}"
    line = t(
        "cli.memory",
        free=_gib(memory.free),
        available=_gib(memory.available),
        low=_gib(node.low_free.value if node.low_free else None),
        cache=_gib(memory.page_cache),
        driver=_gib(memory.driver),
        total=_gib(memory.total),
    )
    age = node.memory.age_s(now)
    stale = "" if node.memory.read(now) == "ok" or age is None else "  " + t("cli.stale", age=round(age))
    return f"{place} {line}{stale}"


def _mount_line(mount: NfsMount) -> str:
    words = [f"  nfs {mount.mount_point}", mount.source, mount.state]
    if mount.mounted:
        rate = UNKNOWN if mount.read_bytes_per_s is None else f"{mount.read_bytes_per_s / MIB:.0f}"
        hard = {True: "hard", False: "soft", None: UNKNOWN}[mount.hard]
        words += [f"v{mount.version or UNKNOWN}", mount.transport or UNKNOWN, hard, f"{rate} MiB/s"]
    return "  ".join(words)


def check_lines(verdict: str, findings: tuple[Finding, ...]) -> list[str]:
    """The verdict, then each finding with its evidence and fix."""
    lines = [t(f"cli.verdict-{verdict}", count=len(findings))]
    for finding in findings:
        where = f"{finding.node}: " if finding.node else ""
        lines += ["", f"[{finding.severity}] {where}{finding.title}"]
        lines += [f"  {cause.likelihood}: {cause.why}" for cause in finding.causes]
        lines += [f"  {item.source}: {item.reading or item.line}" for item in finding.evidence]
        lines.append(f"  {t('cli.do')}: {finding.fix.text}")
        lines += [f"    $ {command}" for command in finding.fix.commands]
    return lines


def _gib(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value / GIB:.1f}"
