"""`/proc/pressure/memory`: the shares of wall time in which tasks waited for memory.

Grammar: the line `some` and, where the kernel has it, the line `full`, each with avg10, avg60, avg300 in percent and
the total in microseconds since boot.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Pressure
from dsv41_tui.parsers._fields import empty, is_complaint, wrong

_SOURCE = "/proc/pressure/memory"
_AVERAGE = r"[0-9]{1,3}\.[0-9]{2}"
_LINE = re.compile(rf"(some|full) avg10=({_AVERAGE}) avg60={_AVERAGE} avg300={_AVERAGE} total=([0-9]{{1,20}})")


def parse_pressure(text: str) -> Pressure:
    """Read both lines. Raises ParseError where accounting is off, a line is torn, or `some` is missing."""
    if not text.strip() or is_complaint(text):
        raise empty(_SOURCE, "pressure accounting is off in this kernel (boot with psi=1)")
    if not text.endswith("\n"):
        raise ParseError(f"{_SOURCE} is cut off")
    values: dict[str, tuple[float, int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise wrong(_SOURCE, line, "avg10, avg60, avg300 and total", number)
        values[match[1]] = (float(match[2]), int(match[3]))
    if "some" not in values:
        raise ParseError(f"{_SOURCE} has no line some")
    some, full = values["some"], values.get("full", (None, None))
    return Pressure(some_avg10=some[0], full_avg10=full[0], some_total_us=some[1], full_total_us=full[1])
