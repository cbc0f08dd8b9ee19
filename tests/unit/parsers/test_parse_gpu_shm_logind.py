"""gpu, shm, logind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import cuts, flips, sample, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import MIB, Gpu, Logind, ShmUse
from dsv41_tui.parsers.gpu import parse_gpu
from dsv41_tui.parsers.logind import parse_logind
from dsv41_tui.parsers.shm import parse_shm

SMI = sample("gpu/gb10-nvidia-smi.txt").splitlines()
GB10 = "NVIDIA GB10, 580.173.02, 96, 68, 62.41, 2411, [N/A]"


def test_the_line_of_the_sample_in_our_order() -> None:
    index, name, _uuid, _bus, driver, *rest = SMI[3].replace(" %", "").replace(" W", "").replace(" MHz", "").split(", ")
    assert (index, name, driver, rest[0]) == ("0", "NVIDIA GB10", "580.173.02", "[N/A]")
    used, utilization, temperature, power, clock = rest[1], rest[3], rest[5], rest[6], rest[8]
    line = ", ".join([name, driver, utilization, temperature, power, clock, used])
    assert line == GB10
    assert parse_gpu(line) == Gpu(
        name="NVIDIA GB10",
        driver="580.173.02",
        utilization_percent=96,
        temperature_c=68,
        power_w=62.41,
        sm_clock_mhz=2411,
        memory_used_bytes=None,
    )


def test_a_gpu_that_tells_its_memory() -> None:
    gpu = parse_gpu("NVIDIA H200, 580.159.04, 0, 34, 122.47, 1980, 143771\n")
    assert (gpu.memory_used_bytes, gpu.power_w) == (143771 * MIB, 122.47)


@pytest.mark.parametrize(
    "missing",
    ["[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]", "", "nan", "96 %", "1e3", "٣"],
)
def test_every_non_number_is_none(missing: str) -> None:
    gpu = parse_gpu(f"NVIDIA GB10, 580.1, {missing}, {missing}, {missing}, {missing}, {missing}")
    assert gpu == Gpu(name="NVIDIA GB10", driver="580.1")


def test_a_gpu_without_a_name_or_driver() -> None:
    assert parse_gpu("[N/A], [N/A], 1, 2, 3, 4, 5") == Gpu(
        utilization_percent=1, temperature_c=2, power_w=3, sm_clock_mhz=4, memory_used_bytes=5 * MIB
    )


@pytest.mark.parametrize("line", [line for line in SMI if line.startswith(("NVIDIA-SMI has failed", "Field "))])
def test_failures_are_said_in_the_words_of_nvidia_smi(line: str) -> None:
    with pytest.raises(ParseError, match=r"^nvidia-smi: (NVIDIA-SMI has failed|Field \"nosuch\")"):
        parse_gpu(line)


def test_the_sample_has_both_failures() -> None:
    assert sum(line.startswith(("NVIDIA-SMI has failed", "Field ")) for line in SMI) == 2


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\n",
        "No devices were found",
        "sh: 1: nvidia-smi: not found",
        "name, driver_version, utilization.gpu [%], temperature.gpu, power.draw [W], clocks.current.sm [MHz], x",
        "NVIDIA GB10, 580.173.02, 96",
        GB10 + ", 7",
        GB10 + "\n" + GB10,
        SMI[6],
        SMI[8],
    ],
)
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ParseError, match=r"^nvidia-smi"):
        parse_gpu(line)


def test_a_cut_gpu_line_is_refused_or_lacks_its_last_field() -> None:
    for cut in cuts(GB10):
        try:
            assert parse_gpu(cut) == parse_gpu(GB10)
        except ParseError:
            assert cut.count(",") < 6
    assert survives(parse_gpu, flips(GB10, 2000)) > 0


NUMBER = st.decimals(-(10**6), 10**6, places=2)


@given(st.from_regex(r"\A[A-Za-z0-9 ]{1,30}\Z").map(str.strip).filter(bool), st.lists(NUMBER, min_size=5, max_size=5))
def test_gpu_round_trip(name: str, values: list[object]) -> None:
    gpu = parse_gpu(", ".join([name, "580.1", *map(str, values)]))
    assert gpu.name == (None if name == "N/A" else name)
    assert [gpu.utilization_percent, gpu.temperature_c, gpu.power_w, gpu.sm_clock_mhz] == [
        float(str(value)) for value in values[:4]
    ]


# /dev/shm


def test_shm_size_use_and_distinct_owners() -> None:
    text = "4096 15950094 8437118\nroot\ndsv\nroot\n1002\n"
    assert parse_shm(text) == ShmUse(
        size=15950094 * 4096, used=(15950094 - 8437118) * 4096, owners=("1002", "dsv", "root")
    )


def test_an_empty_shm_has_no_owner() -> None:
    assert parse_shm("4096 100 100\n") == ShmUse(size=409600, used=0, owners=())


def test_error_lines_and_unknown_owners_are_no_names() -> None:
    text = "4096 100 90\nstat: cannot statx '/dev/shm/x': No such file or directory\nUNKNOWN\n\nad.user@corp\n"
    assert parse_shm(text).owners == ("ad.user@corp",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\nroot\n",
        "stat: cannot read file system information for '/dev/shm': No such file or directory\n",
        "4096 100\n",
        "4096 100 101\n",
        "4096 -1 0\n",
        "4096 " + "9" * 5000 + " 1\n",
        "root\n4096 1 1\n",
    ],
)
def test_shm_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="/dev/shm"):
        parse_shm(text)


@given(st.integers(1, 65536), st.integers(0, 2**50), st.integers(0, 2**50), st.sets(st.from_regex(r"\A[a-z]{1,8}\Z")))
def test_shm_round_trip(block: int, used: int, free: int, owners: set[str]) -> None:
    text = "\n".join([f"{block} {used + free} {free}", *owners])
    assert parse_shm(text) == ShmUse(size=block * (used + free), used=block * used, owners=tuple(sorted(owners)))


def test_shm_survives_cuts_and_flips() -> None:
    text = "4096 15950094 8437118\nroot\ndsv\n"
    assert survives(parse_shm, cuts(text)) >= len("4096 15950094 ")
    assert survives(parse_shm, flips(text, 2000)) > 0


# logind


def test_logind_of_dgx_os() -> None:
    text = "b false\nb true\nLinger=yes\nuser=dsv\nuid=1000\n"
    assert parse_logind(text) == Logind(kill_user_processes=False, remove_ipc=True, linger=True, user="dsv", uid=1000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b true\n", Logind(kill_user_processes=True)),
        ("Linger=no\n", Logind(linger=False)),
        ("Linger=\nuser=a\n", Logind(user="a")),
        ("Linger=perhaps\n", Logind()),
        ("user=dsv\nuid=x\n", Logind(user="dsv")),
        ("uid=" + "9" * 200 + "\n", Logind()),
        (
            "Failed to get property KillUserProcesses on interface org.freedesktop.login1.Manager: Access denied\n"
            "Failed to look up user dsv: No such process\nuser=dsv\nuid=1000\n",
            Logind(user="dsv", uid=1000),
        ),
        (
            "b false\nFailed to get property RemoveIPC: Unknown\nLinger=yes\n",
            Logind(kill_user_processes=False, linger=True),
        ),
    ],
)
def test_what_is_missing_is_none(text: str, expected: Logind) -> None:
    assert parse_logind(text) == expected


@pytest.mark.parametrize("text", ["", "\n", "sh: busctl: not found\n", "b maybe\n", "b true\nb true\nb false\n"])
def test_logind_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"^logind"):
        parse_logind(text)


def test_logind_survives_cuts_and_flips() -> None:
    text = "b false\nb true\nLinger=yes\nuser=dsv\nuid=1000\n"
    whole = parse_logind(text).model_dump()
    for cut in cuts(text[: text.index("user")]):
        try:
            part = parse_logind(cut).model_dump()
        except ParseError:
            continue
        assert all(value is None or value == whole[field] for field, value in part.items())
    survives(parse_logind, flips(text, 2000))
