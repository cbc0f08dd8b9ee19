"""A network namespace of our own, and tests that step into it.

Everything of the bed, and the panel under test, talks inside this namespace; the host's network has no part in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def create(name: str, folder: Path) -> None:
    """Make the namespace and note it in `folder`, so that a later run can remove it."""
    ip("netns", "add", name)
    (folder / f"{name}.netns").touch()
    ip("-n", name, "link", "set", "lo", "up")


def delete(name: str, folder: Path) -> None:
    subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
    (folder / f"{name}.netns").unlink(missing_ok=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def inside(name: str) -> Iterator[None]:
    """This thread's new sockets and processes belong to the namespace while the block runs.

    A namespace is a property of a thread: asyncio's sockets are made on the thread that runs the loop, so it is enough
    that this one steps over.
    """
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        with Path(f"/run/netns/{name}").open() as other:
            _setns(other.fileno())
        yield
    finally:
        _setns(own)
        os.close(own)


def _setns(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "setns")
