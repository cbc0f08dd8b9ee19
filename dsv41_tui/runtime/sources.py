"""What is read from a node, how often, from which files or by which command, and which parser understands it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.events import ReadingName
from dsv41_tui.core.messages import t
from dsv41_tui.core.model import NodeState
from dsv41_tui.parsers.docker_volumes import parse_docker_volumes
from dsv41_tui.parsers.fstab import parse_fstab
from dsv41_tui.parsers.host import parse_host
from dsv41_tui.parsers.logind import parse_logind
from dsv41_tui.parsers.meminfo import parse_meminfo
from dsv41_tui.parsers.mountinfo import parse_mountinfo
from dsv41_tui.parsers.mountstats import parse_mountstats
from dsv41_tui.parsers.nas import parse_nas
from dsv41_tui.parsers.netdev import parse_net
from dsv41_tui.parsers.pressure import parse_pressure
from dsv41_tui.parsers.proc_limits import parse_proc_limits
from dsv41_tui.parsers.rdma import parse_rdma
from dsv41_tui.parsers.rdma_counters import parse_rdma_counters
from dsv41_tui.parsers.shm import parse_shm
from dsv41_tui.transport.scripts import quote

UPTIME = "/proc/uptime"
PROBE_PERIOD_S = 2.0
PROBE_LIMIT_S = 2
"""Probe period, probe limit and one tick of mountstats together keep a hung mount below 6 s to the screen."""

Files = Mapping[str, str]


@dataclass(frozen=True)
class FileSource:
    """A reading made of files, taken by the collector."""

    name: ReadingName
    period_s: float
    paths: tuple[str, ...]
    parse: Callable[[Files], object]
    roles: frozenset[str] = frozenset({"head", "worker", "nas"})
    needs: str | None = None
    """The file without which there is no reading."""
    slow: tuple[str, ...] = ()
    """Files of the same reading that change rarely or cost more: read each `slow_period_s` and kept between."""
    slow_period_s: float = 0.0


@dataclass(frozen=True)
class JobSource:
    """A reading made by a command, taken by the runner under a time limit."""

    name: ReadingName
    period_s: float
    limit_s: int
    command: str
    """Shell text; `{root}` becomes the node's path prefix, quoted."""
    parse: Callable[[str], object]
    roles: frozenset[str] = frozenset({"head", "worker"})


def _only(path: str, parse: Callable[[str], object]) -> Callable[[Files], object]:
    return lambda files: parse(files[path])


_HOST_FILES = {
    "boot_id": "/proc/sys/kernel/random/boot_id",
    "osrelease": "/proc/sys/kernel/osrelease",
    "cmdline": "/proc/cmdline",
    "hostname": "/proc/sys/kernel/hostname",
    "machine": "/proc/sys/kernel/arch",
    "product": "/sys/class/dmi/id/product_name",
}


def _host(files: Files) -> object:
    return parse_host({key: files[path] for key, path in _HOST_FILES.items() if path in files})


def _net(files: Files) -> object:
    attributes: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if path.startswith("/sys/class/net/") and path.count("/") == 5:
            interface, attribute = path.split("/")[4:6]
            attributes.setdefault(interface, {})[attribute] = text
    return parse_net(files["/proc/net/dev"], attributes)


_NET_ATTRIBUTES = ("/sys/class/net/*/speed", "/sys/class/net/*/operstate", "/sys/class/net/*/mtu")
"""Reading a port's speed asks its driver, so it is done rarely."""

_HCA = "/sys/class/infiniband/*"
_HCA_PORT = f"{_HCA}/ports/*"
_PORT_STATE = (
    *(f"{_HCA_PORT}/{name}" for name in ("state", "phys_state", "rate", "link_layer")),
    f"{_HCA}/device/net/*/flags",
)
_PORT_IDENTITY = tuple(
    f"{_HCA}/{name}"
    for name in ("fw_ver", "board_id", "hca_type", "node_guid", "sys_image_guid", "parent", "device/net/*/mtu")
)
_GIDS = tuple(
    f"{_HCA_PORT}/{table}/{slots}"
    for table in ("gids", "gid_attrs/types", "gid_attrs/ndevs")
    for slots in ("[0-9]", "1[0-5]")
)
"""The first sixteen slots: a table has 255 to 1,024 of them, each read is a call, and nobody uses a higher one."""
_COUNTERS = (
    "link_downed port_rcv_errors port_xmit_discards port_rcv_data port_xmit_data port_rcv_packets port_xmit_packets "
    "port_xmit_wait symbol_error"
)
_HW_COUNTERS = (
    "out_of_sequence packet_seq_err local_ack_timeout_err rnr_nak_retry_err duplicate_request implied_nak_seq_err "
    "out_of_buffer np_cnp_sent np_ecn_marked_roce_packets rp_cnp_handled roce_adp_retrans roce_slow_restart "
    "rx_icrc_encapsulated req_cqe_error resp_cqe_error"
)
_RXE_COUNTERS = (
    "link_downed completer_retry_err out_of_seq_request rcvd_rnr_err rcvd_seq_err rcvd_pkts retry_exceeded_err "
    "retry_rnr_exceeded_err send_err sent_pkts"
)
_COUNTER_FILES = tuple(
    f"{_HCA_PORT}/{folder}/{name}"
    for folder, names in (("counters", _COUNTERS), ("hw_counters", f"{_HW_COUNTERS} {_RXE_COUNTERS}"))
    for name in names.split()
)
"""Those that matter: reading all hw_counters of a ConnectX-7 costs its firmware 100 ms."""

