"""One line of `nvidia-smi --query-gpu=name,driver_version,utilization.gpu,temperature.gpu,power.draw,clocks.sm,memory.used
--format=csv,noheader,nounits`, also with `-l`.

Grammar: seven fields by `, `. What the driver does not know is `[N/A]`, `[Not Supported]`, `[Unknown Error]` and so
on, so every non-number is absent. A GB10 gives no memory figures. Units: percent, degrees Celsius, W, MHz, MiB.
"""  # noqa: E501

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import MIB, Gpu
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers._fields import empty, wrong

_SOURCE = "nvidia-smi"
_FIELDS = 7
_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?")
_DRIVER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}")
_FAILURES = ("has failed", "not a valid field", "No devices", "not found", "Unable to", "Failed to", "Unknown Error")


def parse_gpu(line: str) -> Gpu:
    """Read one line; memory in bytes. Raises ParseError with nvidia-smi's own words where it failed."""
    text = line.strip()
    if not text:
        raise empty(_SOURCE)
    fields = [field.strip() for field in text.split(",")]
    if len(fields) != _FIELDS or "\n" in text:
        if any(phrase in text for phrase in _FAILURES):
            raise ParseError(f"{_SOURCE}: {clean_line(text, 160)}")
        raise wrong(_SOURCE, text, f"{_FIELDS} fields")
    name, driver, *numbers = fields
    if _absent(driver) is not None and not _DRIVER.fullmatch(driver):
        raise wrong(_SOURCE, text, "a driver version in the second field")
    utilization, temperature, power, clock, memory = map(_number, numbers)
    return Gpu(
        name=_absent(name),
        driver=_absent(driver),
        utilization_percent=utilization,
        temperature_c=temperature,
        power_w=power,
        sm_clock_mhz=clock,
        memory_used_bytes=None if memory is None else int(memory * MIB),
    )


def _absent(field: str) -> str | None:
    """The field, or None where the driver says in brackets that it has none."""
    return None if not field or field.startswith("[") or field == "N/A" else field


def _number(field: str) -> float | None:
    return float(field) if _NUMBER.fullmatch(field) else None
