"""What parsers return: one reading of one source, in bytes, seconds and counts as the kernel gives them.

`None` means the kernel did not say; it is never 0. Grammars and traps: docs/formats.md.
"""

from __future__ import annotations

from dsv41_tui.core.value import Value

GIB = 1 << 30
MIB = 1 << 20


class Memory(Value):
    """`/proc/meminfo`, all in bytes. On a GB10 this is also the GPU's memory."""

    total: int | None = None
    free: int | None = None
    available: int | None = None
    buffers: int | None = None
    cached: int | None = None
    """Contains `shmem`; never subtract both from the total."""
    swap_cached: int | None = None
    anon: int | None = None
    mapped: int | None = None
    shmem: int | None = None
    slab: int | None = None
    kernel_stack: int | None = None
    page_tables: int | None = None
    sec_page_tables: int | None = None
    percpu: int | None = None
    vmalloc_used: int | None = None
    hugetlb: int | None = None
    """Pages reserved for hugetlb, in bytes (`HugePages_Total` x `Hugepagesize`)."""
    mlocked: int | None = None
    dirty: int | None = None
    writeback: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None
    cma_total: int | None = None
    cma_free: int | None = None

    @property
    def kernel(self) -> int | None:
        """Bytes the kernel holds for itself: slab, stacks, page tables, per-CPU, vmalloc."""
        parts = (
            self.slab, self.kernel_stack, self.page_tables, self.sec_page_tables, self.percpu, self.vmalloc_used,
        )  # fmt: skip
        known = [part for part in parts if part is not None]
        return sum(known) if self.slab is not None else None

    @property
    def page_cache(self) -> int | None:
        """Bytes of file cache, without tmpfs and shared memory, which only swap can reclaim."""
        if self.cached is None:
            return None
        return max(0, self.cached + (self.buffers or 0) + (self.swap_cached or 0) - (self.shmem or 0))

    @property
    def driver(self) -> int | None:
        """Bytes that no process and no cache accounts for: on a GB10 the GPU and its driver.

        The remainder of the total, so an error of the other lines lands here; never below 0.
        """
        if None in (self.total, self.free, self.cached, self.anon, self.kernel):
            return None
        assert self.total is not None and self.free is not None and self.cached is not None
        assert self.anon is not None and self.kernel is not None
        rest = self.total - self.free - (self.buffers or 0) - self.cached - (self.swap_cached or 0)
        return max(0, rest - self.anon - self.kernel - (self.hugetlb or 0))

    @property
    def cma_leaked(self) -> bool:
        """`CmaFree` above `CmaTotal`: the Kexec HandOver fault of 7.0.0 kernels gave pages away as CMA."""
        return self.cma_total is not None and self.cma_free is not None and self.cma_free > self.cma_total


class Pressure(Value):
    """`/proc/pressure/memory`: shares of wall time in percent, totals in microseconds since boot."""

    some_avg10: float
    full_avg10: float | None = None
    some_total_us: int | None = None
    full_total_us: int | None = None


class Host(Value):
    """What changes only at a boot."""

    boot_id: str | None = None
    kernel: str | None = None
    """`uname -r`."""
    command_line: str | None = None
    hostname: str | None = None
    machine: str | None = None
    """`uname -m`."""
    product: str | None = None
    """DMI product name, where the node shows it."""

    @property
    def kho_off(self) -> bool | None:
        """True when the kernel command line switches Kexec HandOver off; None when unread."""
        return None if self.command_line is None else "kho=off" in self.command_line.split()


class NetInterface(Value):
    """One line of `/proc/net/dev`, with speed and state from sysfs where known."""

    name: str
    rx_bytes: int
    tx_bytes: int
    rx_dropped: int = 0
    speed_mbit: int | None = None
    operstate: str | None = None
    mtu: int | None = None


