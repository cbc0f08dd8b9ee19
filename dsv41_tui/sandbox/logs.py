"""The logs of a node on disk: what docker keeps of the rank's container, and the kernel's, written as time passes.

Docker's is `STAMP TEXT` a line, in the folder of the stand-ins, by container id. The kernel's is `/var/log/kern.log` as
rsyslog writes it, which a panel reads below a path prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import cos, inf
from pathlib import Path
from string import Template

from dsv41_tui.sandbox.docker_state import container_id
from dsv41_tui.sandbox.files import CONTROL
from dsv41_tui.sandbox.infiniband import gb10_hcas
from dsv41_tui.sandbox.plan import Member
from dsv41_tui.sandbox.scenario import Scenario
from dsv41_tui.sandbox.simulate import scene_of
from dsv41_tui.sandbox.story import Written, written

LOGS = f"{CONTROL}/logs"
KERNEL = "var/log/kern.log"
_APART = timedelta(microseconds=40)
"""Between lines that a script writes at one time."""


class NodeLogs:
    """Of one GB10; `write` is called with rising times."""

    def __init__(self, scenario: Scenario, member: Member, nodes: int, root: Path, began: datetime) -> None:
        self._scenario = scenario
        self._number = member.number
        self._scene = scene_of(scenario, member.number)
        self._names = names(member, nodes)
        self._host = member.name
        self._began = began
        self._rank = root / LOGS / container_id(scenario, member.number)
        self._kernel = root / KERNEL
        self._until = -inf

    def write(self, t: float) -> None:
        """Append what was written up to now. A container that does not run writes nothing."""
        rank = [
            line for line in written(self._scene.log, self._until, t) if self._scene.container.running(line.t - 1e-6)
        ]
        kernel = written(self._scene.kernel_log, self._until, t)
        _append(self._rank, [f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z {text}" for at, text in self._filled(rank)])
        _append(self._kernel, [self._kernel_line(at, text) for at, text in self._filled(kernel)])
        self._until = t

    def _kernel_line(self, at: datetime, text: str) -> str:
        uptime = self._scenario.uptime_s + (at - self._began).total_seconds()
        return f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 {self._host} kernel: [{uptime:.6f}] {text}"

    def _filled(self, lines: list[Written]) -> list[tuple[datetime, str]]:
        found: list[tuple[datetime, str]] = []
        for t, text in lines:
            at = self._began + timedelta(seconds=t)
            if found and at <= found[-1][0]:
                at = found[-1][0] + _APART
            moving = {
                "clock": f"{at:%m-%d %H:%M:%S}",
                "stamp": f"{at:%Y-%m-%d %H:%M:%S}",
                "rate": f"{31.6 + 2.1 * cos(t / 17):.1f}",
            }
            found.append((at, Template(text).safe_substitute(self._names, **moving)))
        return found


def names(member: Member, nodes: int) -> Mapping[str, str]:
    """What stands for a node in the scripts; the peer is the head, and for the head the first worker."""
    own = next(hca for hca in gb10_hcas(member.number) if hca.active)
    peer = 2 if member.number == 1 else 1
    other = next(hca for hca in gb10_hcas(peer) if hca.active)
    return {
        "host": member.name,
        "peer": f"spark{peer}",
        "rank": str(member.number - 1),
        "world": str(nodes),
        "address": own.address or "",
        "peeraddress": other.address or "",
        "headaddress": next(hca.address or "" for hca in gb10_hcas(1) if hca.active),
        "netdev": own.netdev,
        "hca": own.device,
    }


def _append(file: Path, lines: list[str]) -> None:
    if lines or not file.exists():
        with file.open("a", encoding="utf-8") as log:
            log.write("".join(f"{line}\n" for line in lines))
