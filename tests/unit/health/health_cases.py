"""The table: a state, and exactly the findings that it must give as (id, severity, node). Nothing more is allowed.

A case with `spares` is a counter-example of those kinds: it comes near and must not give them.
"""

from __future__ import annotations

from engine_cases import ENGINE
from health_builders import (
    GOT,
    NOW,
    cluster,
    down,
    failed,
    host,
    hung,
    memory,
    mount,
    nas,
    node,
    one,
    ports,
    pressure,
    reader,
    reading,
    stats,
    told,
)
from health_case import Case, only
from rdma_cases import RDMA

from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, Link, Notice, Probe
from dsv41_tui.core.readings import GIB, Bond, Logind, RaidArray, ShmUse

MIB = 1 << 20


PAGE_CACHE = {"free": int(1.1 * GIB), "available": 108 * GIB, "cached": 109 * GIB, "shmem": 0, "anon": 2 * GIB}
LEAK = {"cma_total": 0, "cma_free": int(9.3 * GIB)}


def array(**changes: object) -> RaidArray:
    return RaidArray(**{"name": "md1", "level": "raid5", "active": True, "members": 4, "working": 4, **changes})  # type: ignore[arg-type]


def probe(outcome: str, **changes: object) -> Probe:
    values = {"started_at": NOW - 3, "ended_at": NOW - 1, "outcome": outcome, "took_s": 2.0, **changes}
    return Probe(**values)  # type: ignore[arg-type]


def shm(*owners: str, used: float = 1.0) -> object:
    return reading(ShmUse(size=60 * GIB, used=int(used * GIB), owners=owners), period_s=30)


def logind(**changes: object) -> object:
    values = {"remove_ipc": True, "linger": False, "user": "dsv", "uid": 1000, **changes}
    return reading(Logind(**values), period_s=300)  # type: ignore[arg-type]


def volume(asked: str, **changes: object) -> object:
    values = {
        "mount_point": "/var/lib/docker/volumes/w/_data",
        "volume": "w",
        "mounted": False,
        "state": "unused",
        "source": "nas:/models",
        "asked_source": "docker volume w",
        "device": None,
        "stats": None,
    }
    return mount("", asked, **{**values, **changes})


FIRST = mount(GOT.replace(",nconnect=8", ""), mount_point="/home/nas", device="0:49", stats=stats(connections=1))
LATER = mount(GOT.replace(",nconnect=8", ""), "nconnect=8", stats=stats(connections=1))

