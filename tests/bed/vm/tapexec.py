"""tapexec.py NETNS TAP[,TAP...] -- COMMAND...: open TAP devices inside a named network namespace, then run COMMAND in
the caller's own; `@TAP` in an argument becomes the number of that device's file descriptor.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import sys

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
TAP_NO_PI_VNET_HDR = 0x0002 | 0x1000 | 0x4000


def enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def main(namespace: str, taps: list[str], command: list[str]) -> None:
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    enter(os.open(f"/run/netns/{namespace}", os.O_RDONLY))
    for tap in taps:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", tap.encode(), TAP_NO_PI_VNET_HDR))
        os.set_inheritable(device, True)
        command = [word.replace(f"@{tap}", str(device)) for word in command]
    enter(own)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","), sys.argv[4:])
