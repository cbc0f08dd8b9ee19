"""How a node, a mount and the cluster stand, in a glyph, a word and a colour. Unknown is never shown as healthy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dsv41_tui.core.messages import t
from dsv41_tui.ui.numbers import short_age
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.finding import Finding
    from dsv41_tui.core.limits import Limits
    from dsv41_tui.core.model import NfsMount, NodeState
    from dsv41_tui.core.readings import Memory

Level = Literal["ok", "muted", "unknown", "warn", "error"]
RANK: dict[Level, int] = {"error": 0, "warn": 1, "unknown": 2, "muted": 3, "ok": 3}
"""Worst first."""
STYLES: dict[Level, str] = {
    "ok": "success",
    "muted": "text-muted",
    "unknown": "warning",
    "warn": "warning",
    "error": "error",
}
_LINK_GLYPHS = {"up": "ok", "idle": "busy", "connecting": "busy", "waiting": "error", "closed": "unknown"}


@dataclass(frozen=True)
class Standing:
    """One verdict, ready to be written."""

    level: Level
    glyph: str
    word: str
    stale: bool = False
    """The numbers are old, or there are none."""

    @property
    def text(self) -> str:
        return f"{self.glyph} {self.word}"

    @property
    def style(self) -> str:
        return STYLES[self.level]


def node_standing(node: NodeState, view: View) -> Standing:
    """Of the connection and the freshest reading; the numbers themselves are judged by `memory_level`."""
    glyphs, link, now = view.ink.glyphs, node.link, view.now
    if link.phase == "up":
        return _up(node, view)
    if link.phase == "closed":
        return Standing("unknown", glyphs.unknown, t("ui.node.closed"), stale=True)
    down = link.down_since
    if link.kind is None or link.phase == "idle":
        word = t("ui.node.connecting") if down is None else t("ui.node.connecting_for", age=short_age(now - down))
        return Standing("unknown", glyphs.busy, word, stale=True)
    word = t(f"ui.node.{link.kind}")
    if down is not None and link.kind != "refused":
        word = f"{word} {short_age(now - down)}"
    return Standing("error", glyphs.error, word, stale=True)


def _up(node: NodeState, view: View) -> Standing:
    glyphs = view.ink.glyphs
    reading = node.nas if node.role == "nas" and node.memory.value is None else node.memory
    state = reading.read(view.now)
    if state == "ok":
        return Standing("ok", glyphs.ok, t("ui.node.up"))
    age = reading.age_s(view.now)
    if state == "stale" and age is not None:
        return Standing("warn", glyphs.stale, short_age(age), stale=True)
    if reading.error:
        return Standing("unknown", glyphs.unknown, t("ui.node.unreadable"), stale=True)
    return Standing("unknown", glyphs.busy, t("ui.node.first_reading"), stale=True)


def memory_level(memory: Memory | None, limits: Limits | None) -> Level:
    """Of one reading by headroom: MemAvailable, page cache that holds MemFree, the KHO fault."""
    if memory is None or limits is None:
        return "unknown"
    if memory.cma_leaked:
        return "error"
    level = available_level(memory.available, limits)
    return "warn" if level == "ok" and starved(memory, limits) else level


def available_level(value: int | None, limits: Limits | None) -> Level:
    if value is None or limits is None:
        return "unknown"
    if value < limits.available_error:
        return "error"
    return "warn" if value < limits.available_warn else "ok"


def starved(memory: Memory, limits: Limits) -> bool:
    """Whether page cache holds what the driver needs; judged where the findings are."""
    from dsv41_tui.core.health.memory import starved as judge  # pydantic's weight, after the first frame

    return judge(memory, limits)


def node_level(node: NodeState, view: View, pane: str | None = None) -> Level:
    """The worst of the connection, the memory, and the findings that name the node, of one pane or of all."""
    levels: list[Level] = [node_standing(node, view).level]
    if node.role != "nas" and node.memory.value is not None:
        levels.append(memory_level(node.memory.value, view.limits))
    for finding in view.findings:
        if finding.node == node.name and pane in (None, finding.pane):
            levels.append(_SEVERITIES[finding.severity])
    return min(levels, key=RANK.__getitem__)


_SEVERITIES: dict[str, Level] = {"error": "error", "warn": "warn", "info": "ok"}
_MOUNTS: dict[str, tuple[Level, str]] = {
    "fine": ("ok", "ok"),
    "idle": ("muted", "idle"),
    "slow": ("warn", "warn"),
    "not-responding": ("error", "error"),
    "stale-handle": ("error", "error"),
    "denied": ("error", "error"),
    "unmounted": ("warn", "warn"),
    "unused": ("muted", "idle"),
    "unknown": ("unknown", "unknown"),
}


def mount_standing(mount: NfsMount, node: NodeState, view: View) -> Standing:
    """Of one mount; a hang counts up. While the node itself is not read, the last state is shown as old."""
    glyphs = view.ink.glyphs
    level, glyph = _MOUNTS[mount.state]
    mark: str = getattr(glyphs, glyph)
    if mount.state == "not-responding":
        return Standing(level, mark, t("ui.nfs.hung", age=short_age(view.now - mount.state_since)), stale=True)
    above = node_standing(node, view)
    if above.level == "warn" and above.stale:
        return Standing("warn", glyphs.stale, above.word, stale=True)
    if above.stale:
        return Standing("unknown", glyphs.unknown, t("ui.nfs.state.unknown"), stale=True)
    age = node.mountstats.age_s(view.now)
    if mount.mounted and age is not None and node.mountstats.read(view.now) == "stale":
        return Standing("warn", glyphs.stale, short_age(age), stale=True)
    return Standing(level, mark, t(f"ui.nfs.state.{mount.state}"))


def mounts_known(view: View) -> bool:
    """Whether it can be said that there is no mount: every node that computes was read, and can be read now."""
    return bool(view.boxes) and all(
        node.reachable and node.mountinfo.read(view.now) != "unknown" and not node_standing(node, view).stale
        for node in view.boxes
    )


_UNREAD = ("link-", "node-")
"""Findings of nodes that cannot be read: nothing is known to be wrong there, and nothing to be right."""


@dataclass(frozen=True)
class Pill:
    """The cluster's worst verdict in one or two capitals' words."""

    text: str
    style: str


def pill(view: View) -> Pill:
    """What is known now; never «serving», which needs proofs that are not read yet."""
    glyphs = view.ink.glyphs
    if view.unset:
        return Pill(f"{glyphs.idle} {t('ui.pill.unset')}", "pill-primary")
    if view.trouble is not None:
        return Pill(f"{glyphs.error} {t('ui.pill.no_cluster')}", "pill-error")
    if view.state is None or not any(node.reachable for node in view.nodes):
        return _unconnected(view)
    worst = view.findings[0] if view.findings else None
    if worst is not None and worst.severity == "error":
        return Pill(f"{glyphs.error} {_words(worst)}", "pill-error")
    if worst is not None and worst.severity == "warn":
        glyph = glyphs.unknown if worst.id.startswith(_UNREAD) else glyphs.warn
        return Pill(f"{glyph} {_words(worst)}", "pill-warning")
    if any(node_standing(node, view).level != "ok" for node in view.nodes):
        return Pill(f"{glyphs.unknown} {t('ui.pill.partly')}", "pill-warning")
    return Pill(f"{glyphs.ok} {t('ui.pill.watching')}", "pill-success")


def _unconnected(view: View) -> Pill:
    glyphs = view.ink.glyphs
    if view.nodes and all(node.link.kind is not None for node in view.nodes):
        return Pill(f"{glyphs.error} {t('ui.pill.no_node')}", "pill-error")
    return Pill(f"{glyphs.unknown} {t('ui.pill.connecting')}", "pill-warning")


def _words(finding: Finding) -> str:
    """The finding's own words, else those of its pane."""
    for name in (finding.id, finding.pane or "trouble", "trouble"):
        key = f"ui.pill.{name.replace('.', '-')}"
        if (text := t(key)) != key:
            return text
    return finding.id.upper()
