"""Every number on the screen, traced: the reading it comes from, its source on the node, its unit and its age.

Pure: `groups(node, view)` gives plain rows that the node page writes and `y` copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import short_age
from dsv41_tui.ui.view import View
from dsv41_tui.ui.widgets.skyline import parts_of

if TYPE_CHECKING:
    from dsv41_tui.core.model import NfsMount, NodeState, Reading
    from dsv41_tui.core.value import Value

MEMINFO = {
    "total": "MemTotal", "free": "MemFree", "available": "MemAvailable", "buffers": "Buffers", "cached": "Cached",
    "swap_cached": "SwapCached", "anon": "AnonPages", "mapped": "Mapped", "shmem": "Shmem", "slab": "Slab",
    "kernel_stack": "KernelStack", "page_tables": "PageTables", "sec_page_tables": "SecPageTables",
    "percpu": "Percpu", "vmalloc_used": "VmallocUsed", "hugetlb": "HugePages_Total x Hugepagesize",
    "mlocked": "Mlocked", "dirty": "Dirty", "writeback": "Writeback", "swap_total": "SwapTotal",
    "swap_free": "SwapFree", "cma_total": "CmaTotal", "cma_free": "CmaFree",
}  # fmt: skip
PARTS = {
    "gpu": "MemTotal - MemFree - Buffers - Cached - SwapCached - AnonPages - kern - hugetlb",
    "proc": "AnonPages + hugetlb",
    "shm": "Shmem",
    "kern": "Slab + KernelStack + PageTables + SecPageTables + Percpu + VmallocUsed",
    "cache": "Cached + Buffers + SwapCached - Shmem",
    "free": "MemFree",
}
GPU_UNITS = {
    "utilization_percent": ("utilization.gpu", "%"), "temperature_c": ("temperature.gpu", "°C"),
    "power_w": ("power.draw", "W"), "sm_clock_mhz": ("clocks.sm", "MHz"),
    "memory_used_bytes": ("memory.used", "B"), "name": ("name", ""), "driver": ("driver_version", ""),
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One number or word: its name at the source, its value, unit, and how it is made if it is not read as such."""

    name: str
    value: str
    unit: str = ""
    made_of: str = ""


@dataclass(frozen=True)
class Group:
    """Facts of one source."""

    title: str
    source: str
    """File or command on the node."""
    read: str
    """`ok`, `stale`, `unknown`, and the age, in words."""
    stale: bool
    facts: tuple[Fact, ...]


def groups(node: NodeState, view: View) -> list[Group]:
    """All that is known of a node, in the order of the panes."""
    made = [_link(node, view), _memory(node, view), _derived(node, view)]
    made.append(_reading(node.pressure, view, "pressure", "/proc/pressure/memory", _plain("%")))
    made.append(_reading(node.gpu, view, "gpu", "nvidia-smi --query-gpu", _gpu))
    made += [_mount(mount, node, view) for mount in node.nfs]
    made.append(_reading(node.net, view, "net", "/proc/net/dev, /sys/class/net/*/speed", _net))
    made.append(_reading(node.shm, view, "shm", "statfs /dev/shm", _plain("B")))
    made.append(_reading(node.host, view, "host", "uname, /proc/cmdline, boot_id, DMI", _plain("")))
    made.append(_reading(node.logind, view, "logind", "org.freedesktop.login1", _plain("")))
    made.append(_reading(node.nas, view, "nas", "/proc/fs/nfsd, /proc/mdstat, /proc/net/bonding", _nas))
    made.append(_observer(node))
    return [group for group in made if group.facts or group.stale]


Facts = Callable[[object], Iterator[Fact]]


def _reading(reading: Reading, view: View, name: str, source: str, facts: Facts) -> Group:  # type: ignore[type-arg]
    value: object = reading.value
    read = read_text(reading, view)
    never = value is None and reading.error is None
    made = tuple(facts(value)) if value is not None else ()
    return Group(t(f"ui.trace.{name}"), source, read, reading.read(view.now) != "ok" and not never, made)


def read_text(reading: Reading, view: View) -> str:  # type: ignore[type-arg]
    """`1 s ago, every 2 s`; for what is late or failed also why."""
    age = reading.age_s(view.now)
    if age is None:
        return t("ui.trace.never", why=reading.error or t("ui.trace.not_yet"))
    text = t("ui.trace.age", age=short_age(age), period=f"{reading.period_s:g}")
    return f"{text}, {reading.error}" if reading.error else text


def _plain(unit: str) -> Facts:
    """Fields as they are; integers and floats with `unit`."""

    def facts(value: object) -> Iterator[Fact]:
        for name, item in _fields(value):
            number = isinstance(item, (int, float)) and not isinstance(item, bool)
            yield Fact(name, _show(item), ("us" if name.endswith("_us") else unit) if number else "")

    return facts


def _fields(value: object) -> Iterator[tuple[str, object]]:
    model: Value = value  # type: ignore[assignment]
    for name in type(model).model_fields:
        yield name, getattr(model, name)


def _show(item: object) -> str:
    if item is None:
        return "—"
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, int):
        return f"{item:,}"
    if isinstance(item, float):
        return f"{item:,.2f}"
    return ", ".join(map(str, item)) if isinstance(item, tuple) else str(item)


def _rate(value: float | None) -> str:
    """Bytes per second, whole."""
    return "—" if value is None else f"{value:,.0f}"


def _memory(node: NodeState, view: View) -> Group:
    def facts(value: object) -> Iterator[Fact]:
        for field, name in MEMINFO.items():
            item = getattr(value, field)
            if item is not None:
                yield Fact(name, _show(item), "B")

    return _reading(node.memory, view, "memory", "/proc/meminfo", facts)


