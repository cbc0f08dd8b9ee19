"""Bindings made of `keys.KEYS`. A binding's description is a catalogue key: the language is known only later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from dsv41_tui.core.messages import t
from dsv41_tui.ui import keys


def bindings(where: keys.Where) -> list[BindingType]:
    """For a BINDINGS attribute."""
    return [
        Binding(
            key.keys,
            key.action,
            f"ui.keys.{key.label}",
            show=bool(key.show),
            id=key.id,
            tooltip=f"ui.keys.{key.id}-tip",
            priority=key.id == "interrupt",
        )
        for key in keys.of(where)
    ]


_NAMES = {
    "enter": "Enter", "escape": "Esc", "tab": "Tab", "shift+tab": "Shift+Tab", "pagedown": "PgDn", "pageup": "PgUp",
    "home": "Home", "end": "End", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "space": "Space",
    "question_mark": "?", "colon": ":", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]",
}  # fmt: skip


def key_display(key: str) -> str:
    """A key as it stands on a keyboard, in ASCII."""
    return _NAMES.get(key, key)


@dataclass(frozen=True)
class Hint:
    """Keys that are shown together, and what they do."""

    keys: tuple[str, ...]
    text: str
    tip: str
    place: int


def hints(app: App[Any], screen: Screen[Any], *, all_keys: bool = False) -> list[Hint]:
    """What can be pressed now, as the operator's key map has it; `all_keys` for the help page."""
    known = {key.id: key for key in keys.KEYS}
    found: dict[tuple[str, bool], Hint] = {}
    seen: set[str] = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        key = known.get(binding.id or "")
        if key is None or not active.enabled or (not all_keys and not binding.show):
            continue
        display = key_display(binding.key)
        slot = (binding.description, True) if not all_keys else (binding.id or "", False)
        before = found.get(slot)
        if key.id in seen and not all_keys:
            continue
        seen.add(key.id)
        shown = (*before.keys, display) if before else (display,)
        tip = t(binding.tooltip)
        found[slot] = Hint(shown, t(binding.description), tip, key.show)
    if all_keys:
        return list(found.values())
    return sorted(found.values(), key=lambda hint: hint.place)


def shown(hint: Hint) -> str:
    """`[ ]`, `j k`; several digits are a range."""
    keys_ = hint.keys
    if len(keys_) > 2 and all(key.isdigit() for key in keys_):
        return f"{keys_[0]}-{keys_[-1]}"
    return " ".join(keys_)
