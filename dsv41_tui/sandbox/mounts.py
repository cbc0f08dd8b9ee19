"""The NFS mounts of a node as text: `/proc/self/mountinfo`, `/proc/self/mountstats`, `/etc/fstab`.

All nodes mount the NAS at `/mnt/models` by fstab. The worker's container mounts the same export as a docker volume:
one superblock, hence one set of counters, shown twice by the kernel.
"""

from __future__ import annotations

from dsv41_tui.sandbox.simulate import NCONNECT, RSIZE, NfsNow

NAS_ADDRESS = "192.168.50.20"
EXPORT = "/models"
MOUNT_POINT = "/mnt/models"
VOLUME = "dsv41-exl3-weights"
VOLUME_POINT = f"/var/lib/docker/volumes/{VOLUME}/_data"
VOLUME_OPTIONS = (
    f"addr={NAS_ADDRESS},nfsvers=4.2,ro,nconnect={NCONNECT},rsize={RSIZE},wsize={RSIZE},hard,timeo=600,noatime"
)
_SOURCE = f"{NAS_ADDRESS}:{EXPORT}"
_DEVICE = "0:61"
_LOCAL_MOUNTS = (
    ("22", "29", "0:20", "/proc", "rw,nosuid,nodev,noexec,relatime", "proc", "proc", "rw"),
    ("23", "29", "0:21", "/sys", "rw,nosuid,nodev,noexec,relatime", "sysfs", "sysfs", "rw"),
    ("26", "29", "0:22", "/dev/shm", "rw,nosuid,nodev", "tmpfs", "tmpfs", "rw,inode64"),
    ("28", "29", "0:24", "/run", "rw,nosuid,nodev", "tmpfs", "tmpfs", "rw,size=12760076k,mode=755,inode64"),
    ("29", "1", "259:2", "/", "rw,relatime", "ext4", "/dev/nvme0n1p2", "rw,errors=remount-ro"),
)
# Name, operations since the mount, one more each so many served seconds (0: never), bytes sent and received each.
_OPERATIONS = (
    ("NULL", 1, 0, 44, 24),
    ("READ", 0, 0, 180, 104),
    ("OPEN", 41, 0, 272, 344),
    ("CLOSE", 41, 0, 188, 188),
    ("FSINFO", 1, 0, 160, 168),
    ("ACCESS", 60, 120, 170, 168),
    ("GETATTR", 120, 30, 156, 240),
    ("LOOKUP", 44, 0, 180, 276),
    ("PATHCONF", 1, 0, 152, 116),
    ("STATFS", 6, 0, 160, 172),
    ("READDIR", 4, 0, 184, 720),
    ("SERVER_CAPS", 2, 0, 160, 172),
    ("EXCHANGE_ID", 2, 0, 244, 92),
    ("CREATE_SESSION", 1, 0, 200, 124),
    ("SEQUENCE", 0, 60, 120, 80),
    ("RECLAIM_COMPLETE", 1, 0, 128, 88),
)
_ACTIVE = {row[0]: row for row in _OPERATIONS}
_NAMES = """
NULL READ WRITE COMMIT OPEN OPEN_CONFIRM OPEN_NOATTR OPEN_DOWNGRADE CLOSE SETATTR FSINFO RENEW SETCLIENTID
SETCLIENTID_CONFIRM LOCK LOCKT LOCKU ACCESS GETATTR LOOKUP LOOKUP_ROOT REMOVE RENAME LINK SYMLINK CREATE
PATHCONF STATFS READLINK READDIR SERVER_CAPS DELEGRETURN GETACL SETACL FS_LOCATIONS RELEASE_LOCKOWNER SECINFO
FSID_PRESENT EXCHANGE_ID CREATE_SESSION DESTROY_SESSION SEQUENCE GET_LEASE_TIME RECLAIM_COMPLETE LAYOUTGET
GETDEVICEINFO LAYOUTCOMMIT LAYOUTRETURN SECINFO_NO_NAME TEST_STATEID FREE_STATEID GETDEVICELIST
BIND_CONN_TO_SESSION DESTROY_CLIENTID SEEK ALLOCATE DEALLOCATE LAYOUTSTATS CLONE COPY OFFLOAD_CANCEL LOOKUPP
LAYOUTERROR COPY_NOTIFY GETXATTR SETXATTR LISTXATTRS REMOVEXATTR READ_PLUS
"""
_ALL_OPERATIONS = tuple(_NAMES.split())
_UNUSED = {name: f"\t{name:>12}: 0 0 0 0 0 0 0 0 0" for name in _ALL_OPERATIONS if name not in _ACTIVE}
_READ_US = {"queue": 800, "rtt": 11_200, "execute": 12_400}
_OTHER_US = {"queue": 10, "rtt": 1_800, "execute": 2_100}


