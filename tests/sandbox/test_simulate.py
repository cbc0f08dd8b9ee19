"""What the kernels of the nodes would say: consistent, ever growing, and readable by the project's own parsers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsv41_tui.core.readings import GIB, MIB, Memory, MountStats
from dsv41_tui.parsers.fstab import parse_fstab
from dsv41_tui.parsers.host import parse_host
from dsv41_tui.parsers.meminfo import parse_meminfo
from dsv41_tui.parsers.mountinfo import parse_mountinfo
from dsv41_tui.parsers.mountstats import parse_mountstats
from dsv41_tui.parsers.nas import parse_nas
from dsv41_tui.parsers.netdev import parse_net
from dsv41_tui.parsers.pressure import parse_pressure
from dsv41_tui.parsers.uptime import parse_uptime
from dsv41_tui.sandbox.files import fixed_files, moving_files
from dsv41_tui.sandbox.plan import Member, members
from dsv41_tui.sandbox.scenario import NodeScene, Scenario, load_scenario, names
from tests.sandbox.conftest import outage

NODES = 3
MOMENTS = st.floats(min_value=0, max_value=4000, allow_nan=False)


BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def who(name: str) -> Member:
    return next(member for member in members(NODES, nas=True) if member.name == name)


def files_of(scenario: Scenario, name: str, t: float) -> dict[str, str]:
    member = who(name)
    return fixed_files(scenario, member, NODES) | moving_files(scenario, member, NODES, t, BEGAN)


def memory(scenario: Scenario, name: str, t: float) -> Memory:
    return parse_meminfo(files_of(scenario, name, t)["proc/meminfo"])


def mount(scenario: Scenario, name: str, t: float) -> MountStats:
    return parse_mountstats(files_of(scenario, name, t)["proc/self/mountstats"])[0]


@pytest.mark.parametrize("scenario", map(load_scenario, names()), ids=names())
@pytest.mark.parametrize("name", ["spark1", "spark2", "spark3"])
def test_all_files_of_a_node_are_understood(scenario: Scenario, name: str) -> None:
    files = files_of(scenario, name, 11.3)
    assert parse_uptime(files["proc/uptime"]) == pytest.approx(scenario.uptime_s + 11.3, abs=0.01)
    assert parse_pressure(files["proc/pressure/memory"]).some_avg10 == scene(scenario, name).pressure_percent
    mounts = parse_mountinfo(files["proc/self/mountinfo"])
    stats = parse_mountstats(files["proc/self/mountstats"])
    assert [entry.mount_point for entry in mounts] == [block.mount_point for block in stats]
    assert {entry.source for entry in mounts} == {"192.168.50.20:/models"}
    assert all(block.options["nconnect"] == str(len(block.transports)) == "8" for block in stats)
    (asked,) = parse_fstab(files["etc/fstab"])
    assert asked.mount_point == mounts[0].mount_point and asked.options["nconnect"] == "8"
    net = {port.name: port for port in parse_net(files["proc/net/dev"], attributes(files))}
    assert net["enP7s7"].speed_mbit == 10_000 and net["enp1s0f0np0"].operstate == "up"
    host = parse_host({"osrelease": files["proc/sys/kernel/osrelease"], "cmdline": files["proc/cmdline"]})
    assert host.kernel == (scene(scenario, name).kernel or scenario.kernel) and host.kho_off is False


def scene(scenario: Scenario, name: str) -> NodeScene:
    return scenario.head if name == "spark1" else scenario.worker


def attributes(files: dict[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if path.startswith("sys/class/net/"):
            _, _, _, port, attribute = path.split("/")
            found.setdefault(port, {})[attribute] = text
    return found


def test_the_nas_is_understood_and_has_sent_what_the_nodes_have_read() -> None:
    scenario = load_scenario("healthy")
    files = files_of(scenario, "nas", 30)
    nas = parse_nas({f"/{path}": text for path, text in files.items()})
    assert nas.nfsd_threads == 32 and nas.versions == ("3", "4", "4.1", "4.2") and nas.max_block_bytes == MIB
    assert [array.degraded for array in nas.raid] == [False, False]
    assert nas.bonds[0].speed_mbit == 20_000
    read = sum(mount(scenario, f"spark{number}", 30).server_read_bytes or 0 for number in (1, 2, 3))
    assert f"\nio {read} 0\n" in files["proc/net/rpc/nfsd"]


@settings(max_examples=40, deadline=None)
@given(first=MOMENTS, second=MOMENTS, which=st.sampled_from(names()), number=st.integers(1, NODES))
def test_counters_only_grow_and_agree_with_each_other(first: float, second: float, which: str, number: int) -> None:
    scenario = load_scenario(which)
    early, late = sorted((first, second))
    before, after = (mount(scenario, f"spark{number}", t) for t in (early, late))
    assert (after.server_read_bytes or 0) >= (before.server_read_bytes or 0)
    for old, new in zip(before.transports, after.transports, strict=True):
        assert new.sends >= old.sends and new.receives >= old.receives and new.sends >= new.receives
    for stats in (before, after):
        assert stats.receives == stats.total.ops and stats.sends == stats.total.transmissions
        assert stats.read.ops == -(-(stats.server_read_bytes or 0) // MIB)
    assert after.read.rtt_ms >= before.read.rtt_ms and after.read.transmissions >= before.read.transmissions


@pytest.mark.parametrize(
    ("which", "name", "free_gib", "gpu_gib"),
    [
        ("healthy", "spark1", 5.0, 106.2),
        ("healthy", "spark2", 7.0, 106.2),
        ("kho", "spark2", 89.2, 25.4),
        ("page-cache", "spark2", 1.4, 5.6),
    ],
)
def test_memory_is_as_the_scenario_tells(which: str, name: str, free_gib: float, gpu_gib: float) -> None:
    seen = memory(load_scenario(which), name, 60)
    assert seen.total == 127_600_748 * 1024
    assert (seen.free or 0) / GIB == pytest.approx(free_gib, abs=0.15)
    assert (seen.driver or 0) / GIB == pytest.approx(gpu_gib, abs=0.01)


def test_the_two_causes_of_one_error_are_told_apart_by_memory() -> None:
    kho, cache = memory(load_scenario("kho"), "spark2", 5), memory(load_scenario("page-cache"), "spark2", 25)
    assert kho.cma_leaked and (kho.cma_total, kho.page_cache) == (32 * MIB, pytest.approx(3.1 * GIB, rel=0.01))
    assert not cache.cma_leaked and (cache.page_cache or 0) / GIB == pytest.approx(110.1, abs=0.1)


def test_a_burst_is_read_at_its_rate_by_one_node_only() -> None:
    scenario = load_scenario("healthy")

    def rate(name: str, start: float, end: float) -> float:
        early, late = mount(scenario, name, start), mount(scenario, name, end)
        return ((late.server_read_bytes or 0) - (early.server_read_bytes or 0)) / (end - start) / MIB

    assert rate("spark2", 10, 12) == pytest.approx(720, rel=0.05)
    assert rate("spark2", 0, 600) == pytest.approx(720 * 40 / 60, rel=0.01)
    assert rate("spark2", 45, 55) == 0
    assert rate("spark1", 0, 600) == rate("spark3", 0, 600) == 0


def test_without_the_nas_requests_go_out_and_nothing_comes_back() -> None:
    scenario = load_scenario("nas-down")
    before, lost, later = (mount(scenario, "spark2", t) for t in (8, 8.5, 40))
    assert before.sends - before.receives == 8
    assert lost.receives == later.receives == before.receives
    assert later.sends > lost.sends > lost.receives
    assert later.server_read_bytes == before.server_read_bytes
    assert sum(line.connect_count or 0 for line in later.transports) > sum(
        line.connect_count or 0 for line in before.transports
    )
    assert (later.age_s or 0) - (before.age_s or 0) == 32
    assert parse_nas({f"/{k}": v for k, v in files_of(scenario, "nas", 9).items()}).nfsd_threads == 0


def test_after_its_return_the_nas_serves_on(tmp_path: Path) -> None:
    scenario = load_scenario(outage(tmp_path, 1.5, 6))
    during, after = mount(scenario, "spark2", 5.9), mount(scenario, "spark2", 8)
    assert after.receives > during.receives
    assert (after.server_read_bytes or 0) - (during.server_read_bytes or 0) == pytest.approx(1200 * MIB, rel=0.05)
    assert after.sends - after.receives == during.sends - during.receives
