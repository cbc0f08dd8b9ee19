"""HCAs and their ports, of `/sys/class/infiniband/DEV/*` and `ports/N/*`, by path.

`state` and `phys_state` are `NUMBER: NAME`, `rate` is `200 Gb/sec (4X HDR)`, a GID is eight groups of four hex digits.
An unused slot of the GID table is all zero, and its `gid_attrs` answer EINVAL, so they are not among the files. The
netdev is named by the folder `device/net/NAME` (mlx5), by `gid_attrs/ndevs/N`, or by `parent` (rxe). A ConnectX-7 port
says `Disabled` both without a cable and when its netdev is set down; the flags of the netdev tell these apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsv41_tui.core.rdma import Gid, RdmaPort
from dsv41_tui.parsers._fields import readable, wrong

_ROOT = "/sys/class/infiniband/"
_PORT = re.compile(r"/sys/class/infiniband/([A-Za-z0-9_.-]{1,64})/ports/([0-9]{1,3})/(.{1,80})")
_DEVICE = re.compile(r"/sys/class/infiniband/([A-Za-z0-9_.-]{1,64})/(?!ports/)(.{1,120})")
_NAMED = re.compile(r"[0-9]{1,2}: ?([A-Za-z][A-Za-z _]{0,40})")
_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,3})?) Gb/sec.{0,40}")
_GID = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}")
_GUID = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){3}")
_EMPTY = ":".join(["0000"] * 8)
_NETDEV = re.compile(r"[^\s/]{1,16}")


def parse_rdma(files: Mapping[str, str]) -> tuple[RdmaPort, ...]:
    """Every port whose `state` was read, by device and number; empty on a node without an HCA.

    `roceP2p1s0f0` comes behind `rocep1s0f0`: it is the second half of the same card.

    What a device does not tell (rxe lacks several files) is None. Raises ParseError for a malformed state or GID.
    """
    ports: dict[tuple[str, int], dict[str, str]] = {}
    devices: dict[str, dict[str, str]] = {}
    for path, raw in files.items():
        if not path.startswith(_ROOT) or (text := readable(raw)) is None:
            continue
        if match := _PORT.fullmatch(path):
            ports.setdefault((match[1], int(match[2])), {})[match[3]] = text
        elif match := _DEVICE.fullmatch(path):
            devices.setdefault(match[1], {})[match[2]] = text
    return tuple(
        _port(device, number, found, devices.get(device, {}))
        for (device, number), found in sorted(ports.items(), key=lambda item: (item[0][0].lower(), item[0]))
        if "state" in found
    )


def _port(device: str, number: int, files: Mapping[str, str], card: Mapping[str, str]) -> RdmaPort:
    gids = _gids(device, files)
    netdev, mtu = _netdev(gids, card)
    return RdmaPort(
        device=device,
        port=number,
        state=_named(device, "state", files.get("state")),
        physical_state=_named(device, "phys_state", files.get("phys_state")),
        rate_gbit=_rate(files.get("rate")),
        link_layer=files.get("link_layer"),
        netdev=netdev,
        netdev_mtu=mtu,
        netdev_up=_is_up(card.get(f"device/net/{netdev}/flags", "")),
        gids=gids,
        firmware=card.get("fw_ver"),
        hca_type=card.get("hca_type"),
        board_id=card.get("board_id"),
        node_guid=_guid(card.get("node_guid")),
        system_guid=_guid(card.get("sys_image_guid")),
    )


def _named(device: str, name: str, text: str | None) -> str | None:
    """`4: ACTIVE` is ACTIVE."""
    if text is None:
        return None
    match = _NAMED.fullmatch(text)
    if match is None:
        raise wrong(f"{_ROOT}{device}/{name}", text, "a state such as 4: ACTIVE")
    return match[1]


def _rate(text: str | None) -> float | None:
    match = _RATE.fullmatch(text or "")
    return float(match[1]) if match else None


def _is_up(flags: str) -> bool | None:
    """Whether IFF_UP is among the interface's flags: what the administrator wants, not what the cable gives."""
    return bool(int(flags, 16) & 1) if re.fullmatch("0x[0-9a-f]{1,8}", flags) else None


def _guid(text: str | None) -> str | None:
    return text if text is not None and _GUID.fullmatch(text) else None


def _gids(device: str, files: Mapping[str, str]) -> tuple[Gid, ...]:
    """Entries that are in use, by index."""
    found = []
    for name, text in files.items():
        kind, _, index = name.partition("/")
        if kind != "gids" or not re.fullmatch("[0-9]{1,4}", index) or text == _EMPTY:
            continue
        if not _GID.fullmatch(text):
            raise wrong(f"{_ROOT}{device}/gids/{index}", text, "eight groups of four hex digits")
        found.append(
            Gid(
                index=int(index),
                gid=text,
                type=files.get(f"gid_attrs/types/{index}"),
                netdev=files.get(f"gid_attrs/ndevs/{index}"),
            )
        )
    return tuple(sorted(found, key=lambda gid: gid.index))


def _netdev(gids: tuple[Gid, ...], card: Mapping[str, str]) -> tuple[str | None, int | None]:
    """The interface below a port, and its MTU where the device link shows it.

    A GID of a VLAN names the VLAN's interface, so the device's own one goes first.
    """
    for name, text in card.items():
        if match := re.fullmatch(r"device/net/([^/]{1,16})/mtu", name):
            return match[1], int(text) if re.fullmatch("[0-9]{1,6}", text) else None
    named = [gid.netdev for gid in gids if gid.netdev] or [card.get("parent", "")]
    return (named[0], None) if _NETDEV.fullmatch(named[0] or "") else (None, None)
