"""mountinfo, fstab, docker volumes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import blocks, cuts, flips, sample, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import DockerVolume, FstabEntry
from dsv41_tui.parsers.docker_volumes import parse_docker_volumes
from dsv41_tui.parsers.fstab import parse_fstab
from dsv41_tui.parsers.mountinfo import parse_mountinfo

QNAP = sample("nfs/gb10-mountinfo-qnap.txt")
VM = sample("nfs/vm-mountinfo.txt")
TOOLS = blocks("nfs/nfs-tools-captured.txt", "## ")
HUNG = "".join(
    line for line in sample("nfs/nfs-hung-tools-captured.txt").splitlines(keepends=True) if line.startswith("44 31 ")
)


def test_qnap_mount_and_its_read_only_bind() -> None:
    mount, bind = parse_mountinfo(QNAP)
    assert (mount.mount_point, mount.source, mount.fstype) == ("/mnt/qnap", "192.168.50.20:/models", "nfs")
    assert (mount.device, mount.root, mount.read_only) == ("0:61", "/", False)
    assert mount.options["vers"] == "3"
    assert mount.options["rsize"] == "1048576"
    assert mount.options["nconnect"] == "4"
    assert mount.options["hard"] == ""
    assert mount.options["timeo"] == "600"
    assert mount.options["mountproto"] == "udp"
    assert mount.options["addr"] == "192.168.50.20"
    assert "noatime" not in mount.options  # a flag of the mount, not of the superblock
    assert bind.mount_point == "/srv/weights nas"
    assert bind.root == "/DeepSeek-V4.1-Flash"
    assert bind.device == mount.device
    assert bind.read_only is True  # by its own flags; the superblock is rw


def test_the_nfs_mount_of_the_node_among_27() -> None:
    (mount,) = parse_mountinfo(VM)
    assert (mount.mount_point, mount.source, mount.fstype, mount.device) == ("/mnt/nas", "nas:/export", "nfs4", "0:38")
    assert mount.options["vers"] == "4.2"
    assert mount.options["nconnect"] == "8"
    assert mount.options["addr"] == "10.99.1.10"
    assert mount.read_only is False


def test_mounts_without_optional_tags() -> None:
    v4, v3 = parse_mountinfo(TOOLS["mountinfo-nfs"])
    assert (v4.mount_point, v4.fstype, v4.options["vers"]) == ("/mnt/nas4", "nfs4", "4.2")
    assert (v3.mount_point, v3.fstype, v3.options["vers"], v3.source) == ("/mnt/nas3", "nfs", "3", "127.0.0.2:/srv/nas")
    assert parse_mountinfo(HUNG) == (v4,)


@pytest.mark.parametrize("tags", ["", "shared:1 ", "shared:1 master:2 propagate_from:3 unbindable "])
@pytest.mark.parametrize(("flags", "super_flags", "read_only"), [("rw", "rw", 0), ("ro", "rw", 1), ("rw", "ro", 1)])
def test_tags_and_read_only(tags: str, flags: str, super_flags: str, read_only: int) -> None:
    (mount,) = parse_mountinfo(f"4 3 0:9 / /m {flags},noatime {tags}- nfs4 nas:/x {super_flags},vers=4.2\n")
    assert (mount.read_only, mount.options) == (bool(read_only), {super_flags: "", "vers": "4.2"})


def test_escapes_are_undone_but_none_that_acts_on_a_screen() -> None:
    line = r"4 3 0:9 /a\134b /m\040n\011o\043p\012q\033[2J rw - nfs nas:/x\040y rw,vers=3"
    (mount,) = parse_mountinfo(line + "\n")
    assert mount.root == r"/a\b"
    assert mount.mount_point == "/m n\to#p" + r"\012q\033[2J"
    assert mount.source == "nas:/x y"


def test_a_docker_volume_gets_its_server_from_addr() -> None:
    line = "9 3 0:9 / /var/lib/docker/volumes/v/_data rw - nfs :/dsv41 rw,vers=4.2,addr={}\n"
    assert parse_mountinfo(line.format("10.0.0.1"))[0].source == "10.0.0.1:/dsv41"
    assert parse_mountinfo(line.format("fd00::1"))[0].source == "[fd00::1]:/dsv41"


def test_a_quoted_option_keeps_its_comma() -> None:
    line = '9 3 0:9 / /m rw - nfs4 nas:/x rw,context="system_u:object_r:nfs_t:s0:c1,c2",vers=4.2\n'
    options = parse_mountinfo(line)[0].options
    assert options == {"rw": "", "context": '"system_u:object_r:nfs_t:s0:c1,c2"', "vers": "4.2"}


def test_autofs_is_no_nfs_mount() -> None:
    assert "/mnt/lazy" in QNAP
    assert all(mount.mount_point != "/mnt/lazy" for mount in parse_mountinfo(QNAP))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("29 1 259:2 / / rw - ext4 x rw", "cut off"),
        ("29 1 259:2 / / rw shared:1\n", "line 1"),
        ("29 1 / - nfs nas:/x rw\n", "line 1"),
        ("29 1 0:1 / /m rw - nfs nas:/x\n", "line 1"),
        ("1 1 0:1 / / rw - ext4 x rw\n\n29 1 0:1 / /m rw - nfs nas:/x rw more\n", "line 3"),
    ],
)
def test_a_torn_mountinfo_is_refused(text: str, word: str) -> None:
    with pytest.raises(ParseError, match=word):
        parse_mountinfo(text)


@pytest.mark.parametrize("text", [QNAP, VM, TOOLS["mountinfo-nfs"]])
def test_a_cut_mountinfo_is_refused_or_a_true_part(text: str) -> None:
    whole = parse_mountinfo(text)
    for cut in cuts(text):
        try:
            part = parse_mountinfo(cut)
        except ParseError:
            continue
        assert cut.endswith("\n")
        assert part == whole[: len(part)]
    assert survives(parse_mountinfo, flips(text, 2000)) > 0


FIELD = st.text(st.characters(codec="ascii", min_codepoint=33, exclude_characters='\\,="'), min_size=1, max_size=12)


def escaped(text: str) -> str:
    return text.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("#", "\\043")


@given(
    st.text(st.characters(codec="ascii", min_codepoint=32, exclude_characters=","), min_size=1).map(lambda t: "/" + t),
    st.dictionaries(FIELD, FIELD, min_size=1, max_size=8),
    st.sampled_from(["nfs", "nfs4"]),
)
def test_mountinfo_and_fstab_round_trip(place: str, wanted: dict[str, str], fstype: str) -> None:
    joined = ",".join(f"{name}={value}" for name, value in wanted.items())
    (mount,) = parse_mountinfo(f"1 2 0:3 / {escaped(place)} rw - {fstype} nas:/x {joined}\n")
    assert (mount.mount_point, mount.options, mount.fstype) == (place, wanted, fstype)
    (entry,) = parse_fstab(f"nas:/x\t{escaped(place)} {fstype} {joined} 0 0\n")
    assert entry == FstabEntry(source="nas:/x", mount_point=place, fstype=fstype, options=wanted)


FSTAB = """# /etc/fstab: static file system information.
UUID=8d1c-22 / ext4 errors=remount-ro 0 1
/swap.img none swap sw 0 0

