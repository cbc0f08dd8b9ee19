"""States of a cluster made by hand, with the figures of real GB10 boxes; NOW is the operator's monotonic clock."""

from __future__ import annotations

from datetime import UTC, datetime

from dsv41_tui.core.finding import Cause, Evidence, Finding, Fix
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import (
    ClusterState,
    Link,
    LowWater,
    NetRate,
    NfsMount,
    NodeRole,
    NodeState,
    Notice,
    Observer,
    Probe,
    Reading,
    Trend,
)
from dsv41_tui.core.readings import (
    GIB,
    MIB,
    Bond,
    Gpu,
    Host,
    Logind,
    Memory,
    MountStats,
    NasServer,
    NetInterface,
    OpStats,
    Pressure,
    RaidArray,
    ShmUse,
    Transport,
)

NOW = 100_000.0
WALL = datetime(2026, 9, 30, 14, 2, 11, tzinfo=UTC)
TOTAL = 130_663_165_952
LIMITS = Limits(nas_link_mbit=10_000)


def g(gib: float) -> int:
    return int(gib * GIB)


def memory(
    *, free: float, available: float, gpu: float, proc: float = 5.4, shm: float = 0.2, kern: float = 3.0
) -> Memory:
    """The page cache is what is left, as it is in a machine."""
    cache = TOTAL - g(free) - g(gpu) - g(proc) - g(shm) - g(kern)
    assert cache >= 0
    return Memory(
        total=TOTAL,
        free=g(free),
        available=g(available),
        buffers=62_709_760,
        cached=cache + g(shm) - 62_709_760 - 188_416,
        swap_cached=188_416,
        anon=g(proc),
        mapped=g(1.2),
        shmem=g(shm),
        slab=g(kern - 0.5),
        kernel_stack=g(0.1),
        page_tables=g(0.1),
        sec_page_tables=1_048_576,
        percpu=26_869_760,
        vmalloc_used=g(0.3) - 1_048_576 - 26_869_760,
        hugetlb=0,
        mlocked=27_754_496,
        dirty=319_488,
        writeback=0,
        swap_total=17_179_865_088,
        swap_free=17_177_505_792,
        cma_total=67_108_864,
        cma_free=62_914_560,
    )


def ok(value: object, *, age: float = 0.4, period: float = 1.0) -> Reading:  # type: ignore[type-arg]
    return Reading(value=value, at=NOW - age, period_s=period)


