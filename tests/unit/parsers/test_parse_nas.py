"""nas: the NFS server of a NAS, its RAID and its bonds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import cuts, flips, sample, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Bond, NasServer, RaidArray
from dsv41_tui.parsers.nas import parse_nas

THREADS = "/proc/fs/nfsd/threads"
VERSIONS = "/proc/fs/nfsd/versions"
BLOCK = "/proc/fs/nfsd/max_block_size"
RPC = "/proc/net/rpc/nfsd"
MDSTAT = "/proc/mdstat"
BOND = "/proc/net/bonding/bond0"
QNAP = sample("nas/mdstat-qnap-healthy.txt")
REBUILDING = sample("nas/mdstat-rebuilding.txt")
LACP = sample("nas/bond-lacp.txt")
BACKUP = sample("nas/bond-active-backup.txt")


def raid(text: str) -> dict[str, RaidArray]:
    return {array.name: array for array in parse_nas({MDSTAT: text}).raid}


def bond(text: str) -> Bond:
    return parse_nas({BOND: text}).bonds[0]


def test_the_captured_server() -> None:
    lines = sample("nas/nas-server-state.txt").splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("/export ")) + 1
    threads, versions, block = lines[start : start + 3]
    nas = parse_nas({THREADS: threads, VERSIONS: versions, BLOCK: block, RPC: sample("nas/proc-net-rpc-nfsd.txt")})
    assert nas == NasServer(nfsd_threads=8, versions=("3", "4", "4.1", "4.2"), max_block_bytes=1048576)


def test_threads_from_the_statistics_where_nfsd_is_not_mounted() -> None:
    assert parse_nas({RPC: sample("nas/proc-net-rpc-nfsd.txt")}).nfsd_threads == 8
    assert parse_nas({THREADS: "16\n", RPC: sample("nas/proc-net-rpc-nfsd.txt")}).nfsd_threads == 16
    assert parse_nas({RPC: "th 8"}).nfsd_threads is None


def test_versions_that_are_switched_off_do_not_count() -> None:
    assert parse_nas({VERSIONS: "-2 +3 +4 +4.1 -4.2\n"}).versions == ("3", "4", "4.1")


def test_a_nas_that_tells_nothing() -> None:
    denied = {path: f"cat: {path}: Permission denied\n" for path in (THREADS, VERSIONS, BLOCK, RPC, MDSTAT, BOND)}
    for files in ({}, denied, {THREADS: "", MDSTAT: "\n"}, {"/proc/uptime": "1.00 1.00\n"}):
        with pytest.raises(ParseError, match=f"none of {THREADS}.* can be read"):
            parse_nas(files)


@pytest.mark.parametrize(
    ("path", "text"), [(THREADS, "eight"), (THREADS, "-1"), (BLOCK, "9" * 5000), (VERSIONS, "+3 4"), (VERSIONS, "all")]
)
def test_malformed_files_are_refused(path: str, text: str) -> None:
    with pytest.raises(ParseError, match=path):
        parse_nas({path: text})


def test_a_healthy_qnap_with_its_system_mirrors() -> None:
    arrays = raid(QNAP)
    assert list(arrays) == ["md1", "md322", "md256", "md13", "md9"]
    assert arrays["md1"] == RaidArray(name="md1", level="raid5", active=True, members=4, working=4)
    assert (arrays["md322"].members, arrays["md322"].working) == (2, 2)  # two spares beside
    assert (arrays["md9"].level, arrays["md9"].members, arrays["md9"].working) == ("raid1", 4, 4)
    assert not any(array.degraded or array.action for array in arrays.values())


def test_a_small_mirror_with_a_gap_is_degraded_whatever_its_name() -> None:
    text = "md9 : active raid1 sda1[0]\n      8 blocks [2/1] [U_]\n\nunused devices: <none>\n"
    assert raid(text)["md9"].degraded
    eight = "md9 : active raid1 sda1[0] sdb1[1]\n      8 blocks [8/2] [UU______]\n\nunused devices: <none>\n"
    assert not raid(eight)["md9"].degraded
    assert raid(eight.replace("md9", "md1"))["md1"].degraded
    failed = eight.replace("sdb1[1]", "sdb1[1](F)")
    assert raid(failed)["md9"].degraded


def test_rebuilding_checking_waiting() -> None:
    arrays = raid(REBUILDING)
    assert arrays["md1"] == RaidArray(
        name="md1",
        level="raid6",
        active=True,
        members=6,
        working=5,
        degraded=True,
        action="recovery",
        progress_percent=12.6,
        eta_s=127.5 * 60,
    )
    check = arrays["md2"]
    assert (check.degraded, check.action, check.progress_percent, check.eta_s) == (False, "check", 0.4, 86460.0)
    failed = arrays["md3"]
    assert (failed.degraded, failed.members, failed.working, failed.action) == (True, 2, 1, None)
    pending, delayed = arrays["md4"], arrays["md5"]
    assert (pending.level, pending.degraded) == ("raid1", False)
    assert (pending.action, pending.progress_percent, pending.eta_s) == ("resync", None, None)
    assert (delayed.action, delayed.progress_percent) == ("resync", None)


def test_inactive_and_striped_arrays() -> None:
    arrays = raid(REBUILDING)
    inactive, striped = arrays["md127"], arrays["md6"]
    assert (inactive.active, inactive.level, inactive.members, inactive.working) == (False, "", None, None)
    assert (striped.level, striped.members, striped.working, striped.degraded) == ("raid0", 2, 2, False)


def test_no_arrays() -> None:
    assert raid("Personalities : \nunused devices: <none>\n") == {}


@pytest.mark.parametrize("text", ["Personalities : [raid1]\n", "md1 : broken x\n\nunused devices: <none>\n"])
def test_a_torn_mdstat_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="/proc/mdstat"):
        raid(text)


@pytest.mark.parametrize("text", [QNAP, REBUILDING])
def test_a_cut_mdstat_is_refused_until_its_last_line(text: str) -> None:
    for cut in cuts(text):
        if not cut.strip():
            continue
        try:
            assert raid(cut) == raid(text)
        except ParseError:
            assert "unused devices:" not in cut
    assert survives(raid, flips(text, 1500)) > 0


@given(
    st.integers(1, 24),
    st.data(),
    st.sampled_from(["raid5", "raid6", "raid10"]),
    st.floats(0, 100).map(lambda number: round(number, 1)),
    st.floats(0, 10**6).map(lambda number: round(number, 1)),
)
def test_mdstat_round_trip(members: int, data: st.DataObject, level: str, percent: float, minutes: float) -> None:
    up = data.draw(st.lists(st.booleans(), min_size=members, max_size=members))
    disks = " ".join(f"sd{chr(97 + at)}3[{at}]" for at, works in enumerate(up) if works)
    shown = "".join("U" if works else "_" for works in up)
    text = (
        f"Personalities : [{level}]\nmd1 : active {level} {disks}\n"
        f"      1234 blocks super 1.0 level 5 [{members}/{sum(up)}] [{shown}]\n"
        f"      [=>...]  recovery = {percent:4.1f}% (1/2) finish={minutes:.1f}min speed=1K/sec\n"
        "\nunused devices: <none>\n"
    )
    array = raid(text)["md1"]
    assert (array.members, array.working, array.degraded) == (members, sum(up), not all(up))
    assert (array.progress_percent, array.eta_s) == (percent, round(minutes * 60, 1))


def test_a_bond_with_a_member_down() -> None:
    assert bond(LACP) == Bond(
        name="bond0", mode="IEEE 802.3ad Dynamic link aggregation", members_up=2, members=3, speed_mbit=20000
    )


def test_an_active_backup_bond_is_as_fast_as_its_active_member() -> None:
    assert bond(BACKUP) == Bond(
        name="bond0", mode="fault-tolerance (active-backup)", members_up=2, members=2, speed_mbit=1000
    )
    unknown = BACKUP.replace("Currently Active Slave: eth1", "Currently Active Slave: None")
    assert bond(unknown).speed_mbit == 11000


def test_bonds_without_speed_or_members() -> None:
    old = "\n".join(line for line in LACP.splitlines() if not line.startswith("Speed"))
    assert (bond(old).members_up, bond(old).speed_mbit) == (2, None)
    assert bond(LACP.split("Slave Interface")[0]).members == 0
    assert (
        bond(LACP.replace("MII Status: up\nSpeed: 10000 Mbps", "MII Status: up\nSpeed: Unknown", 1)).speed_mbit is None
    )


def test_bonds_are_in_the_order_of_their_names() -> None:
    files = {"/proc/net/bonding/bond1": LACP, BOND: BACKUP, "/proc/net/bonding/bond2": "cat: x: Permission denied"}
    assert [found.name for found in parse_nas(files).bonds] == ["bond0", "bond1"]


@pytest.mark.parametrize(
    "text",
    [
        "Ethernet Channel Bonding Driver: v3\n",
        LACP.replace("MII Status: down", "MII Status: maybe"),
        LACP.replace("Speed: 10000 Mbps", "Speed: 10000"),
        LACP.replace("MII Status: down\n", ""),
    ],
)
def test_a_torn_bond_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match=BOND):
        bond(text)


@pytest.mark.parametrize("text", [LACP, BACKUP])
def test_bonds_survive_cuts_and_flips(text: str) -> None:
    assert survives(bond, (cut for cut in cuts(text) if cut.strip())) > 0
    assert survives(bond, flips(text, 1500)) > 0


@given(st.dictionaries(st.sampled_from([THREADS, VERSIONS, BLOCK, RPC, MDSTAT, BOND, "/else"]), st.text()))
def test_hostile_nas_files(files: dict[str, str]) -> None:
    survives(lambda _: parse_nas(files), iter([""]))