class MountEntry(Value):
    """One line of `/proc/self/mountinfo`."""

    mount_point: str
    source: str
    fstype: str
    device: str
    """`major:minor`; joins bind mounts and several mounts of one export."""
    root: str = "/"
    read_only: bool = False
    options: dict[str, str] = {}
    """Super block options; an option without a value maps to ''."""


class Transport(Value):
    """One `xprt:` line of mountstats, one connection to the server."""

    protocol: str
    connect_count: int | None = None
    idle_s: int | None = None
    sends: int
    receives: int
    backlog: int = 0


class OpStats(Value):
    """Per-operation counters since mount; times are cumulative milliseconds."""

    ops: int = 0
    transmissions: int = 0
    timeouts: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    queue_ms: int = 0
    rtt_ms: int = 0
    execute_ms: int = 0
    errors: int = 0


class MountStats(Value):
    """One NFS block of `/proc/self/mountstats`."""

    mount_point: str
    source: str
    fstype: str
    age_s: int | None = None
    options: dict[str, str] = {}
    server_read_bytes: int | None = None
    """Bytes that crossed the wire (`bytes:` number 4), not what programs read."""
    server_write_bytes: int | None = None
    transports: tuple[Transport, ...] = ()
    read: OpStats = OpStats()
    """READ plus READ_PLUS: on v4.2 the kernel may count all reads under READ_PLUS."""
    total: OpStats = OpStats()
    """Sum over all operations."""

    @property
    def sends(self) -> int:
        return sum(transport.sends for transport in self.transports)

    @property
    def receives(self) -> int:
        return sum(transport.receives for transport in self.transports)


class FstabEntry(Value):
    """One NFS line of `/etc/fstab`: what the operator asked for."""

    source: str
    mount_point: str
    fstype: str
    options: dict[str, str] = {}


class DockerVolume(Value):
    """A docker volume of the local driver that is an NFS mount while a container uses it."""

    name: str
    mount_point: str
    """Host path where it is mounted while in use."""
    source: str
    """server:/path as docker will mount it."""
    fstype: str
    options: dict[str, str] = {}


class Gpu(Value):
    """One line of our `nvidia-smi` query; a GB10 gives no memory figures."""

    name: str | None = None
    driver: str | None = None
    utilization_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    sm_clock_mhz: float | None = None
    memory_used_bytes: int | None = None


class ShmUse(Value):
    """`/dev/shm`: size of the filesystem and of what lies there, bytes; owners of segments."""

    size: int | None = None
    used: int | None = None
    owners: tuple[str, ...] = ()
    """Distinct owners (user names or uids) of files there."""


class Logind(Value):
    """Settings of systemd-logind that decide what survives a logout."""

    remove_ipc: bool | None = None
    kill_user_processes: bool | None = None
    linger: bool | None = None
    user: str | None = None
    uid: int | None = None


class RaidArray(Value):
    """One array of `/proc/mdstat`."""

    name: str
    level: str
    active: bool
    members: int | None = None
    working: int | None = None
    degraded: bool = False
    action: str | None = None
    """recovery, resync, check, reshape, or None."""
    progress_percent: float | None = None
    eta_s: float | None = None


class Bond(Value):
    """One `/proc/net/bonding/NAME`."""

    name: str
    mode: str
    members_up: int
    members: int
    speed_mbit: int | None = None
    """Sum of the members that are up."""


class NasServer(Value):
    """What a NAS tells of its NFS server."""

    nfsd_threads: int | None = None
    versions: tuple[str, ...] = ()
    """Protocol versions switched on, such as "3", "4.1"."""
    max_block_bytes: int | None = None
    raid: tuple[RaidArray, ...] = ()
    bonds: tuple[Bond, ...] = ()
    ssd_cache: str | None = None
    """In the NAS's own words, where it tells."""


class ClockOffset(Value):
    """The node's wall clock minus the operator's, and how sure that is."""

    offset_s: float
    uncertainty_s: float