LINK = [
    Case(
        "healthy",
        cluster(),
        spares=(
            "memory-available-low",
            "memory-page-cache",
            "memory-kho-cma",
            "nfs-not-responding",
            "nfs-slow",
            "nas-nfsd-threads",
            "nas-nfsd-stopped",
            "nas-raid-degraded",
            "shm-remove-ipc",
            "nfs-version",
            "host-kernel-kho",
            "nfs-soft-mount",
        ),
    ),
    Case(
        "refused login",
        one(link=down("refused", "key refused", "ssh-copy-id dsv@spark2")),
        only("link-refused", "warn"),
    ),
    Case(
        "unreachable",
        one(link=down("unreachable")),
        only("link-unreachable", "warn"),
        ("link-timed-out", "link-refused"),
    ),
    Case(
        "a new attempt after a failure", one(link=down("timed-out", phase="connecting")), only("link-timed-out", "warn")
    ),
    Case(
        "the first attempt",
        one(link=Link(phase="connecting", down_since=NOW)),
        spares=("link-unreachable", "link-timed-out", "link-refused"),
    ),
    Case(
        "a down node is judged by its link alone",
        one(link=down("unreachable"), memory=memory(available=GIB // 2), nfs=(hung(),)),
        only("link-unreachable", "warn"),
        ("memory-available-low", "nfs-not-responding"),
    ),
    Case(
        "silent",
        one(
            memory=memory(age_s=9),
            pressure=reading(None),
            host=reading(None),
            net=reading((), 9),
            mountinfo=reading((), 9, 10),
            mountstats=reading((), 9, 2),
            fstab=reading(None),
            shm=reading(None),
            logind=reading(None),
            nfs=(),
        ),
        only("node-silent", "warn"),
    ),
    Case(
        "silent, and a rare reading came in the same moment as a fast one",
        cluster(
            node("spark1"),
            nas(memory=memory(age_s=9), net=reading((), 9, 60), nas=told().model_copy(update={"at": NOW - 9})),
        ),
        only("node-silent", "warn", "nas"),
    ),
    Case(
        "a NAS that is read every ten seconds",
        cluster(
            node("spark1"), nas(memory=reading(None), net=reading(None), nas=told().model_copy(update={"at": NOW - 12}))
        ),
        spares=("node-silent",),
    ),
    Case("late, but not silent", one(memory=memory(age_s=3.5)), spares=("node-silent",)),
    Case(
        "unwatched",
        one(link=Link(phase="up", since=1, channels=2, channel_limit=2, unwatched=("gpu", "docker events"))),
        only("link-unwatched", "info"),
    ),
    Case("all channels", one(link=Link(phase="up", since=1, channels=6, channel_limit=6)), spares=("link-unwatched",)),
    Case(
        "unreadable",
        one(
            volumes=failed("permission denied while trying to connect to the Docker daemon socket"),
            fstab=failed("/etc/fstab: Permission denied"),
            gpu=failed("nvidia-smi: not found"),
        ),
        only("reading-unreadable", "info"),
    ),
    Case(
        "a NAS without PSI",
        cluster(node("spark1"), node("spark2"), nas(pressure=failed("No such file"), gpu=failed("no"))),
        spares=("reading-unreadable",),
    ),
]

MEMORY = [
    Case("available below the error limit", one(memory=memory(available=GIB)), only("memory-available-low", "error")),
    Case(
        "available below the warning limit", one(memory=memory(available=2 * GIB)), only("memory-available-low", "warn")
    ),
    Case(
        "stale below the error limit",
        one(memory=memory(available=GIB, age_s=3.8)),
        only("memory-available-low", "warn"),
    ),
    Case(
        "a small machine with a tenth free",
        one(memory=memory(total=768 * MIB, available=100 * MIB, free=60 * MIB)),
        spares=("memory-available-low",),
    ),
    Case(
        "a NAS uses its memory for cache",
        cluster(node("spark1"), nas(memory=memory(available=GIB // 4))),
        spares=("memory-available-low",),
    ),
    Case("page cache after a copy", one(memory=memory(**PAGE_CACHE)), only("memory-page-cache", "error")),
    Case(
        "page cache beside a model that serves",
        one(memory=memory(**{**PAGE_CACHE, "available": 20 * GIB, "cached": 20 * GIB})),
        only("memory-page-cache", "warn"),
    ),
    Case(
        "page cache while loading, enough free",
        one(memory=memory(**{**PAGE_CACHE, "free": 25 * GIB, "cached": 40 * GIB})),
        spares=("memory-page-cache", "memory-falling"),
    ),
    Case("little free, little cache", one(memory=memory(free=GIB)), spares=("memory-page-cache",)),
    Case(
        "a laptop full of cache",
        one(memory=memory(total=32 * GIB, free=GIB, available=20 * GIB, cached=20 * GIB, shmem=0)),
        spares=("memory-page-cache",),
    ),
    Case(
        "tmpfs is not page cache",
        one(memory=memory(free=GIB, cached=20 * GIB, shmem=18 * GIB)),
        spares=("memory-page-cache",),
    ),
    Case("KHO", one(memory=memory(free=88 * GIB, available=100 * GIB, **LEAK)), only("memory-kho-cma", "error")),
    Case(
        "KHO and page cache",
        one(memory=memory(**PAGE_CACHE, **LEAK)),
        only("memory-kho-cma", "error"),
        ("memory-page-cache",),
    ),
    Case("CMA all free is no leak", one(memory=memory(cma_total=GIB, cma_free=GIB)), spares=("memory-kho-cma",)),
    Case(
        "CMA lines unread",
        one(memory=memory(cma_total=None, cma_free=None)),
        spares=("memory-kho-cma", "host-kernel-kho"),
    ),
    Case(
        "falling for good",
        one(memory=memory(free=5 * GIB, available=6 * GIB), free_slope_bytes_per_s=-500.0 * MIB),
        only("memory-falling", "warn"),
    ),
    Case(
        "falling into page cache",
        one(memory=memory(free=5 * GIB, available=90 * GIB), free_slope_bytes_per_s=-500.0 * MIB),
        only("memory-falling", "info"),
    ),
    Case(
        "falling while weights are loaded",
        one(memory=memory(free=100 * GIB, available=110 * GIB), free_slope_bytes_per_s=-8000.0 * MIB),
        spares=("memory-falling",),
    ),
    Case(
        "falling slowly",
        one(free_slope_bytes_per_s=-30.0 * MIB, memory=memory(free=3 * GIB, available=4 * GIB)),
        spares=("memory-falling",),
    ),
    Case(
        "falling at the floor of a full page cache",
        one(free_slope_bytes_per_s=-500.0 * MIB, memory=memory(**PAGE_CACHE)),
        only("memory-page-cache", "error"),
        spares=("memory-falling",),
    ),
    Case("pressure", one(pressure=pressure(12.0)), only("memory-pressure", "warn")),
    Case("a little pressure", one(pressure=pressure(2.0)), spares=("memory-pressure",)),
    Case("dirty", one(memory=memory(dirty=6 * GIB)), only("memory-dirty", "info")),
    Case(
        "dirty and under write-back", one(memory=memory(dirty=3 * GIB, writeback=2 * GIB)), only("memory-dirty", "info")
    ),
    Case("a little dirty", one(memory=memory(dirty=GIB, writeback=GIB)), spares=("memory-dirty",)),
    Case("swap", one(memory=memory(swap_free=8 * GIB)), only("memory-swap", "info")),
    Case("a little swap", one(memory=memory(swap_free=16 * GIB - 100 * MIB)), spares=("memory-swap",)),
    Case("nothing is known", one(memory=reading(None)), spares=("memory-available-low",)),
]

SHM = [
    Case("segments of our own user", one(shm=shm("dsv")), only("shm-remove-ipc", "warn")),
    Case("segments of a uid", one(shm=shm("root", "1005")), only("shm-remove-ipc", "warn")),
    Case("segments with name and uid", one(shm=shm("alice:1001")), only("shm-remove-ipc", "warn")),
    Case("segments of system users", one(shm=shm("root", "101", "65534", "postgres:110")), spares=("shm-remove-ipc",)),
    Case("a name without a uid is not judged", one(shm=shm("alice")), spares=("shm-remove-ipc",)),
    Case("a digit that is none", one(shm=shm("²", "9" * 5000)), spares=("shm-remove-ipc",)),
    Case("a lingering user", one(shm=shm("dsv"), logind=logind(linger=True)), spares=("shm-remove-ipc",)),
    Case("RemoveIPC=no", one(shm=shm("dsv"), logind=logind(remove_ipc=False)), spares=("shm-remove-ipc",)),
    Case(
        "RemoveIPC unread",
        one(shm=shm("dsv"), logind=logind(remove_ipc=None)),
        only("reading-unreadable", "info"),
        ("shm-remove-ipc",),
    ),
    Case("much shared memory", one(shm=shm("root", used=12)), only("shm-large", "info")),
    Case("as much as NCCL takes", one(shm=shm("root", used=4.7)), spares=("shm-large",)),
]

NFS = [
    Case("hung", one(nfs=(hung(),)), only("nfs-not-responding", "error"), ("nfs-retransmissions", "nfs-slow")),
    Case("hung, counters late", one(nfs=(hung(),), mountstats=reading((), 7, 2)), only("nfs-not-responding", "warn")),
    Case(
        "hung at two places of one superblock",
        one(nfs=(hung(), hung(mount_point="/srv/nas"))),
        only("nfs-not-responding", "error"),
    ),
    Case(
        "stale handle",
        one(nfs=(mount(state="stale-handle", last_probe=probe("stale")),)),
        only("nfs-stale-handle", "error"),
    ),
    Case(
        "denied",
        one(nfs=(mount(state="denied", last_probe=probe("denied", text="Permission denied")),)),
        only("nfs-denied", "error"),
        ("nfs-stale-handle", "nfs-unmounted"),
    ),
    Case(
        "not mounted",
        one(nfs=(mount("", "ro,hard,nconnect=8", state="unmounted", mounted=False),)),
        only("nfs-unmounted", "error"),
    ),
    Case(
        "the folder is gone",
        one(nfs=(mount(state="unmounted", last_probe=probe("missing")),)),
        only("nfs-unmounted", "error"),
        ("nfs-denied",),
    ),
    Case(
        "mountinfo was never read",
        one(nfs=(mount("", "ro", state="unmounted", mounted=False),), mountinfo=reading(None)),
        spares=("nfs-unmounted",),
    ),
    Case(
        "a volume that nobody uses",
        one(nfs=(volume("addr=nas,nconnect=8,rsize=1048576,hard"),)),
        spares=("nfs-unmounted", "nfs-volume-options", "nfs-nconnect-absent"),
    ),
    Case("slow by RTT", one(nfs=(mount(state="slow", rtt_ms=240.0, execute_ms=900.0),)), only("nfs-slow", "warn")),
    Case(
        "slow by a probe behind the load",
        one(
            nfs=(
                mount(state="slow", rtt_ms=20.0, last_probe=probe("timeout", receives_moved=True, receives_baseline=5)),
            )
        ),
        only("nfs-slow", "warn"),
        ("nfs-not-responding",),
    ),
    Case("retransmissions", one(nfs=(mount(state="fine", retrans_per_s=3.0),)), only("nfs-retransmissions", "warn")),
    Case("one retransmission", one(nfs=(mount(state="fine", retrans_per_s=0.5),)), spares=("nfs-retransmissions",)),
    Case(
        "hung, sending again",
        one(nfs=(hung(retrans_per_s=3.0),)),
        only("nfs-not-responding", "error"),
        ("nfs-retransmissions",),
    ),
]

OPTIONS = [
    Case("soft", one(nfs=(mount(GOT.replace("hard", "soft")),)), only("nfs-soft-mount", "warn")),
    Case("softerr", one(nfs=(mount(GOT.replace("hard", "softerr")),)), only("nfs-soft-mount", "warn")),
    Case("softreval is not soft", one(nfs=(mount(GOT + ",softreval"),)), spares=("nfs-soft-mount",)),
    Case(
        "a hard mount that timed out",
        one(nfs=(hung(last_probe=probe("timeout", text="not responding, timed out", receives_baseline=158)),)),
        only("nfs-not-responding", "error"),
        ("nfs-soft-mount",),
    ),
    Case(
        "nconnect ignored on a second mount",
        one(nfs=(FIRST, LATER)),
        {("nfs-nconnect-ignored", "warn", "spark2"), ("nfs-nconnect-absent", "info", "spark2")},
    ),
    Case(
        "nconnect granted",
        one(nfs=(mount(asked="nconnect=8"),)),
        spares=("nfs-nconnect-ignored", "nfs-nconnect-absent"),
    ),
    Case(
        "more asked than a kernel gives",
        one(nfs=(mount(asked="nconnect=64", stats=stats(connections=16)),)),
        spares=("nfs-nconnect-ignored",),
    ),
    Case(
        "nconnect absent on a slow link",
        cluster(node("spark1", nfs=(FIRST,), net=ports(("eth0", 1000, "up"))), nas(net=ports(("eth0", 1000, "up")))),
        spares=("nfs-nconnect-absent", "nas-link-slow"),
    ),
    Case("nconnect absent, link unknown", cluster(node("spark1", nfs=(FIRST,))), spares=("nfs-nconnect-absent",)),
    Case(
        "nconnect absent, link configured",
        cluster(node("spark1", nfs=(FIRST,))),
        only("nfs-nconnect-absent", "info", "spark1"),
        limits=Limits(nas_link_mbit=10_000),
    ),
    Case(
        "rsize clamped",
        one(nfs=(mount(GOT.replace("rsize=1048576", "rsize=131072"), "rsize=1048576"),)),
        only("nfs-rsize-clamped", "warn"),
    ),
    Case(
        "rsize clamped, nobody asked",
        one(
            nfs=(
                mount(
                    GOT.replace("rsize=1048576", "rsize=524288"),
                ),
            )
        ),
        only("nfs-rsize-clamped", "info"),
    ),
    Case(
        "rsize above the client's own limit",
        one(nfs=(mount(asked="rsize=4194304,nconnect=8"),)),
        spares=("nfs-rsize-clamped",),
    ),
    Case(
        "rsize rounded to pages",
        one(nfs=(mount(GOT.replace("rsize=1048576", "rsize=999424"), "rsize=1000000,nconnect=8"),)),
        only("nfs-rsize-small", "info"),
        ("nfs-rsize-clamped",),
    ),
    Case("rsize as wanted", one(nfs=(mount(asked="rsize=1048576,nconnect=8"),)), spares=("nfs-rsize-small",)),
    Case("v3 while 4.2 is offered", one(nfs=(mount(GOT.replace("4.2", "3")),)), only("nfs-version", "info")),
    Case(
        "v3, nothing known of the server",
        cluster(node("spark1", nfs=(mount(GOT.replace("4.2", "3")),))),
        only("nfs-version", "info", "spark1"),
    ),
    Case(
        "v4.1, nothing known of the server",
        cluster(node("spark1", nfs=(mount(GOT.replace("4.2", "4.1")),))),
        spares=("nfs-version",),
    ),
    Case(
        "v4.1 is the server's best",
        cluster(node("spark1", nfs=(mount(GOT.replace("4.2", "4.1")),)), nas(nas=told(versions=("3", "4", "4.1")))),
        spares=("nfs-version",),
    ),
    Case(
        "a volume without nconnect",
        one(nfs=(volume("addr=nas,hard,rsize=131072"),)),
        only("nfs-volume-options", "info"),
    ),
    Case(
        "a volume in use without nconnect",
        one(nfs=(mount(asked="addr=nas,hard", volume="w", stats=stats(connections=1)),)),
        only("nfs-volume-options", "info"),
        ("nfs-nconnect-absent",),
    ),
    Case(
        "a soft volume that nobody uses", one(nfs=(volume("addr=nas,soft,nconnect=8"),)), only("nfs-soft-mount", "warn")
    ),
    Case("writable is no fault", one(nfs=(mount(read_only=False),))),
]

ONE_GBE = (58.0,) * 8
FLAT = [
    Case(
        "flat at 1 GbE over two nodes",
        cluster(node("spark1", nfs=(reader(58),)), node("spark2", nfs=(reader(59),))),
        only("nfs-flat", "warn", None),
    ),
    Case(
        "flat at the known speed",
        cluster(node("spark1", nfs=(reader(58),)), node("spark2", nfs=(reader(59),))),
        only("nfs-flat", "info", None) | only("nas-link-slow", "info", None),
        limits=Limits(nas_link_mbit=1000),
    ),
    Case(
        "flat far below the known speed",
        cluster(node("spark1", nfs=(reader(117),)), nas()),
        only("nfs-flat", "warn", None),
    ),
    Case(
        "flat above the speed that was configured",
        cluster(node("spark1", nfs=(reader(117),), net=ports())),
        only("nfs-flat", "warn", None),
        limits=Limits(nas_link_mbit=100),
    ),
    Case("fast and far from any ceiling", cluster(node("spark1", nfs=(reader(612),)), nas()), spares=("nfs-flat",)),
    Case(
        "near the ceiling, wavering",
        cluster(node("spark1", nfs=(reader(115, (118, 108, 117, 108, 118, 108)),)), nas()),
        spares=("nfs-flat",),
    ),
    Case(
        "near the ceiling for a moment",
        cluster(node("spark1", nfs=(reader(115, (2, 4, 0, 115, 115, 115)),)), nas()),
        spares=("nfs-flat",),
    ),
    Case(
        "one reader is late",
        cluster(node("spark1", nfs=(reader(117),)), node("spark2", nfs=(reader(0),), mountstats=reading((), 8, 2))),
        spares=("nfs-flat",),
    ),
    Case(
        "two places of one superblock are one reader",
        cluster(node("spark1", nfs=(reader(58), reader(58, mount_point="/srv/nas")))),
        spares=("nfs-flat",),
    ),
]

NAS = [
    Case(
        "RAID degraded",
        cluster(node("spark1"), nas(nas=told(raid=(array(degraded=True, working=3),)))),
        only("nas-raid-degraded", "error", "nas"),
    ),
    Case(
        "RAID degraded and rebuilding",
        cluster(
            node("spark1"),
            nas(
                nas=told(
                    raid=(array(degraded=True, working=3, action="recovery", progress_percent=42.5, eta_s=4200.0),)
                )
            ),
        ),
        only("nas-raid-degraded", "error", "nas"),
        ("nas-raid-rebuilding",),
    ),
    Case(
        "RAID resync",
        cluster(node("spark1"), nas(nas=told(raid=(array(action="resync", progress_percent=3.0),)))),
        only("nas-raid-rebuilding", "warn", "nas"),
        ("nas-raid-degraded",),
    ),
    Case(
        "a scrub is no fault",
        cluster(node("spark1"), nas(nas=told(raid=(array(action="check"),)))),
        spares=("nas-raid-rebuilding",),
    ),
    Case(
        "a maker's mirror over 24 bays",
        cluster(
            node("spark1"),
            nas(nas=told(raid=(array(name="md9", level="raid1", members=24, working=4, degraded=True),))),
        ),
        spares=("nas-raid-degraded",),
    ),
    Case(
        "nfsd stopped",
        cluster(node("spark1"), nas(nas=told(nfsd_threads=0))),
        only("nas-nfsd-stopped", "error", "nas"),
        ("nas-nfsd-threads",),
    ),
    Case("a worker without nfsd", cluster(node("spark1", nas=told(nfsd_threads=0))), spares=("nas-nfsd-stopped",)),
    Case(
        "few threads", cluster(node("spark1"), nas(nas=told(nfsd_threads=4))), only("nas-nfsd-threads", "info", "nas")
    ),
    Case(
        "bond member down",
        cluster(
            node("spark1"),
            nas(nas=told(bonds=(Bond(name="bond0", mode="802.3ad", members_up=1, members=2, speed_mbit=10_000),))),
        ),
        only("nas-bond-member-down", "warn", "nas"),
    ),
    Case(
        "bond whole",
        cluster(
            node("spark1"),
            nas(nas=told(bonds=(Bond(name="bond0", mode="802.3ad", members_up=2, members=2, speed_mbit=20_000),))),
        ),
        spares=("nas-bond-member-down",),
    ),
    Case(
        "NAS on a slow port",
        cluster(node("spark1"), nas(net=ports(("eth0", 1000, "up"), ("eth1", 10_000, "down")))),
        only("nas-link-slow", "info", "nas"),
    ),
    Case(
        "a bond counts, not its ports",
        cluster(
            node("spark1"),
            nas(
                net=ports(("eth0", 1000, "up")),
                nas=told(bonds=(Bond(name="bond0", mode="x", members_up=2, members=2, speed_mbit=10_000),)),
            ),
        ),
        spares=("nas-link-slow",),
    ),
    Case(
        "a node has a slow port too",
        cluster(
            node("spark1", net=ports(("enP7s7", 1000, "up"), ("wlan0", -1, "down"))),
            nas(net=ports(("eth0", 1000, "up"))),
        ),
        spares=("nas-link-slow",),
    ),
    Case(
        "a virtual interface tells nothing",
        cluster(node("spark1", net=ports(("veth1", 10_000, "up"))), nas(net=ports(("eth0", 1000, "up")))),
        spares=("nas-link-slow",),
    ),
]


def rebooted(ago: float) -> ClusterState:
    return cluster(notices=(Notice(at=NOW - ago, node="spark2", kind="rebooted", detail="6.17.0-1029-nvidia"),))


HOST = [
    Case("rebooted", rebooted(240), only("host-rebooted", "warn")),
    Case("rebooted long ago", rebooted(7200).model_copy(update={"started_at": -9000.0}), spares=("host-rebooted",)),
    Case("kernels differ", one(host=host(kernel="6.17.0-1030-nvidia")), only("host-kernels-differ", "info", None)),
    Case("a kernel is unread", one(host=host(kernel=None)), spares=("host-kernels-differ",)),
    Case(
        "the NAS has its own kernel",
        cluster(node("spark1"), nas(host=host(kernel="5.10.60-qnap"))),
        spares=("host-kernels-differ",),
    ),
    Case(
        "KHO kernel, CMA unread",
        cluster(node("spark1", host=host(kernel="7.0.0-1019-nvidia"), memory=memory(cma_total=None, cma_free=None))),
        only("host-kernel-kho", "warn", "spark1"),
    ),
    Case(
        "KHO kernel with kho=off",
        cluster(
            node(
                "spark1",
                host=host(kernel="7.0.0-31-generic", command_line="quiet kho=off"),
                memory=memory(cma_total=None, cma_free=None),
            )
        ),
        spares=("host-kernel-kho",),
    ),
    Case(
        "KHO kernel, CMA read and whole",
        cluster(node("spark1", host=host(kernel="7.0.0-1019-nvidia"))),
        spares=("host-kernel-kho", "memory-kho-cma"),
    ),
    Case(
        "a kernel that only looks alike",
        cluster(node("spark1", host=host(kernel="7.0.0-310-generic"), memory=memory(cma_total=None, cma_free=None))),
        spares=("host-kernel-kho",),
    ),
]

BOOK = [
    Case(
        "a failure file of the operator's is broken",
        cluster(book_notes=("Skipped /home/me/.config/dsv41-tui/failures/mine.toml: line 9, match.any[0]: no",)),
        only("failure-file-broken", "info", None),
    ),
    Case("all failure files are whole", cluster(), spares=("failure-file-broken",)),
]

CASES = [*BOOK, *LINK, *ENGINE, *MEMORY, *SHM, *NFS, *OPTIONS, *FLAT, *NAS, *RDMA, *HOST]
