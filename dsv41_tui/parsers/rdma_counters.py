"""Counters of HCA ports, of `/sys/class/infiniband/DEV/ports/N/counters/*` and `hw_counters/*`, by path.

One decimal a file. `port_rcv_data` and `port_xmit_data` count units of four bytes. The classic counters are of 32 bits
in the ABI and stay at 4294967295 once they are full; rxe has no `counters` and other names in `hw_counters`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.rdma import RdmaCounters

_PATH = re.compile(r"/sys/class/infiniband/([A-Za-z0-9_.-]{1,64})/ports/([0-9]{1,3})/(hw_)?counters/([a-z0-9_]{1,64})")
_DATA = frozenset({"port_rcv_data", "port_xmit_data"})
_WORD = 4


def parse_rdma_counters(files: Mapping[str, str]) -> tuple[RdmaCounters, ...]:
    """Counters by sysfs name for each port, data in bytes; one that is no number is absent. Never raises.

    Where both folders have a name (`link_downed` of rxe and of mlx5 never meet), the hardware's own counter stands.
    """
    ports: dict[tuple[str, int], dict[str, int]] = {}
    for path, raw in sorted(files.items()):
        match = _PATH.fullmatch(path)
        text = raw.strip()
        if match is None or not re.fullmatch("[0-9]{1,20}", text):
            continue
        value = int(text) * (_WORD if match[4] in _DATA else 1)
        ports.setdefault((match[1], int(match[2])), {})[match[4]] = value
    return tuple(
        RdmaCounters(device=device, port=number, values=values) for (device, number), values in sorted(ports.items())
    )
