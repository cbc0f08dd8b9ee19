"""HCAs of a GB10 as `/sys/class/infiniband` shows them: four functions of one ConnectX-7, two of them with a cable.

Law: text only, of what it is told. A port has its interface, state, rate, MTU, address and the place of that in the
GID table; counters are given. A slot of the table that holds nothing is all zero and has no files in `gid_attrs`, which
the real kernel shows and refuses to read.
"""

from __future__ import annotations

from collections.abc import Mapping

from dsv41_tui.core.value import Value

ROOT = "sys/class/infiniband"
SLOTS = 16
_EMPTY = ":".join(["0000"] * 8)
_COUNTERS = (
    "port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets", "port_rcv_errors", "port_xmit_discards",
    "port_xmit_wait", "link_downed", "symbol_error",
)  # fmt: skip
_HW_COUNTERS = (
    "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "duplicate_request",
    "implied_nak_seq_err", "out_of_buffer", "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled",
    "roce_adp_retrans", "roce_slow_restart", "rx_icrc_encapsulated", "req_cqe_error", "resp_cqe_error",
)  # fmt: skip
_PACKET = 4096
_BYTES_PER_S = 310_000_000
"""One direction of one port while the pair serves a request."""


class Hca(Value):
    """One function of the card with its one port."""

    device: str
    netdev: str
    guid: str
    system_guid: str
    up: bool = True
    """The interface is set up."""
    cable: bool = True
    rate: str = "200 Gb/sec (4X HDR)"
    mtu: int = 9000
    address: str | None = None
    """IPv4 of the interface."""
    index: int = 2
    """Where the table holds it as RoCE v1; v2 follows."""
    firmware: str = "28.45.4028"

    @property
    def active(self) -> bool:
        return self.up and self.cable


def gb10_hcas(node: int) -> tuple[Hca, ...]:
    """The functions of node `node`: the halves of one QSFP port with a cable, those of the other without."""
    card = f"fc4c:ea03:0011:2{node:03x}"
    made = []
    for domain, function in ((0, 0), (0, 1), (2, 0), (2, 1)):
        prefix = "P2" if domain else ""
        made.append(
            Hca(
                device=f"roce{prefix}p1s0f{function}",
                netdev=f"en{prefix}p1s0f{function}np{function}",
                guid=f"fc4c:ea03:0011:{domain + function + 2:x}{node:03x}",
                system_guid=card,
                cable=function == 0,
                rate="200 Gb/sec (4X HDR)" if function == 0 else "40 Gb/sec (4X QDR)",
                address=f"10.77.{1 + domain}.{10 + node}" if function == 0 else None,
            )
        )
    return tuple(made)


def sysfs(hcas: tuple[Hca, ...]) -> dict[str, str]:
    """Every file of these functions but the counters, by path."""
    files: dict[str, str] = {}
    for hca in hcas:
        device = f"{ROOT}/{hca.device}"
        port = f"{device}/ports/1"
        active = hca.active
        files |= {
            f"{device}/fw_ver": f"{hca.firmware}\n",
            f"{device}/board_id": "NVD0000000087\n",
            f"{device}/hca_type": "MT4129\n",
            f"{device}/node_guid": f"{hca.guid}\n",
            f"{device}/sys_image_guid": f"{hca.system_guid}\n",
            f"{device}/device/net/{hca.netdev}/mtu": f"{hca.mtu}\n",
            f"{device}/device/net/{hca.netdev}/flags": "0x1003\n" if hca.up else "0x1002\n",
            f"{port}/state": "4: ACTIVE\n" if active else "1: DOWN\n",
            f"{port}/phys_state": "5: LinkUp\n" if active else "3: Disabled\n",
            f"{port}/rate": f"{hca.rate}\n",
            f"{port}/link_layer": "Ethernet\n",
        }
        files |= {f"{port}/{place}": f"{text}\n" for place, text in _gids(hca).items()}
    return files


def _gids(hca: Hca) -> dict[str, str]:
    """The table: link-local v1 and v2 first, as mlx5 has it, then the address."""
    entries: dict[int, tuple[str, str]] = {}
    if hca.up:
        local = f"fe80:0000:0000:0000:{hca.guid}"
        entries |= {0: (local, "IB/RoCE v1"), 1: (local, "RoCE v2")}
    if hca.active and hca.address is not None:
        a, b, c, d = (int(part) for part in hca.address.split("."))
        mapped = f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"
        entries |= {hca.index: (mapped, "IB/RoCE v1"), hca.index + 1: (mapped, "RoCE v2")}
    files = {f"gids/{index}": _EMPTY for index in range(SLOTS)}
    for index, (gid, kind) in entries.items():
        files |= {f"gids/{index}": gid, f"gid_attrs/types/{index}": kind, f"gid_attrs/ndevs/{index}": hca.netdev}
    return files


def counters(hca: Hca, values: Mapping[str, int]) -> dict[str, str]:
    """Files of the counters that `values` names; of all of them where it is empty, at zero."""
    port = f"{ROOT}/{hca.device}/ports/1"
    names = values or dict.fromkeys((*_COUNTERS, *_HW_COUNTERS), 0)
    return {
        f"{port}/{'counters' if name in _COUNTERS else 'hw_counters'}/{name}": f"{value}\n"
        for name, value in names.items()
    }


def serving(t: float, *, share: float = 1.0) -> dict[str, int]:
    """Counters that move on a port while the pair serves; data in units of four bytes."""
    sent = int(t * _BYTES_PER_S * share)
    return {
        "port_rcv_data": sent // 4,
        "port_xmit_data": sent // 4,
        "port_rcv_packets": sent // _PACKET,
        "port_xmit_packets": sent // _PACKET,
    }


def limits(memlock: str = "unlimited") -> str:
    """`/proc/PID/limits` of a container's first process, as far as anybody reads it."""
    return (
        f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}Units\n"
        f"{'Max open files':<26}{'1048576':<21}{'1048576':<21}files\n"
        f"{'Max locked memory':<26}{memlock:<21}{memlock:<21}bytes\n"
    )