_NAS_FILES = (
    "/proc/fs/nfsd/threads",
    "/proc/fs/nfsd/versions",
    "/proc/fs/nfsd/max_block_size",
    "/proc/net/rpc/nfsd",
    "/proc/mdstat",
    "/proc/net/bonding/*",
)

_COMPUTE = frozenset({"head", "worker"})

FILE_SOURCES = (
    FileSource("memory", 1.0, ("/proc/meminfo",), _only("/proc/meminfo", parse_meminfo), needs="/proc/meminfo"),
    FileSource(
        "pressure",
        2.0,
        ("/proc/pressure/memory",),
        _only("/proc/pressure/memory", parse_pressure),
        needs="/proc/pressure/memory",
    ),
    FileSource("net", 2.0, ("/proc/net/dev",), _net, needs="/proc/net/dev", slow=_NET_ATTRIBUTES, slow_period_s=30.0),
    FileSource(
        "mountstats",
        2.0,
        ("/proc/self/mountstats",),
        _only("/proc/self/mountstats", parse_mountstats),
        needs="/proc/self/mountstats",
    ),
    FileSource(
        "mountinfo",
        10.0,
        ("/proc/self/mountinfo",),
        _only("/proc/self/mountinfo", parse_mountinfo),
        needs="/proc/self/mountinfo",
    ),
    FileSource("host", 60.0, tuple(_HOST_FILES.values()), _host),
    FileSource("fstab", 60.0, ("/etc/fstab",), _only("/etc/fstab", parse_fstab), needs="/etc/fstab"),
    FileSource("nas", 10.0, _NAS_FILES, parse_nas, frozenset({"nas"})),
    FileSource("rdma", 2.0, _PORT_STATE, parse_rdma, _COMPUTE, slow=_PORT_IDENTITY + _GIDS, slow_period_s=10.0),
    FileSource("rdma_counters", 5.0, _COUNTER_FILES, parse_rdma_counters, _COMPUTE),
)

JOB_SOURCES = (
    JobSource(
        "volumes",
        60.0,
        10,
        "v=$(docker volume ls -q --filter driver=local 2>&1) || { echo $v; exit 1; }; "
        'if [ -n "$v" ]; then docker volume inspect $v; else echo []; fi',
        parse_docker_volumes,
    ),
    JobSource(
        "shm",
        30.0,
        5,
        "stat -f -c '%S %b %f' {root}/dev/shm && { stat -c %u {root}/dev/shm/* 2>/dev/null | sort -u; }",
        parse_shm,
    ),
    JobSource(
        "logind",
        300.0,
        5,
        "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "
        'KillUserProcesses RemoveIPC; u=$(id -un); loginctl show-user "$u" -p Linger; '
        'echo "user=$u"; echo "uid=$(id -u)"',
        parse_logind,
    ),
)

GPU_PERIOD_S = 5
GPU_COMMAND = (
    "nvidia-smi --query-gpu=name,driver_version,utilization.gpu,temperature.gpu,power.draw,clocks.sm,memory.used "
    f"--format=csv,noheader,nounits -l {GPU_PERIOD_S}"
)


def file_sources(node: NodeConfig) -> tuple[FileSource, ...]:
    """The file readings of a node's role."""
    return tuple(source for source in FILE_SOURCES if node.role in source.roles)


def process_source(node: NodeState) -> FileSource | None:
    """Limits and state of the first process of each running container, once docker named them."""
    engine = node.containers.value
    if engine is None:
        return None
    names = {found.pid: found.name for found in engine.containers if found.state == "running" and found.pid}
    paths = tuple(f"/proc/{pid}/{file}" for pid in sorted(names) for file in ("limits", "stat"))
    return FileSource("processes", 5.0, paths, lambda files: parse_proc_limits(files, names))


def job_sources(node: NodeConfig) -> tuple[JobSource, ...]:
    """The command readings of a node's role."""
    return tuple(source for source in JOB_SOURCES if node.role in source.roles)


def job_command(source: JobSource, root: str) -> str:
    """The command with the node's path prefix put in."""
    return source.command.replace("{root}", quote(root) if root else "")


def probe_command(root: str, mount_point: str) -> str:
    """The time-limited look at a mount: STATFS goes to the server, while plain `stat` is answered from a cache."""
    return f"stat -f -c %T {quote(root + mount_point)}"


def parse_source(source: FileSource, files: Files, errors: Mapping[str, str]) -> object:
    """Value of a file reading; ParseError with the node's own reason when the file it needs was not read."""
    if source.needs is not None and source.needs not in files:
        raise ParseError(f"{source.needs}: {errors.get(source.needs) or t('link.unread')}")
    return source.parse(files)
