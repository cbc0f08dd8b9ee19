"""Open a node: this machine, or one behind SSH."""

from __future__ import annotations

from dsv41_tui.config import NodeConfig
from dsv41_tui.transport.channel import Node


async def open_node(config: NodeConfig) -> Node:
    """Connect and log in. LinkError with the reason and the fix; asyncssh is imported here, after the first frame."""
    if config.local:
        from dsv41_tui.transport.local import LocalNode

        return LocalNode()
    from dsv41_tui.transport.ssh import connect

    return await connect(config)
