"""The large form's last part: what else is known of a node's memory, one or two rows each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import gib, short_age
from dsv41_tui.ui.pane import labelled
from dsv41_tui.ui.view import Rows, View

if TYPE_CHECKING:
    from dsv41_tui.core.model import NodeState


def sheet(rows: Rows, nodes: list[NodeState]) -> list[Strip]:
    """Running text, one paragraph a node; drawn apart, since the charts take the room that it leaves."""
    made = Rows(rows.view, rows.box)
    for node in nodes:
        facts = _facts(node, rows.view)
        if facts:
            labelled(made, node.name, t("ui.list").join(facts), style="text-muted")
    return made.rows


def _facts(node: NodeState, view: View) -> list[str]:
    memory, host, shm = node.memory.value, node.host.value, node.shm.value
    facts: list[str] = []
    if memory is not None:
        facts.append(t("ui.memory.fact.total", value=gib(memory.total)))
        if memory.swap_total is not None and memory.swap_free is not None:
            used = gib(memory.swap_total - memory.swap_free)
            facts.append(t("ui.memory.fact.swap", used=used, total=gib(memory.swap_total)))
        facts.append(t("ui.memory.fact.dirty", value=gib(memory.dirty)))
        facts.append(t("ui.memory.fact.mlocked", value=gib(memory.mlocked)))
        facts.append(t("ui.memory.fact.cma", free=gib(memory.cma_free), total=gib(memory.cma_total)))
    if shm is not None:
        facts.append(t("ui.memory.fact.shm", used=gib(shm.used), size=gib(shm.size)))
    if host is not None and host.kernel:
        facts.append(t("ui.memory.fact.kernel", value=host.kernel))
    if node.uptime_s is not None:
        facts.append(t("ui.memory.fact.up", age=short_age(node.uptime_s)))
    return facts
