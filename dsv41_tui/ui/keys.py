"""All keys of the panel as data: id, keys, action, where. No Textual here, so the configuration can check ids.

Texts are `ui.keys.<label>` and `ui.keys.<id>-tip` of the catalogue. `show` is the place in the footer, 0 for none;
keys with the same label stand together there. Nothing needs ctrl+a, ctrl+b, ctrl+s, ctrl+q or a function key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Where = Literal["app", "main", "log", "rdma", "page", "finding", "welcome"]


@dataclass(frozen=True)
class Key:
    """One action that can be pressed."""

    id: str
    keys: str
    """Textual key names, separated by commas; the first is shown."""
    action: str
    where: Where
    label: str
    show: int = 0


KEYS = (
    Key("help", "question_mark", "help", "app", "help", 1),
    Key("actions", "colon,ctrl+p", "command_palette", "app", "actions", 2),
    Key("theme", "t", "next_theme", "app", "theme"),
    Key("refresh", "r", "refresh", "app", "refresh", 7),
    Key("quit", "q", "quit", "app", "quit", 99),
    Key("interrupt", "ctrl+c", "quit", "app", "quit"),
    Key("filter", "slash", "filter", "main", "filter", 3),
    Key("zoom", "z", "zoom", "main", "zoom", 4),
    Key("node-previous", "left_square_bracket", "node(-1)", "main", "node", 5),
    Key("node-next", "right_square_bracket", "node(1)", "main", "node", 5),
    Key("pause", "space", "pause", "main", "pause", 6),
    Key("open", "enter", "open", "main", "open"),
    Key("pane-next", "tab", "step_pane(1)", "main", "pane"),
    Key("pane-previous", "shift+tab", "step_pane(-1)", "main", "pane"),
    Key("pane-left", "h,left", "beside(-1)", "main", "beside"),
    Key("pane-right", "l,right", "beside(1)", "main", "beside"),
    Key("row-down", "j,down", "row(1)", "main", "row"),
    Key("row-up", "k,up", "row(-1)", "main", "row"),
    Key("page-down", "pagedown", "page(1)", "main", "page"),
    Key("page-up", "pageup", "page(-1)", "main", "page"),
    Key("first", "g,home", "edge(-1)", "main", "edge"),
    Key("last", "G,end", "edge(1)", "main", "edge"),
    *(Key(f"go-{digit}", str(digit), f"go({digit})", "main", "go") for digit in range(7)),
    Key("finding-next", "n", "finding(1)", "main", "finding"),
    Key("finding-previous", "N", "finding(-1)", "main", "finding"),
    Key("copy", "y", "copy", "main", "copy", 8),
    Key("back", "escape", "back", "main", "back"),
    Key("log-scope-previous", "left_square_bracket", "log_scope(-1)", "log", "scope", 5),
    Key("log-scope-next", "right_square_bracket", "log_scope(1)", "log", "scope", 5),
    Key("log-follow", "space", "log_follow", "log", "follow", 6),
    Key("log-levels", "e", "log_levels", "log", "levels", 6),
    Key("log-match-next", "n", "log_match(1)", "log", "match", 7),
    Key("log-match-previous", "N", "log_match(-1)", "log", "match", 7),
    Key("log-only-matches", "f", "log_only_matches", "log", "only", 7),
    Key("log-wrap", "w", "log_wrap", "log", "wrap", 7),
    Key("log-times", "i", "log_times", "log", "times"),
    Key("log-left", "h,left", "log_pan(-1)", "log", "pan"),
    Key("log-right", "l,right", "log_pan(1)", "log", "pan"),
    Key("log-open", "enter", "log_open", "log", "open"),
    Key("log-mark", "m", "log_mark", "log", "range"),
    Key("log-copy", "y", "log_copy", "log", "copy", 8),
    Key("log-copy-all", "Y", "log_copy_all", "log", "copy", 8),
    Key("log-dump", "o", "log_dump", "log", "dump", 9),
    Key("rdma-copy", "y", "rdma_copy", "rdma", "copy", 8),
    Key("page-row-down", "j,down", "scroll_rows(1)", "page", "line", 3),
    Key("page-row-up", "k,up", "scroll_rows(-1)", "page", "line", 3),
    Key("page-page-down", "pagedown,space", "scroll_pages(1)", "page", "page"),
    Key("page-page-up", "pageup", "scroll_pages(-1)", "page", "page"),
    Key("page-first", "g,home", "scroll_edge(-1)", "page", "edge"),
    Key("page-last", "G,end", "scroll_edge(1)", "page", "edge"),
    Key("page-finding-next", "n", "finding(1)", "page", "finding", 4),
    Key("page-finding-previous", "N", "finding(-1)", "page", "finding", 4),
    Key("page-copy", "y", "copy", "page", "copy", 5),
    Key("page-back", "escape", "back", "page", "back", 6),
    Key("finding-line", "l,enter", "line", "finding", "log_line", 4),
    Key("choose-down", "j,down", "row(1)", "welcome", "row", 3),
    Key("choose-up", "k,up", "row(-1)", "welcome", "row", 3),
    Key("choose", "enter", "choose", "welcome", "choose", 4),
    *(Key(f"choose-{digit}", str(digit), f"pick({digit})", "welcome", "pick") for digit in range(1, 5)),
    Key("choose-back", "escape", "back", "welcome", "back"),
)

NAMES = {
    "?": "question_mark", ":": "colon", "/": "slash", "[": "left_square_bracket", "]": "right_square_bracket",
    " ": "space", ".": "full_stop", ",": "comma",
}  # fmt: skip
"""Textual's names of the characters that an input method gives in full width."""
_PLACES: dict[str, tuple[str, ...]] = {
    "app": ("main", "log", "rdma", "page", "finding", "welcome"),
    "page": ("page", "finding"),
}
"""Where the keys of a place can be pressed too. Log and RDMA take some keys of the main screen for themselves."""
_CHINESE = {
    "、": "/",
    "。": ".",
    "，": ",",
    "【": "[",
    "「": "[",
    "『": "[",
    "】": "]",
    "」": "]",
    "』": "]",
    "\u3000": " ",
}
"""What an input method gives for the keys `/ . , [ ]` and space."""


def ascii_of(character: str) -> str | None:
    """The ASCII key that a full-width character stands for, None for all others."""
    if len(character) != 1:
        return None
    if 0xFF01 <= ord(character) <= 0xFF5E:
        return chr(ord(character) - 0xFEE0)
    return _CHINESE.get(character)


def of(where: Where) -> Iterable[Key]:
    """The keys of one place."""
    return (key for key in KEYS if key.where == where)


def named(key: str) -> str:
    """Textual's name of a key that is written as its character."""
    return NAMES.get(key, key)


def clashes(changed: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Pairs of actions that would share a key where both can be pressed, with that key.

    Textual drops one of them without a word, so such a key map is refused.
    """
    found = []
    taken: dict[tuple[str, str], str] = {}
    for key in KEYS:
        for name in {named(name.strip()) for name in changed.get(key.id, key.keys).split(",")}:
            places = _PLACES.get(key.where, (key.where,))
            for place in places:
                first = taken.setdefault((place, name), key.id)
                if first != key.id and (first, key.id, name) not in found:
                    found.append((first, key.id, name))
    return found


def default_keys() -> Mapping[str, str]:
    """Id to keys, for a check of the configuration's `[keys]` table."""
    return {key.id: key.keys for key in KEYS}
