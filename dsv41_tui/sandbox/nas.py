"""What the NAS tells of itself: nfsd, RAID, bond."""

from __future__ import annotations

THREADS = 32
_BOND_HEAD = """Ethernet Channel Bonding Driver: v5.10.60-qnap

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0

802.3ad info
LACP rate: slow
Min links: 0
Aggregator selection policy (ad_select): stable
"""
_BOND_MEMBER = """
Slave Interface: {name}
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 02:00:5e:10:00:0{number}
Slave queue ID: 0
Aggregator ID: 1
"""
_MDSTAT = """Personalities : [linear] [raid0] [raid1] [raid10] [raid6] [raid5] [raid4] [multipath]
md1 : active raid5 sda3[0] sdd3[3] sdc3[2] sdb3[1]
      35098425792 blocks super 1.0 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]

md9 : active raid1 sda1[0] sdd1[3] sdc1[2] sdb1[1]
      530048 blocks super 1.0 [24/4] [UUUU____________________]
      bitmap: 1/1 pages [4KB], 65536KB chunk

unused devices: <none>
"""


def fixed_files() -> dict[str, str]:
    """Paths and texts of what does not move."""
    members = "".join(_BOND_MEMBER.format(name=f"eth{number}", number=number) for number in range(2))
    return {
        "proc/fs/nfsd/versions": "+3 +4 +4.1 +4.2\n",
        "proc/fs/nfsd/max_block_size": "1048576\n",
        "proc/mdstat": _MDSTAT,
        "proc/net/bonding/bond0": _BOND_HEAD + members,
    }


def moving_files(read_bytes: int, calls: int, *, down: bool) -> dict[str, str]:
    """Paths and texts of what the NFS server counts; without its service it has no threads."""
    threads = 0 if down else THREADS
    return {
        "proc/fs/nfsd/threads": f"{threads}\n",
        "proc/net/rpc/nfsd": (
            f"rc 0 0 {calls}\nfh 0 0 0 0 0\nio {read_bytes} 0\nth {threads} 0{' 0.000' * 10}\nra 0{' 0' * 11}\n"
            f"net {calls} 0 {calls} 16\nrpc {calls} 0 0 0 0\nproc3 22{' 0' * 22}\nproc4 2 2 {calls}\n"
        ),
    }
