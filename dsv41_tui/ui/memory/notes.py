"""What is said under the numbers: only what bites, in the order of its weight, and the chip's heat and draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import binary_size, gib, mib_rate, short_age
from dsv41_tui.ui.pane import labelled_note, node_note
from dsv41_tui.ui.standing import node_standing, starved
from dsv41_tui.ui.view import Rows, View
from dsv41_tui.ui.widgets.table import Cell

if TYPE_CHECKING:
    from dsv41_tui.core.limits import Limits
    from dsv41_tui.core.model import NodeState

REBOOT_SHOWN_S = 900.0


def write(rows: Rows, nodes: list[NodeState], *, pressure: bool) -> None:
    """All notes; `pressure` where the table has no column for it."""
    for node in nodes:
        node_note(rows, node)
        if node_standing(node, rows.view).stale:
            continue
        _kernel_fault(rows, node)
        _falling(rows, node)
        if pressure:
            _pressure(rows, node)
    _reboots(rows, nodes)


def exhaustion_s(node: NodeState, limits: Limits) -> float | None:
    """Seconds until MemFree is used up at its present fall; None while that is slow, far off, or page cache by itself.

    The same judgement as that of the finding, which is where the numbers come from.
    """
    from dsv41_tui.core.health.memory import FALLING_FAST, NEAR  # pydantic's weight, after the first frame

    slope, memory = node.free_slope_bytes_per_s, node.memory.value
    if slope is None or memory is None or memory.free is None or slope > -FALLING_FAST:
        return None
    if memory.free >= NEAR * limits.free_warn or starved(memory, limits):
        return None
    left = memory.free / -slope
    return left if left < limits.exhaustion_warn_s else None


def _kernel_fault(rows: Rows, node: NodeState) -> None:
    memory, glyphs = node.memory.value, rows.view.ink.glyphs
    if memory is None or not memory.cma_leaked:
        return
    text = t("ui.memory.kho", free=binary_size(memory.cma_free), total=binary_size(memory.cma_total))
    labelled_note(rows, f"{glyphs.error} {node.name}", text, "error")


def _falling(rows: Rows, node: NodeState) -> None:
    """A warning while it goes for good; what turns into page cache is only said."""
    from dsv41_tui.core.health.memory import NEAR  # pydantic's weight, after the first frame

    view, memory = rows.view, node.memory.value
    left = exhaustion_s(node, view.limits) if view.limits else None
    if left is None or memory is None or view.limits is None:
        return
    values = {"rate": mib_rate(-(node.free_slope_bytes_per_s or 0.0)), "left": short_age(left)}
    if memory.available is not None and memory.available >= NEAR * view.limits.free_warn:
        label = f"{view.ink.glyphs.idle} {node.name}"
        labelled_note(rows, label, t("ui.memory.falling_to_cache", **values), "text-muted")
    else:
        labelled_note(rows, f"{view.ink.glyphs.warn} {node.name}", t("ui.memory.falling", **values), "warning")


def _pressure(rows: Rows, node: NodeState) -> None:
    view, reading = rows.view, node.pressure.value
    if reading is None or reading.full_avg10 is None or view.limits is None:
        return
    if reading.full_avg10 >= view.limits.psi_warn_percent:
        text = t("ui.memory.pressure", percent=f"{reading.full_avg10:.1f}")
        labelled_note(rows, f"{view.ink.glyphs.warn} {node.name}", text, "warning")


def _reboots(rows: Rows, nodes: list[NodeState]) -> None:
    view = rows.view
    names = {node.name for node in nodes}
    seen: set[str] = set()
    for notice in reversed(view.state.notices if view.state else ()):
        recent = view.now - notice.at < REBOOT_SHOWN_S
        if notice.kind == "rebooted" and notice.node in names - seen and recent:
            seen.add(notice.node)
            text = t("ui.memory.rebooted", at=view.clock(notice.at, seconds=True))
            labelled_note(rows, f"{view.ink.glyphs.warn} {notice.node}", text, "warning")


def chip(rows: Rows, nodes: list[NodeState]) -> None:
    """Temperature, power and load where the GPU tells; nothing where it does not."""
    view = rows.view
    told = [(node, gpu_cell(node, view)) for node in nodes]
    told = [(node, cell) for node, cell in told if cell[0]]
    if not told:
        return
    line = rows.line().fit("GPU", view.label - 1, "text-muted").to(view.label)
    each = (rows.box.width - view.label) // len(told)
    for index, (node, (text, style)) in enumerate(told):
        line.to(view.label + index * each)
        line.put(node.name, "text-muted").gap().put(text, style)
    rows.add(line)


def gpu_cell(node: NodeState, view: View) -> Cell:
    """`61 °C 31 W 96 %`, without what the driver does not tell; in muted italics while it is old."""
    gpu, degree = node.gpu.value, view.ink.glyphs.degree
    if gpu is None:
        return "", "text"
    told = [
        f"{value:.0f} {unit}"
        for value, unit in (
            (gpu.temperature_c, f"{degree}C".strip()),
            (gpu.power_w, "W"),
            (gpu.utilization_percent, "%"),
        )
        if value is not None
    ]
    old = node.gpu.read(view.now) != "ok" or node_standing(node, view).stale
    return " ".join(told), "text-muted+italic" if old else "text"


def lowest(rows: Rows, nodes: list[NodeState]) -> None:
    """Low-water marks of MemAvailable where the table has no column for them."""
    marks = [node.low_available for node in nodes]
    if not any(marks):
        return
    none = rows.view.ink.glyphs.none
    text = t("ui.list").join(gib(mark.value) if mark else none for mark in marks)
    line = rows.line().fit(t("ui.memory.lowest"), rows.view.label - 1, "text-muted").to(rows.view.label)
    rows.add(line.put("MemAvailable ", "text-muted").put(text).put(f" {_since(rows.view)}", "text-muted"))


def _since(view: View) -> str:
    started = view.state.started_at if view.state else view.now
    return t("ui.memory.since", at=view.clock(started))
