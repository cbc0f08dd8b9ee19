"""The settings of the nodes as lines for an env file, ready to be pasted there."""

from __future__ import annotations

from typing import NamedTuple

from dsv41_tui.ui.cells import safe
from dsv41_tui.ui.view import View


class Environment(NamedTuple):
    """`text` has a block for each of `nodes`, under a comment with its name; `unknown` are the nodes without one."""

    text: str
    nodes: tuple[str, ...]
    unknown: tuple[str, ...]


def environment(view: View, name: str | None) -> Environment:
    """Of the node `name`, else of all nodes."""
    from dsv41_tui.core.compare import settings  # pydantic's weight, after the first frame

    blocks: list[str] = []
    nodes: list[str] = []
    unknown: list[str] = []
    for node in view.boxes:
        if name is not None and node.name != name:
            continue
        lines = settings(node)
        (nodes if lines else unknown).append(safe(node.name))
        if lines:
            blocks.append("\n".join([f"# {safe(node.name)}", *map(safe, lines)]))
    return Environment("\n\n".join(blocks), tuple(nodes), tuple(unknown))
