"""meminfo, pressure, uptime."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_samples import blocks, cuts, flips, sample, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Memory
from dsv41_tui.parsers import meminfo
from dsv41_tui.parsers.meminfo import parse_meminfo
from dsv41_tui.parsers.pressure import parse_pressure
from dsv41_tui.parsers.uptime import parse_uptime

KIB = 1024
GB10 = sample("proc/gb10-proc-meminfo.txt")
VM = blocks("proc/vm-node-baseline.txt")
MISC = blocks("proc/gb10-proc-misc.txt")


def test_gb10_memory_is_in_bytes() -> None:
    memory = parse_meminfo(GB10)
    assert memory.total == 127600748 * KIB
    assert memory.free == 3127404 * KIB
    assert memory.available == 5682916 * KIB
    assert memory.buffers == 61240 * KIB
    assert memory.cached == 10812388 * KIB
    assert memory.swap_cached == 184 * KIB
    assert memory.anon == 1579440 * KIB
    assert memory.mapped == 3920116 * KIB
    assert memory.shmem == 8082344 * KIB
    assert memory.slab == 921744 * KIB
    assert memory.kernel_stack == 24880 * KIB
    assert memory.page_tables == 61088 * KIB
    assert memory.sec_page_tables == 1024 * KIB
    assert memory.percpu == 26240 * KIB
    assert memory.vmalloc_used == 230916 * KIB
    assert memory.mlocked == 27104 * KIB
    assert memory.dirty == 312 * KIB
    assert memory.writeback == 0
    assert (memory.swap_total, memory.swap_free) == (16777212 * KIB, 16774908 * KIB)
    assert (memory.cma_total, memory.cma_free) == (65536 * KIB, 61440 * KIB)
    assert memory.hugetlb == 0


def test_a_kernel_without_cma_lines_gives_none_and_not_zero() -> None:
    memory = parse_meminfo(VM["/proc/meminfo"])
    assert memory.total == 4007356 * KIB
    assert memory.available == 3671604 * KIB
    assert memory.available < memory.free  # seen on small machines
    assert memory.cma_total is None
    assert memory.cma_free is None
    assert memory.swap_total == 0


def test_huge_pages_are_counts() -> None:
    text = "MemTotal: 100 kB\nHugePages_Total:       3\nHugepagesize:       2048 kB\n"
    assert parse_meminfo(text).hugetlb == 3 * 2048 * KIB
    assert parse_meminfo(text + "Hugetlb: 8192 kB\n").hugetlb == 8192 * KIB
    assert parse_meminfo("MemTotal: 100 kB\nHugePages_Total: 3\n").hugetlb is None


def test_cma_above_its_total_is_kept_as_it_is() -> None:
    assert parse_meminfo("MemTotal: 9 kB\nCmaTotal: 4 kB\nCmaFree: 8 kB\n").cma_leaked


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("\n", "empty"),
        ("MemFree: 1 kB\n", "MemTotal"),
        ("MemTotal: 0 kB\n", "MemTotal"),
        ("MemTotal: 12 kB\nMemFree: 12\n", "line 2"),
        ("MemTotal: 12 kB\nMemFree: 12 k", "line 2"),
        ("MemTotal: 12 kB\nMemFree: -3 kB\n", "line 2"),
        ("MemTotal: 12 kB\nCached: many kB\n", "line 2"),
        ("MemTotal: 12 MB\n", "line 1"),
        ("MemTotal: ١٢ kB\n", "line 1"),
        ("MemTotal: " + "9" * 6000 + " kB\n", "line 1"),
    ],
)
def test_a_torn_known_line_is_refused(text: str, word: str) -> None:
    with pytest.raises(ParseError, match=word):
        parse_meminfo(text)


def test_foreign_lines_are_passed_over() -> None:
    assert parse_meminfo("Zebra: stripes\nMemTotal: 12 kB\nFuture(x): 1 2 3\n").total == 12 * KIB


@pytest.mark.parametrize("text", [GB10, VM["/proc/meminfo"]])
def test_a_cut_never_changes_a_value(text: str) -> None:
    whole = parse_meminfo(text).model_dump()
    refused = 0
    for cut in cuts(text):
        try:
            memory = parse_meminfo(cut).model_dump()
        except ParseError:
            refused += 1
            continue
        assert all(value is None or value == whole[field] for field, value in memory.items())
    assert refused > len("MemTotal:       127600748 k")


def test_flipped_bits_are_survived() -> None:
    assert survives(parse_meminfo, flips(GB10, 3000)) > 0


@given(st.dictionaries(st.sampled_from(sorted(meminfo._FIELDS)), st.integers(0, 10**16 - 1)), st.integers(1, 2**40))
def test_round_trip(values: dict[str, int], total: int) -> None:
    values["MemTotal"] = total
    text = "".join(f"{name + ':':<15} {value:>8} kB\n" for name, value in values.items())
    assert parse_meminfo(text) == Memory(**{meminfo._FIELDS[name]: value * KIB for name, value in values.items()})


def test_pressure_of_a_loaded_gb10() -> None:
    pressure = parse_pressure(MISC["/proc/pressure/memory"])
    assert (pressure.some_avg10, pressure.full_avg10) == (2.31, 1.87)
    assert (pressure.some_total_us, pressure.full_total_us) == (48120331, 37722904)


def test_pressure_of_an_idle_node() -> None:
    pressure = parse_pressure(VM["/proc/pressure/memory"])
    assert (pressure.some_avg10, pressure.full_avg10, pressure.some_total_us) == (0.0, 0.0, 0)
    assert parse_pressure(VM["/proc/pressure/io"]).full_total_us == 208339


def test_pressure_of_a_node_with_a_hung_mount() -> None:
    tail = "".join(sample("nfs/fault-hang-server-stopped.txt").splitlines(keepends=True)[-2:])
    assert parse_pressure(tail).some_total_us == 1942362


def test_pressure_without_full_is_none() -> None:
    some = MISC["/proc/pressure/memory"].splitlines(keepends=True)[0]
    pressure = parse_pressure(some)
    assert pressure.full_avg10 is None
    assert pressure.full_total_us is None


@pytest.mark.parametrize("text", ["", "\n", "cat: /proc/pressure/memory: Operation not supported\n"])
def test_pressure_accounting_that_is_off_is_said(text: str) -> None:
    with pytest.raises(ParseError, match="psi=1"):
        parse_pressure(text)


@pytest.mark.parametrize(
    "text",
    [
        "some avg10=1 avg60=0.00 avg300=0.00 total=0\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00\n",
        "some avg10=nan avg60=0.00 avg300=0.00 total=0\n",
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + "9" * 40 + "\n",
        "half avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    ],
)
def test_pressure_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_pressure(text)


def test_a_cut_pressure_is_refused_or_lacks_full() -> None:
    text = MISC["/proc/pressure/memory"]
    kept = [cut for cut in cuts(text) if not survives(parse_pressure, iter([cut]))]
    assert kept == [text[: text.index("full")]]
    assert survives(parse_pressure, flips(text, 2000)) > 1000


def test_uptime() -> None:
    assert parse_uptime(VM["/proc/uptime"]) == 141.04
    assert parse_uptime("3456789.12 0.00\n") == 3456789.12


@pytest.mark.parametrize(
    "text", ["", "12", "12.34", "12.34 ", "12.3 4.5", "-1.00 2.00", "nan 1.00", "1.00 x", "inf 1.0"]
)
def test_uptime_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="/proc/uptime"):
        parse_uptime(text)


def test_a_cut_uptime_keeps_its_first_number() -> None:
    for cut in cuts("141.04 94.89\n"):
        try:
            assert parse_uptime(cut) == 141.04
        except ParseError:
            assert len(cut) < len("141.04 94.8")
