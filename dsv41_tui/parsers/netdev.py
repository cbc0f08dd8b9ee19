"""`/proc/net/dev` joined with `/sys/class/net/NAME/speed`, `operstate` and `mtu`.

Grammar: two headings with `|`, then `NAME:` and 8 receive and 8 transmit numbers. The colon touches the first number
in old kernels and alias names hold colons themselves, so the last colon before the numbers divides. RoCE traffic does
not show here; NFS over TCP does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import NetInterface
from dsv41_tui.parsers._fields import empty, wrong

_SOURCE = "/proc/net/dev"
_LINE = re.compile(r"[ \t]*(\S.{0,63}?):[ \t]*([0-9]{1,20}(?:[ \t]+[0-9]{1,20}){15,})[ \t]*")
_RX_BYTES, _RX_DROPPED, _TX_BYTES = 0, 3, 8
# Unknown speed is -1; kernels before 5.0 print it as 65535 or as 2^32 - 1.
_UNKNOWN_SPEEDS = frozenset({0, 65535, 4294967295})


def parse_net(dev: str, attributes: Mapping[str, Mapping[str, str]]) -> tuple[NetInterface, ...]:
    """Counters in bytes since boot, speed in Mbit/s; an attribute that is unreadable or unknown is None.

    `attributes[name]` holds the raw text of `speed`, `operstate` and `mtu`. Raises ParseError for a torn table.
    """
    interfaces = []
    for number, line in enumerate(dev.split("\n"), start=1):
        if "|" in line or not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise wrong(_SOURCE, line, "a name and 16 counters", number)
        interfaces.append(_interface(match[1], match[2].split(), attributes.get(match[1], {})))
    if not interfaces:
        raise empty(_SOURCE) if not dev.strip() else ParseError(f"{_SOURCE} names no interface")
    return tuple(interfaces)


def _interface(name: str, counters: list[str], files: Mapping[str, str]) -> NetInterface:
    speed = _number(files.get("speed"))
    state = files.get("operstate", "").strip()
    return NetInterface(
        name=name,
        rx_bytes=int(counters[_RX_BYTES]),
        tx_bytes=int(counters[_TX_BYTES]),
        rx_dropped=int(counters[_RX_DROPPED]),
        speed_mbit=None if speed in _UNKNOWN_SPEEDS else speed,
        operstate=state if re.fullmatch("[a-z]{1,20}", state) else None,
        mtu=_number(files.get("mtu")),
    )


def _number(text: str | None) -> int | None:
    """A plain number of a sysfs file; None for -1, for an error line, and for what was not read."""
    stripped = (text or "").strip()
    return int(stripped) if re.fullmatch("[0-9]{1,10}", stripped) else None
