"""Network interfaces of a GB10 and of the NAS: `/proc/net/dev` and `/sys/class/net/NAME/{speed,operstate,mtu}`.

NFS over TCP goes through the 10 GbE port; RoCE does not pass the kernel's counters, so the fabric ports stand nearly
still.
"""

from __future__ import annotations

from dsv41_tui.core.value import Value

LAN = "enP7s7"
_HEAD = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n"
)
_WIRE = 1.034
"""Bytes on the wire per byte of file data: RPC, TCP, IP and Ethernet headers at an MTU of 1500."""
_FRAME = 1514


class Port(Value):
    """One interface as sysfs shows it; a speed is absent where reading it fails."""

    name: str
    speed: int | None
    operstate: str
    mtu: int


GB10_PORTS = (
    Port(name="lo", speed=None, operstate="unknown", mtu=65536),
    Port(name=LAN, speed=10_000, operstate="up", mtu=1500),
    Port(name="enp1s0f0np0", speed=200_000, operstate="up", mtu=9000),
    Port(name="enP2p1s0f0np0", speed=200_000, operstate="up", mtu=9000),
    Port(name="wlP9s9", speed=None, operstate="down", mtu=1500),
)
NAS_PORTS = (
    Port(name="lo", speed=None, operstate="unknown", mtu=65536),
    Port(name="eth0", speed=10_000, operstate="up", mtu=1500),
    Port(name="eth1", speed=10_000, operstate="up", mtu=1500),
    Port(name="bond0", speed=20_000, operstate="up", mtu=1500),
)


def gb10_net_dev(read_bytes: int, t: float) -> str:
    """Counters of a node that has read `read_bytes` from the NAS."""
    chatter = int(3_200 * t)
    received, sent = int(read_bytes * _WIRE) + 1_203_000_000 + chatter, int(read_bytes * 0.012) + 903_000_000 + chatter
    lo = 91_203_311 + int(900 * t)
    return _table(
        {
            "lo": (lo, lo),
            LAN: (received, sent),
            "enp1s0f0np0": (1_203_311 + int(66 * t), 1_303_311 + int(66 * t)),
            "enP2p1s0f0np0": (903_311, 903_399),
            "wlP9s9": (0, 0),
        }
    )


def nas_net_dev(read_bytes: int, t: float) -> str:
    """Counters of a NAS that has sent `read_bytes` to its clients, spread over both ports of its bond."""
    sent, received = int(read_bytes * _WIRE) + 9_203_000_000 + int(5_100 * t), int(read_bytes * 0.012) + 1_000_000
    half, rest = sent // 2, sent - sent // 2
    back, back_rest = received // 2, received - received // 2
    return _table(
        {"lo": (812_004, 812_004), "eth0": (back, half), "eth1": (back_rest, rest), "bond0": (received, sent)}
    )


def _table(counters: dict[str, tuple[int, int]]) -> str:
    lines = [
        f"{name:>6}: {received:>7} {received // _FRAME:>7}    0    0    0     0          0         0 "
        f"{sent:>7} {sent // _FRAME:>7}    0    0    0     0       0          0\n"
        for name, (received, sent) in counters.items()
    ]
    return _HEAD + "".join(lines)


def sysfs(ports: tuple[Port, ...]) -> dict[str, str]:
    """Paths and texts of the attributes."""
    files: dict[str, str] = {}
    for port in ports:
        folder = f"sys/class/net/{port.name}"
        files[f"{folder}/operstate"] = f"{port.operstate}\n"
        files[f"{folder}/mtu"] = f"{port.mtu}\n"
        if port.speed is not None:
            files[f"{folder}/speed"] = f"{port.speed}\n"
    return files
