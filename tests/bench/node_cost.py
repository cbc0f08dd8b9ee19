"""What the panel costs a node: a real sshd on loopback, the panel without a screen, and a floor in the same run."""

from __future__ import annotations

import asyncio
import getpass
import os
import time
from pathlib import Path

import asyncssh

from dsv41_tui.config import Config, NodeConfig
from dsv41_tui.parsers.procstat import parse_cpu_s
from dsv41_tui.runtime.cluster import Cluster
from tests.bed.sshd import SshBed, SshServer, descendants
from tests.bench.report import Row

FLOOR = "while read x; do cat /proc/meminfo; done"
"""One `cat` a second over one channel: no monitor that forks can cost less."""


def node_cost(folder: Path, window_s: float) -> list[Row]:
    """CPU seconds a minute of everything below sshd, logins, bytes on the wire."""
    bed = SshBed(folder, getpass.getuser())
    try:
        server = bed.server("PermitRootLogin yes")
        floor = asyncio.run(_floor(bed.client.node(server), server, window_s))
        before = server.logins()
        ours, wire = asyncio.run(_ours(bed.client.node(server), server, window_s))
        logins = server.logins() - before
    finally:
        bed.close()
    return [
        Row.floor("cost on a node: CPU", "s/min", ours, floor, "one cat a second", 0.5),
        Row("cost on a node: logins", "a run", logins, limit=1),
        Row("cost on a node: wire", "B/s", wire, limit=4096),
    ]


def _tree_cpu_s(server: SshServer) -> float:
    """CPU of all processes below the server and of their children that ended."""
    total = 0.0
    for pid in descendants(server.pid):
        try:
            total += parse_cpu_s(Path(f"/proc/{pid}/stat").read_text())
        except OSError:
            continue
    return total


async def _ours(node: NodeConfig, server: SshServer, window_s: float) -> tuple[float, float]:
    cluster = Cluster(Config(node=(node,)))
    await cluster.start()
    await asyncio.sleep(12)
    began, cpu = time.monotonic(), _tree_cpu_s(server)
    await asyncio.sleep(window_s)
    minutes = (time.monotonic() - began) / 60
    spent = _tree_cpu_s(server) - cpu
    wire = cluster.store.state.nodes[0].observer.bytes_per_s or 0.0
    await cluster.stop()
    return spent / minutes, wire


async def _floor(node: NodeConfig, server: SshServer, window_s: float) -> float:
    assert node.identity_file and node.known_hosts and node.port
    async with (
        asyncssh.connect(
            "127.0.0.1", node.port, username=node.user, client_keys=[node.identity_file],
            known_hosts=node.known_hosts, config=None, agent_path=None,
        ) as connection,
        connection.create_process(FLOOR) as process,
    ):  # fmt: skip
        began, cpu = time.monotonic(), _tree_cpu_s(server)
        while time.monotonic() - began < window_s:
            process.stdin.write("\n")
            await asyncio.sleep(1)
        minutes = (time.monotonic() - began) / 60
        spent = _tree_cpu_s(server) - cpu
        process.stdin.write_eof()
    return spent / minutes


def can_run() -> str | None:
    """Why the node's cost cannot be measured here, or None."""
    from tests.bed.lanes import LANES

    lane = next(lane for lane in LANES if lane.marker == "openssh")
    return lane.missing() if os.name == "posix" else "not a POSIX system"