def _derived(node: NodeState, view: View) -> Group:
    """The parts of the bar, the low-water marks, the slope: how each is made."""
    memory = node.memory
    parts = parts_of(memory.value)
    facts = [Fact(name, _show(getattr(parts, name)), "B", made_of) for name, made_of in PARTS.items()]
    for name, low in (("low MemFree", node.low_free), ("low MemAvailable", node.low_available)):
        if low is not None:
            at = t("ui.trace.at", at=view.clock(low.at, seconds=True))
            facts.append(Fact(name, _show(low.value), "B", at))
    if node.free_slope_bytes_per_s is not None:
        facts.append(Fact("slope", f"{node.free_slope_bytes_per_s:,.0f}", "B/s", t("ui.trace.slope")))
    if memory.value is None:
        facts = []
    return Group(
        t("ui.trace.derived"), "/proc/meminfo", read_text(memory, view), memory.read(view.now) == "stale", tuple(facts)
    )  # fmt: skip


def _gpu(value: object) -> Iterator[Fact]:
    for field, (name, unit) in GPU_UNITS.items():
        item = getattr(value, field)
        if item is not None:
            yield Fact(name, _show(item), unit)


def _net(value: object) -> Iterator[Fact]:
    rates: tuple[object, ...] = value  # type: ignore[assignment]
    for rate in rates:
        interface = rate.interface  # type: ignore[attr-defined]
        speed = f", {interface.speed_mbit} Mbit/s" if interface.speed_mbit else ""
        made_of = f"{interface.rx_bytes:,} B{speed}{', ' + interface.operstate if interface.operstate else ''}"
        yield Fact(f"{interface.name} rx", _rate(rate.rx_bytes_per_s), "B/s", made_of)  # type: ignore[attr-defined]
        yield Fact(f"{interface.name} tx", _rate(rate.tx_bytes_per_s), "B/s", f"{interface.tx_bytes:,} B")  # type: ignore[attr-defined]


def _nas(value: object) -> Iterator[Fact]:
    for name, item in _fields(value):
        if name in ("raid", "bonds"):
            for member in item:  # type: ignore[attr-defined]
                yield Fact(member.name, ", ".join(f"{key} {_show(part)}" for key, part in _fields(member)))
        elif item is not None:
            yield Fact(name, _show(item))


def _mount(mount: NfsMount, node: NodeState, view: View) -> Group:
    stats = mount.stats
    facts = [
        Fact("source", mount.source),
        Fact("state", mount.state, "", t("ui.trace.since", at=view.clock(mount.state_since, seconds=True))),
        Fact("options", _options(mount.got), "", "/proc/self/mountinfo"),
        Fact("asked", _options(mount.asked), "", mount.asked_source or ""),
        Fact("read rate", _rate(mount.read_bytes_per_s), "B/s", "mountstats bytes: 5th, over the node's uptime"),
        Fact("rtt", _show(mount.rtt_ms), "ms", "mountstats READ + READ_PLUS: rtt / ops"),
        Fact("exe", _show(mount.execute_ms), "ms", "mountstats READ + READ_PLUS: execute / ops"),
        Fact("retrans", _show(mount.retrans_per_s), "1/s", "mountstats: transmissions - ops"),
    ]
    if stats is not None:
        facts.append(Fact("read", _show(stats.server_read_bytes), "B", "mountstats bytes: 5th, since mount"))
        facts.append(Fact("xprt", _show(len(stats.transports)), "", "mountstats: lines xprt"))
        facts.append(Fact("sends", _show(stats.sends), "", "mountstats xprt"))
        facts.append(Fact("receives", _show(stats.receives), "", "mountstats xprt"))
    probe = mount.probe
    if probe is not None:
        took = f"{probe.took_s:.3f}" if probe.took_s is not None else "—"
        sent = t("ui.trace.sent", at=view.clock(probe.started_at, seconds=True))
        facts.append(Fact("probe", f"{probe.outcome} {took}", "s", f"stat -f {mount.mount_point}, {sent}"))
    read = read_text(node.mountstats, view)
    stale = node.mountstats.read(view.now) == "stale"
    return Group(f"NFS {mount.mount_point}", "/proc/self/mountstats", read, stale, tuple(facts))


def _options(options: dict[str, str]) -> str:
    return ",".join(key if value == "" else f"{key}={value}" for key, value in options.items()) or "—"


def _link(node: NodeState, view: View) -> Group:
    link = node.link
    facts = [
        Fact("target", node.target or node.name),
        Fact("phase", link.phase, "", t("ui.trace.since", at=view.clock(link.since, seconds=True))),
        Fact("logins", _show(link.logins)),
        Fact("channels", f"{link.channels} / {link.channel_limit or '—'}"),
    ]
    if link.unwatched:
        facts.append(Fact("unwatched", ", ".join(link.unwatched)))
    if link.why:
        facts.append(Fact("why", link.why))
    return Group(t("ui.trace.link"), "ssh", "", link.phase != "up", tuple(facts))


def _observer(node: NodeState) -> Group:
    cost = node.observer
    facts = (
        Fact("cpu", _show(cost.cpu_s_per_min), "s/min", t("ui.trace.cost_cpu")),
        Fact("wire", _rate(cost.bytes_per_s), "B/s", t("ui.trace.cost_wire")),
        Fact("sessions", _show(cost.sessions)),
    )
    return Group(t("ui.trace.observer"), "/proc/PID/stat", "", False, facts)