# the NAS
192.168.50.20:/models  /mnt/qnap  nfs  ro,vers=3,nconnect=8,hard,rsize=1048576 0 0
nas:/with\\040space\t/mnt/a\\040b\tnfs4\tdefaults
#nas:/old /mnt/old nfs defaults 0 0
nas:/three /mnt/three nfs
nas:/two /mnt/two
//nas/share /mnt/cifs cifs guest 0 0"""


def test_fstab_gives_what_was_asked_for() -> None:
    asked, spaced, short = parse_fstab(FSTAB)
    assert asked.source == "192.168.50.20:/models"
    assert asked.mount_point == "/mnt/qnap"
    assert asked.fstype == "nfs"
    assert asked.options == {"ro": "", "vers": "3", "nconnect": "8", "hard": "", "rsize": "1048576"}
    assert (spaced.source, spaced.mount_point, spaced.options) == ("nas:/with space", "/mnt/a b", {"defaults": ""})
    assert (short.mount_point, short.options) == ("/mnt/three", {})


def test_tables_of_proc_mounts_read_like_an_fstab() -> None:
    (mount,) = parse_fstab(sample("nfs/vm-mounts.txt"))
    assert (mount.mount_point, mount.options["nconnect"]) == ("/mnt/nas", "8")
    (clamped,) = parse_fstab(sample("nfs/vm-mounts-rsize-clamped.txt"))
    assert (clamped.options["rsize"], clamped.options["wsize"]) == ("131072", "131072")
    assert [entry.mount_point for entry in parse_fstab(TOOLS["mounts-nfs"])] == ["/mnt/nas4", "/mnt/nas3"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "garbage", "a b c d e f g\n"])
