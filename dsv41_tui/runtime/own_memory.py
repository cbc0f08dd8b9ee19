"""Give memory back to the machine that the panel runs on, which is often the head with 4 GiB to spare.

Loading code leaves 10 MiB of freed heap that glibc keeps. `malloc_trim` hands it back; another libc has none.
"""

from __future__ import annotations

import ctypes

FIRST_S = 10
EVERY_S = 300


def give_back() -> None:
    """Return freed heap to the system; takes about a millisecond."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
