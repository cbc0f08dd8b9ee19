"""`/proc/meminfo` of a node; on a GB10 this is the GPU's memory as well.

Grammar: `Name:` spaces, digits, ` kB`, where kB means 1024 bytes; `HugePages_*` are page counts without a unit. Lines
come and go with the kernel, so every field but MemTotal is optional and foreign lines are passed over.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Memory
from dsv41_tui.parsers._fields import empty, wrong

_FIELDS = {
    "MemTotal": "total",
    "MemFree": "free",
    "MemAvailable": "available",
    "Buffers": "buffers",
    "Cached": "cached",
    "SwapCached": "swap_cached",
    "AnonPages": "anon",
    "Mapped": "mapped",
    "Shmem": "shmem",
    "Slab": "slab",
    "KernelStack": "kernel_stack",
    "PageTables": "page_tables",
    "SecPageTables": "sec_page_tables",
    "Percpu": "percpu",
    "VmallocUsed": "vmalloc_used",
    "Hugetlb": "hugetlb",
    "Mlocked": "mlocked",
    "Dirty": "dirty",
    "Writeback": "writeback",
    "SwapTotal": "swap_total",
    "SwapFree": "swap_free",
    "CmaTotal": "cma_total",
    "CmaFree": "cma_free",
}
# Sixteen digits of KiB are beyond any machine, and bound what a hostile line can cost.
_LINE = re.compile(r"^([A-Za-z]+):[ \t]*([0-9]{1,16}) kB$", re.MULTILINE)
_HUGE_PAGES = re.compile(r"^HugePages_Total:[ \t]*([0-9]{1,16})\n", re.MULTILINE)


def parse_meminfo(text: str) -> Memory:
    """Read all lines that the panel knows, in bytes.

    Raises ParseError without a MemTotal, and for a known line that is malformed or cut off.
    """
    found = dict(_LINE.findall(text))
    values = {field: int(found[name]) << 10 for name, field in _FIELDS.items() if name in found}
    if len(values) < len(_FIELDS):
        _refuse_malformed(text, found)
    if not values.get("total"):
        raise empty("/proc/meminfo") if not text.strip() else ParseError("/proc/meminfo has no line MemTotal")
    if "hugetlb" not in values:
        pages, size = _HUGE_PAGES.search(text), found.get("Hugepagesize")
        if pages is not None and size is not None:
            values["hugetlb"] = int(pages[1]) * int(size) << 10
    return Memory(**values)


def _refuse_malformed(text: str, found: dict[str, str]) -> None:
    """A known name without a number and a unit is a torn line; its field must not pass for absent."""
    body = "\n" + text
    for name in _FIELDS:
        if name not in found and (at := body.find(f"\n{name}:")) >= 0:
            line = body[at + 1 :].split("\n", 1)[0]
            raise wrong("/proc/meminfo", line, "a number of kB", body.count("\n", 0, at + 1))