def test_an_fstab_without_nfs_is_no_error(text: str) -> None:
    assert parse_fstab(text) == ()


def test_fstab_survives_everything() -> None:
    assert survives(parse_fstab, cuts(FSTAB)) == 0
    assert survives(parse_fstab, flips(FSTAB, 2000)) == 0


# docker

INSPECTED = sample("docker/volume-inspect-nfs.json")


def test_nfs_volumes_and_no_others() -> None:
    weights, models = parse_docker_volumes(INSPECTED)
    assert weights.name == "dsv41-exl3-weights"
    assert weights.mount_point == "/var/lib/docker/volumes/dsv41-exl3-weights/_data"
    assert weights.source == "10.0.0.1:/dsv41-exl3"
    assert weights.fstype == "nfs"
    assert weights.options["nfsvers"] == "4.2"
    assert weights.options["nconnect"] == "8"
    assert weights.options["ro"] == ""
    assert (models.name, models.source, models.fstype) == ("nas-models", "192.168.50.20:/models", "nfs4")
    assert models.options["soft"] == ""


def test_messages_around_the_array_do_not_matter() -> None:
    noise = "Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.\n"
    after = "Error response from daemon: get gone: no such volume\n"
    assert parse_docker_volumes(noise + INSPECTED + after) == parse_docker_volumes(INSPECTED)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "[]\n",
        "[]\nError response from daemon: get gone: no such volume\n",
        "\"docker volume inspect\" requires at least 1 argument.\nSee 'docker volume inspect --help'.\n",
    ],
)
def test_no_volume_is_no_error(text: str) -> None:
    assert parse_docker_volumes(text) == ()


@pytest.mark.parametrize(
    ("text", "words", "fix"),
    [
        (
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "
            '"http://%2Fvar%2Frun%2Fdocker.sock/v1.45/volumes": dial unix /var/run/docker.sock: connect: '
            "permission denied\n",
            "docker refused",
            True,
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
            "not running",
            True,
        ),
        ("sh: 1: docker: not found\n", "not installed", False),
        ("bash: line 1: docker: command not found\n", "not installed", False),
        ("something else\nentirely", "JSON array", False),
        ("[{]", "whole JSON array", False),
        ('["x"]', "an object per volume", False),
        ('[{"Name": 1, "Mountpoint": "/m", "Options": {"type": "nfs", "device": ":/x"}}]', "Name as text", False),
        ('[{"Name": "n", "Mountpoint": "/m", "Options": {"type": "nfs"}}]', "device as text", False),
        (
            '[{"Name": "n", "Mountpoint": "/m", "Options": {"type": "nfs", "device": ":/x", "o": 1}}]',
            "o as text",
            False,
        ),
        ("[" * 100_000, "whole JSON array", False),
        ("[" + "9" * 10_000 + "]", "JSON array", False),
    ],
)
def test_what_docker_says_instead(text: str, words: str, fix: bool) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        parse_docker_volumes(text)
    assert bool(caught.value.fix) is fix
    assert "\n" not in caught.value.message


def test_other_drivers_and_odd_options_are_dropped() -> None:
    base = {"Name": "n", "Mountpoint": "/m", "Options": {"type": "nfs", "device": ":/x", "o": "addr=a"}}
    assert parse_docker_volumes(json.dumps([base])) == (
        DockerVolume(name="n", mount_point="/m", source="a:/x", fstype="nfs", options={"addr": "a"}),
    )
    for change in (
        {"Driver": "netshare"},
        {"Options": []},
        {"Options": {"type": ["nfs"]}},
        {"Options": {"type": "nfsd"}},
    ):
        assert parse_docker_volumes(json.dumps([base | change])) == ()


def test_json_escapes_bring_no_control_characters_back() -> None:
    hostile = {"Name": "a\x1b[2J\nb\u202e", "Mountpoint": "/m\x07", "Options": {"type": "nfs", "device": "s:/\ud800x"}}
    (volume,) = parse_docker_volumes(json.dumps([hostile]))
    assert (volume.name, volume.mount_point, volume.source) == ("a b", "/m", "s:/x")


def test_cut_and_flipped_docker_output() -> None:
    text = INSPECTED.rstrip()
    assert survives(parse_docker_volumes, (cut for cut in cuts(text) if cut)) == len(text) - 1
    assert survives(parse_docker_volumes, flips(text, 3000)) > 0
