"""The RDMA pane on the screen: `y` copies the settings that fit the nodes, for the environment of their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dsv41_tui.core.messages import t
from dsv41_tui.ui import navigate
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.rdma.environment import environment
from dsv41_tui.ui.widgets.sheet import SheetWidget

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp


class RdmaWidget(SheetWidget):
    """A sheet with a key for its settings."""

    BINDINGS = bindings("rdma")
    own_keys = "rdma"

    def action_rdma_copy(self) -> None:
        """Of the selected node, else of all nodes; what was copied and what is not known is said."""
        panel = cast("PanelApp", self.app)
        item = self.item()
        made = environment(self.view, item.node if item else None)
        unknown = t("ui.list").join(made.unknown)
        if not made.nodes:
            navigate.say(panel, "ui.rdma.nothing_to_copy", nodes=unknown)
            return
        panel.copy_to_clipboard(made.text)
        key = "ui.rdma.copied_without" if unknown else "ui.rdma.copied"
        lines = sum(1 for line in made.text.splitlines() if "=" in line)
        navigate.say(panel, key, lines=lines, nodes=t("ui.list").join(made.nodes), unknown=unknown)
