"""`/proc/uptime`: seconds since boot, then the idle seconds of all CPUs together."""

from __future__ import annotations

import re

from dsv41_tui.parsers._fields import empty, wrong

# The second number is not used, but without it the first can be cut off in its middle.
_UPTIME = re.compile(r"([0-9]{1,12}\.[0-9]{2}) [0-9]+\.[0-9]+")


def parse_uptime(text: str) -> float:
    """Seconds since boot, the node's own clock. Raises ParseError for anything but two numbers."""
    match = _UPTIME.fullmatch(text.strip())
    if match is None:
        raise wrong("/proc/uptime", text, "two numbers of seconds") if text.strip() else empty("/proc/uptime")
    return float(match[1])