def trend(values: list[float | None], unit: int = GIB) -> Trend:
    points = tuple(None if value is None else int(value * unit) for value in values)
    return Trend(bucket_s=5.0, last_bucket=int(NOW // 5), points=points)


def falling(start: float, end: float, count: int = 120) -> list[float | None]:
    return [start + (end - start) * index / (count - 1) for index in range(count)]


def node(
    name: str,
    mem: Memory | None,
    *,
    role: NodeRole = "worker",
    rank: int | None = None,
    psi: float = 0.0,
    low_free: float = 3.7,
    low_available: float = 4.1,
    nfs: tuple[NfsMount, ...] = (),
    free_trend: list[float | None] | None = None,
    gpu: Gpu | None = None,
    age: float = 0.4,
    link: Link | None = None,
) -> NodeState:
    free = mem.free / GIB if mem is not None and mem.free is not None else 5.0
    return NodeState(
        name=name,
        role=role,
        rank=rank,
        target=f"zurih@{name}:22",
        link=link or Link(phase="up", since=NOW - 11_520, logins=1, channels=3, channel_limit=6),
        host=ok(
            Host(
                boot_id="3b0c6a0e-5f7e-4f8e-9a53-2f7f3d0c9d11",
                kernel="6.17.0-1029-nvidia",
                command_line="BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro quiet",
                hostname=name,
                machine="aarch64",
                product="NVIDIA_DGX_Spark",
            ),
            age=60,
            period=3600,
        ),
        uptime_s=11_640.0,
        memory=Reading(value=mem, at=NOW - age, period_s=1.0) if mem is not None else Reading(),
        pressure=ok(Pressure(some_avg10=psi * 1.6, full_avg10=psi, some_total_us=812_331, full_total_us=412_220)),
        net=ok(
            (
                NetRate(
                    interface=NetInterface(
                        name="enP7s7",
                        rx_bytes=812_331_112_331,
                        tx_bytes=9_120_334_112,
                        speed_mbit=10_000,
                        operstate="up",
                    ),
                    rx_bytes_per_s=640_000_000.0,
                    tx_bytes_per_s=3_100_000.0,
                ),
            ),
            period=2,
        ),
        mountinfo=ok((), period=2),
        mountstats=ok((), period=2),
        nfs=nfs,
        shm=ok(ShmUse(size=65_331_582_976, used=g(0.14), owners=("root",)), period=10),
        logind=ok(Logind(remove_ipc=True, kill_user_processes=False, linger=True, user="zurih", uid=1000), period=3600),
        gpu=ok(gpu, period=2) if gpu else Reading(),
        low_free=LowWater(value=g(low_free), at=NOW - 3_700),
        low_available=LowWater(value=g(low_available), at=NOW - 3_690),
        free_trend=trend(free_trend if free_trend is not None else [free] * 120),
        observer=Observer(cpu_s=12.3, since=NOW - 1_845, cpu_s_per_min=0.4, bytes_per_s=1_820.0, sessions=1),
    )


GPU_BUSY = Gpu(
    name="NVIDIA GB10", driver="580.95.05", utilization_percent=96, temperature_c=68, power_w=62.41, sm_clock_mhz=2411
)
GPU_IDLE = Gpu(
    name="NVIDIA GB10", driver="580.95.05", utilization_percent=0, temperature_c=44, power_w=9.1, sm_clock_mhz=208
)
GOT = {
    "vers": "4.2", "rsize": "1048576", "wsize": "1048576", "hard": "", "proto": "tcp", "timeo": "600",
    "retrans": "2", "sec": "sys", "addr": "192.168.50.20",
}  # fmt: skip
GOT_HEAD = GOT | {"addr": "10.0.0.1"}
ASKED = {"nfsvers": "4.2", "ro": "", "nconnect": "8", "rsize": "1048576", "wsize": "1048576", "hard": ""}


def mount(
    place: str = "/models",
    *,
    source: str = "nas:/models",
    rate: float | None = 0.0,
    read: float = 96.2,
    state: str = "idle",
    since: float = 600.0,
    connections: int = 8,
    rtt: float | None = 0.8,
    execute: float | None = 1.1,
    repeated: int = 0,
    got: dict[str, str] | None = None,
    asked: dict[str, str] | None = None,
    volume: str | None = None,
    mounted: bool = True,
    probe: Probe | None = None,
    rates: list[float | None] | None = None,
) -> NfsMount:
    each = 151_500 // connections
    stats = MountStats(
        mount_point=place,
        source=source,
        fstype="nfs4",
        age_s=86_400,
        server_read_bytes=g(read),
        server_write_bytes=0,
        transports=tuple(
            Transport(protocol="tcp", connect_count=1, idle_s=0, sends=each, receives=each) for _ in range(connections)
        ),
        read=OpStats(ops=100_000, transmissions=100_000 + repeated, rtt_ms=1_900_000, execute_ms=2_600_000),
        total=OpStats(ops=101_000, transmissions=101_000 + repeated),
    )
    return NfsMount(
        mount_point=place,
        source=source,
        fstype="nfs4",
        device=f"0:{len(place)}",
        volume=volume,
        read_only=True,
        got=(GOT if got is None else got) if mounted else {},
        asked=ASKED if asked is None else asked,
        asked_source=f"docker volume {volume}" if volume else "/etc/fstab",
        mounted=mounted,
        stats=stats if mounted else None,
        stats_at=NOW - 1.2 if mounted else None,
        read_bytes_per_s=None if rate is None else rate * MIB,
        rtt_ms=rtt,
        execute_ms=execute,
        retrans_per_s=0.0,
        probe=probe,
        last_probe=probe or Probe(started_at=NOW - 3, ended_at=NOW - 2.99, outcome="ok", took_s=0.011),
        state=state,  # type: ignore[arg-type]
        state_since=NOW - since,
        trend=trend(rates if rates is not None else [rate or 0.0] * 120, MIB),
    )


def nas_node(*, degraded: bool = False) -> NodeState:
    raid = RaidArray(
        name="md1",
        level="raid5",
        active=True,
        members=4,
        working=3 if degraded else 4,
        degraded=degraded,
        action="recovery" if degraded else None,
        progress_percent=42.0 if degraded else None,
        eta_s=4_440.0 if degraded else None,
    )
    told = NasServer(
        nfsd_threads=16,
        versions=("3", "4.1"),
        max_block_bytes=1 << 20,
        raid=(raid,),
        bonds=(Bond(name="bond0", mode="802.3ad", members_up=1, members=2, speed_mbit=10_000),),
    )
    base = node("nas", None, role="nas")
    return base.model_copy(
        update={
            "nas": ok(told, period=10), "target": "admin@192.168.50.20:22", "gpu": Reading(), "shm": Reading(),
            "pressure": Reading(), "logind": Reading(), "low_free": None, "low_available": None,
            "free_trend": Trend(),
        }
    )  # fmt: skip


def cluster(*nodes: NodeState, name: str = "lab", notices: tuple[Notice, ...] = ()) -> ClusterState:
    return ClusterState(name=name, started_at=NOW - 11_520, limits=LIMITS, nodes=nodes, notices=notices)


def healthy() -> ClusterState:
    """Serving: little is free and nothing is wrong."""
    half: list[float | None] = [0.0] * 60 + [612.0] * 60
    return cluster(
        node(
            "spark1", memory(free=5.3, available=6.4, gpu=106.2), role="head", rank=0, gpu=GPU_BUSY,
            nfs=(mount(), mount("/engram", source="spark1:/dsv41-engram", read=11.8, rtt=0.4, got=GOT_HEAD)),
        ),
        node(
            "spark2", memory(free=7.1, available=8.6, gpu=105.0, proc=4.6), rank=1, gpu=GPU_BUSY, low_free=5.8,
            low_available=6.8, nfs=(mount(rate=612, state="fine", read=163.3, rtt=1.1, execute=1.4, rates=half),),
        ),
        nas_node(),
    )  # fmt: skip


def page_cache() -> ClusterState:
    """After a copy of two shards the page cache holds what the driver needs."""
    fall: list[float | None] = [*falling(30, 1.1, 90), *[1.1] * 30]
    return cluster(
        node(
            "spark1", memory(free=107.8, available=110.2, gpu=1.3, proc=5.9, kern=3.1), role="head", rank=0,
            gpu=GPU_IDLE, low_free=58.4, low_available=61.2, nfs=(mount(),),
        ),
        node(
            "spark2", memory(free=1.1, available=108.0, gpu=1.4, proc=5.5, kern=4.5), rank=1, gpu=GPU_IDLE, psi=6.2,
            low_free=0.9, low_available=104.0, free_trend=fall,
            nfs=(mount(rate=612, state="fine", read=163.3),),
        ),
        nas_node(degraded=True),
    )  # fmt: skip


def hung_mount(place: str = "/models", *, since: float = 14.0, rate: float = 0.0) -> NfsMount:
    probe = Probe(started_at=NOW - since, outcome="waiting", receives_baseline=151_400)
    ended = Probe(started_at=NOW - since, ended_at=NOW - since + 5, outcome="timeout", took_s=5.0)
    made = mount(place, rate=rate, state="not-responding", since=since, repeated=3, probe=probe)
    return made.model_copy(update={"last_probe": ended, "retrans_per_s": 0.2})


def nas_down() -> ClusterState:
    """The NAS answers nobody; both nodes wait, and the NAS itself is not reached."""
    state = healthy()
    spark1, spark2, nas = state.nodes
    return state.model_copy(
        update={
            "nodes": (
                spark1.model_copy(update={"nfs": (hung_mount(), spark1.nfs[1])}),
                spark2.model_copy(update={"nfs": (hung_mount(since=12.0),)}),
                nas.model_copy(
                    update={
                        "link": Link(
                            phase="waiting",
                            since=NOW - 3,
                            kind="unreachable",
                            why="connect to 192.168.50.20 port 22: no route to host",
                            retry_at=NOW + 9,
                            down_since=NOW - 16,
                        ),
                        "nas": nas.nas.model_copy(update={"at": NOW - 17.0}),
                        "net": nas.net.model_copy(update={"at": NOW - 17.0}),
                    }
                ),
            )
        }
    )


HOST_KEY = Link(
    phase="waiting",
    since=NOW - 40,
    kind="refused",
    why="the host key of spark3 changed: SHA256:4vX1cTgqmZr2hYB0o1dQ3s5w7u9yAbCdEfGhIjKlMn0 (ED25519)",
    fix=(
        "ssh-keygen -R spark3",
        "ssh-keyscan -t ed25519 spark3 >> ~/.ssh/known_hosts  # compare with: "
        "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub on spark3",
    ),
    retry_at=NOW + 260,
    down_since=NOW - 300,
)


def broken_up() -> ClusterState:
    """One node late, one refused, one that was never read; one has rebooted."""
    state = healthy()
    spark1, spark2, _ = state.nodes
    late = spark2.model_copy(
        update={
            "memory": spark2.memory.model_copy(update={"at": NOW - 14}),
            "pressure": spark2.pressure.model_copy(update={"at": NOW - 14}),
            "gpu": spark2.gpu.model_copy(update={"at": NOW - 14}),
            "mountstats": spark2.mountstats.model_copy(update={"at": NOW - 14}),
        }
    )
    refused = NodeState(name="spark3", rank=2, target="zurih@spark3:22", link=HOST_KEY)
    connecting = NodeState(
        name="spark4", rank=3, target="zurih@spark4:22", link=Link(phase="connecting", since=NOW - 1)
    )
    notice = Notice(at=NOW - 130, node="spark1", kind="rebooted")
    return cluster(spark1, late, refused, connecting, notices=(notice,))


def many(count: int = 64) -> ClusterState:
    """A large cluster with a few nodes in trouble, at fixed places."""
    nodes = []
    for index in range(count):
        name = f"gb{index + 1:02d}"
        free, available = 5.0 + index % 4, 6.5 + index % 4
        mem = memory(free=free, available=available, gpu=104.0)
        link = None
        age = 0.4
        if index == 11:
            mem = memory(free=1.0, available=1.3, gpu=109.0)
        elif index == 22:
            mem = memory(free=2.0, available=2.6, gpu=108.0)
        elif index == 30:
            age = 14.0
        elif index == 41:
            link = Link(
                phase="waiting", kind="timed-out", why="no answer within 10 s", since=NOW - 5, down_since=NOW - 75
            )
        role: NodeRole = "head" if index == 0 else "worker"
        place = mount(rate=9.5, state="fine", rtt=2.3)
        nodes.append(node(name, mem, role=role, rank=index, nfs=(place,), gpu=GPU_BUSY, age=age, link=link))
    return cluster(*nodes, name="hall")


def chinese() -> ClusterState:
    """Names and paths in ideographs, as people have them."""
    state = healthy()
    spark1, spark2, nas = state.nodes
    place = mount("/mnt/模型倉庫/權重", source="nas:/模型倉庫", rate=612, state="fine", read=163.3)
    return state.model_copy(
        update={"name": "實驗室", "nodes": (spark1, spark2.model_copy(update={"nfs": (place,)}), nas)}
    )


CACHE_FINDING = Finding(
    id="memory-page-cache",
    severity="error",
    title="RDMA registration will fail: page cache holds 109.0 GiB, MemFree is 1.1 GiB",
    cause_id="mem_page_cache_pressure",
    causes=(
        Cause(
            cause_id="mem_page_cache_pressure",
            likelihood="confirmed",
            why="MemFree 1.1 GiB while page cache is 109.0 GiB; MemAvailable counts cache, the driver cannot take it",
        ),
        Cause(
            cause_id="kernel_kho_cma",
            likelihood="ruled-out",
            why="CmaFree 60 MiB is not above CmaTotal 64 MiB; kernel is 6.17, not 7.0",
        ),
        Cause(cause_id="memlock_limit", likelihood="possible", why="the limit of the container is not read"),
    ),
    evidence=(
        Evidence(source="/proc/meminfo", reading="MemFree 1.1 GiB, MemAvailable 108.0 GiB, Cached 109.2 GiB"),
        Evidence(source="uname -r", reading="6.17.0-1029-nvidia"),
        Evidence(source="docker logs", line="NCCL WARN Call to ibv_reg_mr_iova2 failed: Cannot allocate memory"),
    ),
    fix=Fix(
        text="Release the two files from the cache, about 1 s, no root needed. Then start again.",
        commands=(
            "dd if=/data/engram-src/model-00047-of-00048.safetensors iflag=nocache count=0 status=none",
            "dd if=/data/engram-src/model-00048-of-00048.safetensors iflag=nocache count=0 status=none",
        ),
        restart=True,
    ),
    node="spark2",
    pane="memory",
)
HUNG_FINDING = Finding(
    id="nfs-not-responding",
    severity="error",
    title="NFS server nas does not respond: /models waits since 14 s, no reply over 8 connections",
    fix=Fix(text="Look at the NAS: power, link, nfsd.", commands=("ping -c 3 192.168.50.20",)),
    node="spark1",
    pane="nfs",
)
SLOW_FINDING = Finding(
    id="nfs-nconnect-ignored",
    severity="warn",
    title="nconnect 8 was asked for, 1 obtained: another mount of nas came first",
    fix=Fix(text="Unmount both, mount the one with nconnect first.", commands=("sudo umount /models",)),
    node="spark2",
    pane="nfs",
)
