"""HCAs, their ports, GID tables and counters, as sysfs gives them. Unknown is None, never 0."""

from __future__ import annotations

from dsv41_tui.core.value import Value


class Gid(Value):
    """One entry of a port's GID table."""

    index: int
    gid: str
    """Eight groups of four hex digits."""
    type: str | None = None
    """`IB/RoCE v1` or `RoCE v2`; None where the node would not say."""
    netdev: str | None = None

    @property
    def ipv4(self) -> str | None:
        """The address of an IPv4-mapped GID."""
        groups = self.gid.split(":")
        if len(groups) != 8 or groups[:5] != ["0000"] * 5 or groups[5].lower() != "ffff":
            return None
        number = int(groups[6] + groups[7], 16)
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


class RdmaPort(Value):
    """One port of one HCA. Source: `/sys/class/infiniband/DEV/ports/N/*` and its netdev."""

    device: str
    port: int = 1
    state: str | None = None
    """ACTIVE, DOWN, INIT, ARMED."""
    physical_state: str | None = None
    """LinkUp, Polling, Disabled, ..."""
    rate_gbit: float | None = None
    """A down port shows a placeholder: of use only while it is ACTIVE."""
    link_layer: str | None = None
    netdev: str | None = None
    netdev_mtu: int | None = None
    """Bytes of the Ethernet layer."""
    netdev_speed_mbit: int | None = None
    netdev_up: bool | None = None
    """Set up by its administrator, whether or not a cable is in; None where the device does not link its netdev."""
    active_mtu: int | None = None
    """Bytes of the RDMA layer, told by the device or derived from `netdev_mtu`."""
    gids: tuple[Gid, ...] = ()
    """Only those in use."""
    firmware: str | None = None
    hca_type: str | None = None
    board_id: str | None = None
    node_guid: str | None = None
    system_guid: str | None = None
    """The same for all functions of one card."""


class RdmaCounters(Value):
    """Counters of one port by their name in sysfs; data counters in bytes, already times four."""

    device: str
    port: int = 1
    values: dict[str, int] = {}


class PortRate(Value):
    """One HCA port: its state, and its counters as rates over the node's own elapsed time."""

    port: RdmaPort
    first_gids: tuple[str, ...] = ()
    """`INDEX GID TYPE NETDEV` as they were at the first reading of this boot: what drifted since shows."""
    per_s: dict[str, float] = {}
    """By sysfs name, a second; data in bytes. Absent where a counter went back or was read once only."""
    since_start: dict[str, int] = {}
    """Growth of the counters since the panel connected to this boot."""
