"""host, netdev, sections, frame."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import blocks, cuts, flips, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Host
from dsv41_tui.parsers.frame import parse_frame
from dsv41_tui.parsers.host import parse_host
from dsv41_tui.parsers.netdev import parse_net
from dsv41_tui.parsers.sections import split_sections

VM = blocks("proc/vm-node-baseline.txt")["/proc/net/dev"]
GB10 = blocks("proc/gb10-proc-misc.txt")["/proc/net/dev"]
BOOT_ID = "0b8e3a52-6c1d-4f7e-9a40-1d2c3b4a5f60"


def test_host() -> None:
    host = parse_host(
        {
            "boot_id": BOOT_ID + "\n",
            "osrelease": "6.17.0-1014-nvidia\n",
            "cmdline": "BOOT_IMAGE=/boot/vmlinuz root=UUID=1 ro kho=off\n",
            "hostname": "spark1\n",
            "product": "NVIDIA_DGX_Spark\n",
            "machine": "aarch64\n",
        }
    )
    assert host.boot_id == BOOT_ID
    assert host.kernel == "6.17.0-1014-nvidia"
    assert host.kho_off is True
    assert host.hostname == "spark1"
    assert host.product == "NVIDIA_DGX_Spark"
    assert host.machine == "aarch64"


def test_what_is_absent_empty_or_an_error_line_is_none() -> None:
    host = parse_host(
        {
            "osrelease": "6.17.0\n",
            "product": "",
            "hostname": "\n",
            "machine": "cat: /proc/sys/kernel/arch: No such file or directory\n",
            "cmdline": "/bin/cat: /proc/cmdline: Permission denied",
        }
    )
    assert host == Host(kernel="6.17.0")
    assert host.kho_off is None


@pytest.mark.parametrize("files", [{}, {"hostname": "\n"}, {"cmdline": "head: /proc/cmdline: Permission denied"}])
def test_a_host_of_which_nothing_was_read(files: dict[str, str]) -> None:
    with pytest.raises(ParseError, match=r"none of boot_id.* can be read"):
        parse_host(files)


@pytest.mark.parametrize("boot_id", ["", "x", BOOT_ID[:-1], BOOT_ID.upper(), BOOT_ID + "\nb"])
def test_a_boot_id_that_is_none_never_passes_for_a_reboot(boot_id: str) -> None:
    if not boot_id:
        assert parse_host({"boot_id": boot_id, "osrelease": "6.17.0"}).boot_id is None
        return
    with pytest.raises(ParseError, match="boot_id"):
        parse_host({"boot_id": boot_id})


@given(st.dictionaries(st.sampled_from(["boot_id", "osrelease", "cmdline", "hostname", "product", "x"]), st.text()))
def test_hostile_host_files(files: dict[str, str]) -> None:
    try:
        parse_host(files)
    except ParseError as error:
        assert "\n" not in error.message


def test_interfaces_of_a_gb10() -> None:
    attributes = {
        "enP7s7": {"speed": "10000\n", "operstate": "up\n", "mtu": "1500\n"},
        "enp1s0f0np0": {"speed": "200000\n", "operstate": "up\n", "mtu": "9000\n"},
        "wlP9s9": {
            "speed": "head: error reading '/sys/class/net/wlP9s9/speed': Invalid argument\n",
            "operstate": "down",
        },
        "lo": {"speed": "-1\n", "operstate": "unknown\n", "mtu": "65536\n"},
    }
    found = {interface.name: interface for interface in parse_net(GB10, attributes)}
    assert list(found) == ["lo", "enP7s7", "enp1s0f0np0", "enP2p1s0f0np0", "wlP9s9"]
    nas = found["enP7s7"]
    assert (nas.rx_bytes, nas.tx_bytes, nas.rx_dropped) == (512033120331, 20331120331, 12)
    assert (nas.speed_mbit, nas.operstate, nas.mtu) == (10000, "up", 1500)
    assert (found["enp1s0f0np0"].rx_bytes, found["enp1s0f0np0"].tx_bytes) == (1203311, 1303311)
    assert found["enp1s0f0np0"].speed_mbit == 200000
    assert (found["lo"].speed_mbit, found["lo"].mtu) == (None, 65536)
    assert (found["wlP9s9"].speed_mbit, found["wlP9s9"].operstate, found["wlP9s9"].mtu) == (None, "down", None)
    assert found["enP2p1s0f0np0"].operstate is None


def test_interfaces_of_the_node() -> None:
    eth0 = parse_net(VM, {})[1]
    assert (eth0.name, eth0.rx_bytes, eth0.tx_bytes, eth0.speed_mbit) == ("eth0", 29103, 37713, None)
    assert [interface.name for interface in parse_net(VM, {})] == ["lo", "eth0", "eth1", "eth2", "docker0"]


def test_dropped_packets_alias_names_and_a_colon_that_touches() -> None:
    numbers = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
    old, alias = parse_net(f"  eth0:{numbers}\neth0:1: {numbers}\n", {})
    assert (old.name, old.rx_bytes, old.rx_dropped, old.tx_bytes) == ("eth0", 1, 4, 9)
    assert alias.name == "eth0:1"


@pytest.mark.parametrize("speed", ["-1", "0", "65535", "4294967295", "", "10 Gb/s", "1" * 30])
def test_a_speed_that_is_unknown_is_none(speed: str) -> None:
    assert parse_net("lo: " + "0 " * 16, {"lo": {"speed": speed}})[0].speed_mbit is None


@pytest.mark.parametrize("text", ["", "eth0: 1 2 3\n", "eth0 1\n", "Inter-| x\n face |y\n", "eth0: " + "x " * 16])
def test_a_torn_table_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="/proc/net/dev"):
        parse_net(text, {})


@pytest.mark.parametrize("text", [VM, GB10])
def test_a_cut_table_is_refused_or_a_true_part(text: str) -> None:
    whole = parse_net(text, {})
    for cut in cuts(text):
        try:
            part = parse_net(cut, {})
        except ParseError:
            continue
        assert part == whole[: len(part)]
    assert survives(lambda mutant: parse_net(mutant, {}), flips(text, 2000)) > 0


def test_a_hostile_line_costs_no_more_than_its_length() -> None:
    with pytest.raises(ParseError):
        parse_net(("1:" * 200_000) + "\n", {})


# sections: what head prints


def _head(command: list[str], paths: list[str], directory: Path) -> str:
    return subprocess.run(
        [*command, "-n", "20000", *paths],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        check=False,
    ).stdout


@pytest.mark.parametrize("command", [["head"], ["busybox", "head"]], ids=["coreutils", "busybox"])
def test_sections_of_the_real_head(command: list[str], tmp_path: Path) -> None:
    assert shutil.which(command[0]), f"{command[0]} is needed"
    contents = {"one": "a\nb\n", "no-line-feed": "a\nb", "empty": "", "blank": "\n\n", "arrow": "==> x\n <==\n"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    paths = [str(tmp_path / name) for name in contents]
    missing = str(tmp_path / "missing")
    order = [missing, paths[0], missing, paths[1], missing, missing, str(tmp_path), *paths[2:], missing]
    text = _head(command, order, tmp_path)
    frame = parse_frame(text)
    assert frame.errors.keys() == {missing, str(tmp_path)}
    assert frame.errors[missing] == "No such file or directory"
    assert frame.files == {str(tmp_path / name): content for name, content in contents.items()}
    sections = split_sections(text)
    complaints = sections.pop("").splitlines()
    assert len(complaints) == 6
    assert all(line.startswith("head: ") for line in complaints)
    assert sum("missing" in line and "No such file" in line for line in complaints) == 5
    assert sections.pop(str(tmp_path)) == ""
    assert sections == {str(tmp_path / name): content for name, content in contents.items()}


def test_a_single_file_has_no_header() -> None:
    assert split_sections("a\nb\n") == {"": "a\nb\n"}
    assert split_sections("") == {}


CONTENT = st.text(st.characters(codec="utf-8", exclude_characters="\r")).filter(
    lambda text: "==> " not in text and "head: " not in text
)


@given(st.dictionaries(st.text("abc/._-", min_size=1), CONTENT, max_size=6))
def test_sections_round_trip(files: dict[str, str]) -> None:
    text = "\n".join(f"==> {path} <==\n{content}" for path, content in files.items())
    assert split_sections(text) == files


@given(st.text("=> <\nhead: /A'x"))
def test_sections_never_raise(text: str) -> None:
    assert all(isinstance(content, str) for content in split_sections(text).values())
