"""mountstats."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parser_samples import blocks, cuts, flips, sample, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import MountStats, OpStats, Transport
from dsv41_tui.parsers.mountstats import parse_mountstats


def without_comments(name: str) -> str:
    return "".join(line for line in sample(name).splitlines(keepends=True) if not line.startswith("#"))


QNAP = {head: text for head, text in blocks("nfs/gb10-mountstats-qnap-v3.txt", "## ").items() if head.startswith("T")}
HUNG = blocks("nfs/nfs-mountstats-hung-captured.txt", "## ")
TWO = without_comments("nfs/nfs-mountstats-v3-v42-nconnect4-captured.txt")
V41 = without_comments("nfs/nfs-mountstats-v41-captured.txt")
RDMA = without_comments("nfs/nfs-mountstats-rdma-captured.txt")
VM = sample("nfs/vm-mountstats.txt")
WHOLE = [*QNAP.values(), *HUNG.values(), TWO, V41, VM, RDMA + "\n"]


def test_qnap_v3_healthy() -> None:
    (mount,) = parse_mountstats(QNAP["T0"])
    assert (mount.mount_point, mount.source, mount.fstype) == ("/mnt/qnap", "192.168.50.20:/models", "nfs")
    assert mount.age_s == 86400
    assert mount.options["vers"] == "3"
    assert mount.options["nconnect"] == "4"
    assert mount.options["local_lock"] == "none"
    assert mount.server_read_bytes == 104857600000
    assert mount.server_write_bytes == 0
    assert mount.transports == (
        Transport(protocol="tcp", connect_count=1, idle_s=0, sends=25250, receives=25250),
        Transport(protocol="tcp", connect_count=1, idle_s=0, sends=25251, receives=25251),
        Transport(protocol="tcp", connect_count=1, idle_s=0, sends=25252, receives=25252),
        Transport(protocol="tcp", connect_count=1, idle_s=0, sends=25253, receives=25253),
    )
    assert mount.read == OpStats(
        ops=100000,
        transmissions=100002,
        bytes_sent=12800000,
        bytes_received=104870400000,
        queue_ms=690000,
        rtt_ms=1900000,
        execute_ms=2600000,
    )
    # 1 + 412 + 60 + 77 + 100000 + 4 + 14 + 2 + 1, and the two retransmissions of READ
    assert (mount.total.ops, mount.total.transmissions, mount.total.errors) == (100571, 100573, 6)


def test_qnap_v3_ten_seconds_later_gives_the_rate() -> None:
    (first,), (second,) = parse_mountstats(QNAP["T0"]), parse_mountstats(QNAP["T0+10 s"])
    assert second.age_s == 86410
    assert second.server_read_bytes is not None and first.server_read_bytes is not None
    assert (second.server_read_bytes - first.server_read_bytes) / 10 == 1_099_956_224.0


def test_qnap_v3_gone() -> None:
    before, after = parse_mountstats(QNAP["T0+10 s"])[0], parse_mountstats(QNAP["T0+20 s"])[0]
    assert after.read.ops == before.read.ops
    assert after.receives == before.receives == 111494
    assert after.sends == 111506
    assert [transport.connect_count for transport in after.transports] == [1, 1, 5, 1]
    assert (after.read.transmissions - after.read.ops, after.read.timeouts) == (40, 38)


def test_v42_counts_its_reads_under_read_plus() -> None:
    v42, v3 = parse_mountstats(TWO)
    assert (v42.mount_point, v42.fstype, v42.options["vers"], v42.age_s) == ("/mnt/nas4", "nfs4", "4.2", 26)
    assert v42.read == OpStats(
        ops=256,
        transmissions=256,
        bytes_sent=45056,
        bytes_received=268466176,
        queue_ms=2498,
        rtt_ms=5336,
        execute_ms=9017,
    )
    assert (v42.server_read_bytes, v42.server_write_bytes) == (268435456, 67108864)
    assert (len(v42.transports), v42.sends, v42.receives) == (4, 354, 354)
    assert v42.total.errors == 6
    assert (v3.mount_point, v3.source, v3.fstype, v3.age_s) == ("/mnt/nas3", "127.0.0.2:/srv/nas", "nfs", 24)
    assert (v3.read.ops, v3.read.rtt_ms) == (257, 2873)
    assert v3.server_read_bytes == 268435456  # bytes number 2 says 269484032: a read at the end of a file counts whole
    assert v3.total.ops == 1 + 3 + 2 + 3 + 257 + 1 + 2 + 1


def test_v41_counts_its_reads_under_read() -> None:
    (mount,) = parse_mountstats(V41)
    assert (mount.read.ops, mount.read.bytes_received) == (768, 402733056)
    assert mount.server_read_bytes == 402653184  # programs read 805306368, half of it from the cache
    assert mount.server_write_bytes == 50331648
    assert [(transport.sends, transport.receives) for transport in mount.transports] == [(462, 462), (456, 456)]


def test_the_node_has_eight_connections_and_one_nfs_mount() -> None:
    (mount,) = parse_mountstats(VM)
    assert (mount.mount_point, mount.source, len(mount.transports)) == ("/mnt/nas", "nas:/export", 8)
    assert [transport.idle_s for transport in mount.transports] == [16, 9, 2, 22, 22, 22, 23, 23]
    assert (mount.sends, mount.read.ops, mount.read.rtt_ms) == (98, 64, 2425)
    assert mount.server_read_bytes == 67108864


def test_hung_and_healed() -> None:
    (first,), (second,), (healed,) = (parse_mountstats(HUNG[name]) for name in ("hung-1", "hung-2", "healed"))
    assert (first.age_s, second.age_s, healed.age_s) == (57, 127, 164)
    assert (first.sends, first.receives) == (159 + 154 + 154 + 153, 158 + 152 + 152 + 151)
    assert (second.sends, second.receives) == (first.sends, first.receives)
    assert [transport.connect_count for transport in second.transports] == [12, 10, 2, 12]
    assert second.total == first.total
    assert healed.receives > second.receives
    assert [transport.idle_s for transport in healed.transports] == [20, 18, 11, 0]
    assert healed.total.errors == 6 + 1 + 5 + 2 + 5


def test_rdma_has_its_own_columns() -> None:
    (mount,) = parse_mountstats(RDMA + "\n")
    assert mount.options["proto"] == "rdma"
    assert mount.transports == (Transport(protocol="rdma", connect_count=1, idle_s=0, sends=77, receives=77),)
    assert mount.server_read_bytes == 34078720
    assert (mount.read, mount.total.ops) == (OpStats(), 3)


def test_the_rdma_sample_as_captured_is_cut_off_and_says_so() -> None:
    with pytest.raises(ParseError, match="/mnt/nasr: the block is cut off"):
        parse_mountstats(RDMA)


BLOCK = (
    "device nas:/x mounted on /m with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.1\n\tage:\t5\n"
    "\tbytes:\t1 2 3 4 50 60 7 8 \n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\t{xprt}\n"
    "\tper-op statistics\n\t        READ: {read}\n\t        1234: 1 2 3 4 5 6 7 8{ninth}\n\n"
)


def block(xprt: str = "tcp 0 1 2 3 4 5 6 7 8 9", read: str = "1 2 3 4 5 6 7 8 9", ninth: str = " 9") -> str:
    return BLOCK.format(xprt=xprt, read=read, ninth=ninth)


@pytest.mark.parametrize(
    ("xprt", "expected"),
    [
        (
            "tcp 0 1 2 3 4 5 6 7 8 9",
            Transport(protocol="tcp", connect_count=2, idle_s=4, sends=5, receives=6, backlog=9),
        ),
        (
            "tcp 790 1 2 0 4 5 6 0 7 9 16 28 15 99",
            Transport(protocol="tcp", connect_count=2, idle_s=4, sends=5, receives=6, backlog=9),
        ),
        ("udp 790 1 5 6 7 8 9", Transport(protocol="udp", sends=5, receives=6, backlog=9)),
        ("udp 790 1 5 6 7 8 9 16 0 0", Transport(protocol="udp", sends=5, receives=6, backlog=9)),
        (
            "local 1 2 3 4 5 6 7 8 9 16 0 0",
            Transport(protocol="local", connect_count=2, idle_s=4, sends=5, receives=6, backlog=9),
        ),
        (
            "rdma 0 1 2 3 4 5 6 7 8 9 10 11",
            Transport(protocol="rdma", connect_count=2, idle_s=4, sends=5, receives=6, backlog=9),
        ),
    ],
)
def test_transports_by_their_word_and_least_columns(xprt: str, expected: Transport) -> None:
    assert parse_mountstats(block(xprt))[0].transports == (expected,)


@pytest.mark.parametrize(
    "xprt", ["tcp 0 1 2 3 4 5 6 7 8", "udp 1 2 3", "quic 0 1 2 3 4 5 6 7 8 9", "tcp", "", "tcp a b"]
)
def test_a_connection_that_cannot_be_read_is_refused(xprt: str) -> None:
    with pytest.raises(ParseError, match="/m: "):
        parse_mountstats(block(xprt))


def test_eight_columns_before_kernel_5_3() -> None:
    (mount,) = parse_mountstats(block(read="10 20 30 40 50 60 70 80", ninth=""))
    assert mount.read == OpStats(
        ops=10,
        transmissions=20,
        timeouts=30,
        bytes_sent=40,
        bytes_received=50,
        queue_ms=60,
        rtt_ms=70,
        execute_ms=80,
        errors=0,
    )
    assert (mount.total.ops, mount.total.execute_ms, mount.total.errors) == (11, 88, 0)
    assert (mount.server_read_bytes, mount.server_write_bytes) == (50, 60)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "junk\n",
        block()[:-1],
        block()[:-2],
        block(read="1 2 3 4 5 6 7"),
        block(read="1 2 3 4 5 6 7 8"),  # a column less than the next operation
        block(read="1 2 3 4 5 6 7 8 x"),
        block(read="9" * 30 + " 2 3 4 5 6 7 8 9"),
        block().replace("age:\t5", "age:\t"),
        block().replace("age:\t5", "age 5"),
        block().replace("7 8 \n\tRPC", "x\n\tRPC"),
        block().replace("1 2 3 4 50 60 7 8 ", "1 2 3"),
        block().replace("/m with", "/m n with"),
        block().replace("\tper-op statistics\n", ""),
        block().split("\t        READ")[0] + "\n",
        "device nas:/x mounted on /m with fstype nfs4 statvers=1.1\n",
        "device nas:/x mounted on /m\n",
        "before\n" + block(),
    ],
)
def test_torn_blocks_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match="mountstats"):
        parse_mountstats(text)


def test_a_mount_without_a_device_and_other_filesystems() -> None:
    others = "device /dev/vda mounted on / with fstype ext4\nno device mounted on /x with fstype tmpfs\n"
    nfsd = "device nfsd mounted on /proc/fs/nfsd with fstype nfsd\n"
    assert parse_mountstats(others + nfsd) == ()
    assert len(parse_mountstats(others + block() + "no device mounted on /x with fstype tmpfs\n" + block() + nfsd)) == 2


def test_escapes_in_names() -> None:
    text = block().replace("nas:/x mounted on /m", r"nas:/a\040b mounted on /m\040n")
    assert (parse_mountstats(text)[0].source, parse_mountstats(text)[0].mount_point) == ("nas:/a b", "/m n")


@pytest.mark.parametrize("text", WHOLE, ids=lambda text: text.split(" mounted")[0][-24:])
def test_a_cut_is_refused_or_gives_whole_blocks(text: str) -> None:
    whole = parse_mountstats(text)
    for cut in cuts(text):
        try:
            part = parse_mountstats(cut)
        except ParseError:
            continue
        assert part == whole[: len(part)]


@pytest.mark.parametrize("text", [QNAP["T0"], TWO, RDMA + "\n"], ids=["v3", "two", "rdma"])
def test_flipped_bits_are_survived(text: str) -> None:
    assert survives(parse_mountstats, flips(text, 600)) > 0


def test_a_hostile_line_costs_no_more_than_its_length() -> None:
    for hostile in ("1" * 100_000, "1 " * 100_000, "-" * 100_000, " " * 100_000):
        with pytest.raises(ParseError):
            parse_mountstats(block(read=hostile + "x"))


COUNT = st.integers(0, 2**64 - 1)
ROW = st.lists(COUNT, min_size=9, max_size=9)


def written(ops: dict[str, list[int]], links: list[list[int]], age: int, received: list[int]) -> str:
    lines = [
        "device nas:/x mounted on /m with fstype nfs4 statvers=1.1",
        "\topts:\trw,vers=4.2",
        f"\tage:\t{age}",
        "\timpl_id:\tname='',domain='',date='0,0'",
        "\tbytes:\t" + " ".join(map(str, received)) + " ",
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)",
        *("\txprt:\ttcp " + " ".join(map(str, link)) for link in links),
        "\tper-op statistics",
        *(f"\t{name:>12}: " + " ".join(map(str, row)) for name, row in ops.items()),
    ]
    return "\n".join(lines) + "\n\n"


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(["READ", "READ_PLUS", "WRITE", "SETCLIENTID_CONFIRM", "77"]), ROW, min_size=1),
    st.lists(st.lists(COUNT, min_size=13, max_size=13), max_size=16),
    COUNT,
    st.lists(COUNT, min_size=8, max_size=8),
)
def test_round_trip(ops: dict[str, list[int]], links: list[list[int]], age: int, received: list[int]) -> None:
    text = written(ops, links, age, received)
    mount, again = parse_mountstats(text + text)
    assert mount == again
    reads = [row for name, row in ops.items() if name in ("READ", "READ_PLUS")]
    assert list(mount.read.model_dump().values()) == [sum(row[at] for row in reads) for at in range(9)]
    assert list(mount.total.model_dump().values()) == [sum(row[at] for row in ops.values()) for at in range(9)]
    assert mount == MountStats(
        mount_point="/m",
        source="nas:/x",
        fstype="nfs4",
        age_s=age,
        options={"rw": "", "vers": "4.2"},
        server_read_bytes=received[4],
        server_write_bytes=received[5],
        transports=tuple(
            Transport(
                protocol="tcp", connect_count=link[2], idle_s=link[4], sends=link[5], receives=link[6], backlog=link[9]
            )
            for link in links
        ),
        read=mount.read,
        total=mount.total,
    )
