"""What changes only at a boot: `/proc/sys/kernel/random/boot_id`, `/proc/sys/kernel/osrelease`, `/proc/cmdline`,
`/proc/sys/kernel/hostname`, `/sys/class/dmi/id/product_name` and the output of `uname -m`, each one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Host
from dsv41_tui.parsers._fields import readable, wrong

_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIELDS = {
    "boot_id": "boot_id",
    "osrelease": "kernel",
    "cmdline": "command_line",
    "hostname": "hostname",
    "product": "product",
    "machine": "machine",
}


def parse_host(files: Mapping[str, str]) -> Host:
    """Join the files, keyed `boot_id osrelease cmdline hostname product machine`; an absent or unreadable one is None.

    Raises ParseError for a file of several lines, when none could be read, and for a boot id that is none: a wrong one
    would pass for a reboot.
    """
    values: dict[str, str] = {}
    for name, field in _FIELDS.items():
        text = readable(files.get(name))
        if text is None:
            continue
        if "\n" in text:
            raise wrong(name, text, "one line")
        values[field] = text
    if not values:
        raise ParseError(f"the host: none of {', '.join(_FIELDS)} can be read")
    boot_id = values.get("boot_id")
    if boot_id is not None and not _BOOT_ID.fullmatch(boot_id):
        raise wrong("boot_id", boot_id, "an id such as 01234567-89ab-cdef-0123-456789abcdef")
    return Host(**values)