def fstab() -> str:
    """What the operator asked for."""
    asked = f"ro,vers=4.2,nconnect={NCONNECT},rsize={RSIZE},wsize={RSIZE},hard,timeo=600,noatime,_netdev"
    return (
        "# <file system> <mount point> <type> <options> <dump> <pass>\n"
        "UUID=0b1f6a52-7c1e-4d7e-9a0e-52f7f3b4c6d1 / ext4 errors=remount-ro 0 1\n"
        f"{_SOURCE} {MOUNT_POINT} nfs4 {asked} 0 0\n"
    )


def mountinfo(address: str, places: tuple[str, ...]) -> str:
    """Local mounts, then the NAS at every one of `places`; `address` is the node's own."""
    lines = [
        f"{identity} {parent} {device} / {place} {flags} shared:{identity} - {fstype} {source} {options}\n"
        for identity, parent, device, place, flags, fstype, source, options in _LOCAL_MOUNTS
    ]
    for number, place in enumerate(places):
        identity = 412 + 6 * number
        lines.append(
            f"{identity} 29 {_DEVICE} / {place} ro,noatime shared:{identity} - nfs4 {_SOURCE} "
            f"ro,{_options(address, attribute_times=False)},addr={NAS_ADDRESS}\n"
        )
    return "".join(lines)


def mountstats(now: NfsNow, address: str, places: tuple[str, ...]) -> str:
    """Every mount, NFS ones with the kernel's counters (statvers 1.1)."""
    local = [
        f"device {source} mounted on {place} with fstype {fstype}\n"
        for _, _, _, place, _, fstype, source, _ in _LOCAL_MOUNTS
    ]
    body = _statistics(now, address)
    nfs = [f"device {_SOURCE} mounted on {place} with fstype nfs4 statvers=1.1\n{body}\n" for place in places]
    return "".join(local + nfs)


def operations(now: NfsNow) -> int:
    """Requests of the mount that were answered, of all kinds."""
    return sum(_count(name, now) for name in _ACTIVE)


def _count(name: str, now: NfsNow) -> int:
    if name == "READ":
        return now.reads
    _, once, each_s, _, _ = _ACTIVE[name]
    return once + (now.served_s // each_s if each_s else 0)


def _options(address: str, *, attribute_times: bool) -> str:
    times = "acregmin=3,acregmax=60,acdirmin=30,acdirmax=60," if attribute_times else ""
    return (
        f"vers=4.2,rsize={RSIZE},wsize={RSIZE},namlen=255,{times}hard,proto=tcp,nconnect={NCONNECT},timeo=600,"
        f"retrans=2,sec=sys,clientaddr={address},local_lock=none"
    )


def _statistics(now: NfsNow, address: str) -> str:
    pages = now.read_bytes // 4096
    lines = [
        f"\topts:\tro,{_options(address, attribute_times=True)}",
        f"\tage:\t{now.age_s}",
        "\timpl_id:\tname='',domain='',date='0,0'",
        "\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=1048576,bsize=0,namlen=255",
        "\tnfsv4:\tbm0=0xfdffbfff,bm1=0x40fdbe3e,bm2=0x60803,acl=0x3,sessions,pnfs=not configured,lease_time=90,"
        "lease_expired=0",
        "\tsec:\tflavor=1,pseudoflavor=1",
        f"\tevents:\t412 9120 0 31 41 44 10233 0 0 {now.reads} 0 0 8 0 41 4 0 41 0 0 0 0 0 0 0 0 0 ",
        f"\tbytes:\t{now.read_bytes} 0 0 0 {now.read_bytes} 0 {pages} 0 ",
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)",
        *_connections(now),
        "\tper-op statistics",
        *(_UNUSED.get(name) or _operation(name, now) for name in _ALL_OPERATIONS),
    ]
    return "\n".join(lines) + "\n"


def _connections(now: NfsNow) -> list[str]:
    """One line each; requests go round, so that the sums over the lines are those of the operations."""
    answered = operations(now)
    lines = []
    for index in range(NCONNECT):
        turn = NCONNECT - 1 - index
        receives = (answered + turn) // NCONNECT
        sends = receives + (now.in_vain + turn) // NCONNECT
        connects = 2 + (now.reconnects + turn) // NCONNECT
        idle = int(now.silent_s) if now.silent_s else 0 if now.reading else (now.served_s + 7 * index) % 60
        lines.append(f"\txprt:\ttcp 0 0 {connects} 0 {idle} {sends} {receives} 0 {receives} 0 16 0 {receives // 9}")
    return lines


def _operation(name: str, now: NfsNow) -> str:
    _, _, _, sent, received = _ACTIVE[name]
    count = _count(name, now)
    times = _READ_US if name == "READ" else _OTHER_US
    in_vain = {"READ": now.reads_in_vain, "GETATTR": now.others_in_vain}.get(name, 0)
    payload = now.read_bytes if name == "READ" else 0
    numbers = (
        count,
        count + in_vain,
        in_vain // 2,
        count * sent,
        count * received + payload,
        count * times["queue"] // 1000,
        count * times["rtt"] // 1000,
        count * times["execute"] // 1000,
        0,
    )
    return f"\t{name:>12}: " + " ".join(map(str, numbers))
