"""The one writer of state."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dsv41_tui.core.events import (
    CostTaken,
    Elapsed,
    Event,
    LinkChanged,
    ProbeEnded,
    ProbeStarted,
    ReadingName,
    ReadingTaken,
)
from dsv41_tui.core.model import ClusterState, NfsMount, NodeState
from dsv41_tui.core.readings import (
    DockerVolume,
    FstabEntry,
    Host,
    Memory,
    MountEntry,
    MountStats,
    NetInterface,
    OpStats,
    Transport,
)
from dsv41_tui.core.reduce import reduce

MIB = 1 << 20


def start() -> ClusterState:
    return ClusterState(nodes=(NodeState(name="spark1"), NodeState(name="spark2")))


def taken(
    name: ReadingName, value: Any, at: float, uptime: float | None = None, error: str | None = None
) -> ReadingTaken:
    return ReadingTaken(at=at, node="spark1", name=name, period_s=2, uptime_s=uptime, value=value, error=error)


def run(state: ClusterState, *events: Event) -> ClusterState:
    for event in events:
        state = reduce(state, event)
    return state


def stats(read_bytes: int, age: int = 100, receives: int = 50, ops: int = 10, rtt_ms: int = 20) -> MountStats:
    read = OpStats(ops=ops, transmissions=ops, rtt_ms=rtt_ms, execute_ms=rtt_ms * 2)
    return MountStats(
        mount_point="/mnt/nas",
        source="nas:/models",
        fstype="nfs4",
        age_s=age,
        server_read_bytes=read_bytes,
        transports=(Transport(protocol="tcp", sends=60, receives=receives),),
        read=read,
        total=read,
    )


ENTRY = MountEntry(
    mount_point="/mnt/nas", source="nas:/models", fstype="nfs4", device="0:61", options={"vers": "4.2", "hard": ""}
)


def mount(state: ClusterState) -> NfsMount:
    (found,) = state.node("spark1").nfs
    return found


def mounted(*extra: Event) -> ClusterState:
    return run(start(), taken("mountinfo", (ENTRY,), 1), taken("mountstats", (stats(0),), 1, 1000), *extra)


def test_an_unknown_node_changes_nothing() -> None:
    state = start()
    assert reduce(state, CostTaken(at=1, node="stranger")) is state
    assert reduce(state, Elapsed(at=1)) is state


def test_a_failed_reading_keeps_the_last_value_and_its_age() -> None:
    state = run(start(), taken("memory", Memory(total=10, free=5), 1), taken("memory", None, 3, error="torn"))
    reading = state.node("spark1").memory
    assert reading.value is not None and reading.value.free == 5
    assert (reading.at, reading.error) == (1, "torn")
    assert reading.read(3) == "stale"
    assert reading.age_s(11) == 10


def test_unknown_is_not_zero() -> None:
    state = run(start(), taken("memory", None, 3, error="permission denied"))
    reading = state.node("spark1").memory
    assert (reading.value, reading.read(3)) == (None, "unknown")


def test_low_water_marks_stay_and_start_anew_with_a_boot() -> None:
    state = run(
        start(),
        taken("host", Host(boot_id="a"), 0),
        taken("memory", Memory(total=10, free=5, available=8), 1, 100),
        taken("memory", Memory(total=10, free=2, available=6), 2, 101),
        taken("memory", Memory(total=10, free=9, available=9), 3, 102),
    )
    node = state.node("spark1")
    assert node.low_free is not None and (node.low_free.value, node.low_free.at) == (2, 2)
    assert node.low_available is not None and node.low_available.value == 6
    state = run(state, taken("host", Host(boot_id="b", kernel="6.17"), 60))
    assert state.node("spark1").low_free is None
    assert [(notice.kind, notice.detail) for notice in state.notices] == [("rebooted", "6.17")]


def test_slope_is_taken_over_the_nodes_clock() -> None:
    state = run(
        start(),
        taken("memory", Memory(total=10000, free=1000), 1.0, 100.0),
        taken("memory", Memory(total=10000, free=900), 5.0, 101.0),
    )
    assert state.node("spark1").free_slope_bytes_per_s == -100


def test_network_rates_and_a_counter_that_went_back() -> None:
    def net(rx: int) -> tuple[NetInterface, ...]:
        return (NetInterface(name="enP7s7", rx_bytes=rx, tx_bytes=0),)

    state = run(start(), taken("net", net(1000), 1, 10), taken("net", net(5000), 9, 12))
    value = state.node("spark1").net.value
    assert value is not None and value[0].rx_bytes_per_s == 2000
    state = run(state, taken("net", net(10), 11, 14))
    value = state.node("spark1").net.value
    assert value is not None and value[0].rx_bytes_per_s is None


def test_nfs_rates_over_the_time_actually_elapsed() -> None:
    state = mounted(taken("mountstats", (stats(400 * MIB, age=104, ops=30, rtt_ms=60),), 9, 1004))
    found = mount(state)
    assert found.read_bytes_per_s == 100 * MIB
    assert found.rtt_ms == 2
    assert found.execute_ms == 4
    assert found.state == "fine"


def test_a_remount_gives_no_rate_and_a_notice() -> None:
    state = mounted(taken("mountstats", (stats(5, age=1),), 3, 1002))
    assert mount(state).read_bytes_per_s is None
    assert [notice.kind for notice in state.notices] == ["remounted"]


def test_what_was_asked_for_comes_from_fstab_or_the_docker_volume() -> None:
    state = mounted(
        taken(
            "fstab",
            (FstabEntry(source="nas:/models", mount_point="/mnt/nas", fstype="nfs4", options={"nconnect": "8"}),),
            2,
        )
    )
    assert (mount(state).asked, mount(state).asked_source) == ({"nconnect": "8"}, "/etc/fstab")


def test_defined_and_expected_mounts_are_shown() -> None:
    volume = DockerVolume(name="dsv41-exl3-weights", mount_point="/v/_data", source=":/dsv41", fstype="nfs")
    entries = (
        FstabEntry(source="nas:/a", mount_point="/a", fstype="nfs4"),
        FstabEntry(source="nas:/b", mount_point="/b", fstype="nfs4", options={"noauto": ""}),
    )
    state = run(start(), taken("volumes", (volume,), 1), taken("fstab", entries, 1))
    assert state.node("spark1").nfs == (), "before mountinfo is read nothing is known to be unmounted"
    state = run(state, taken("mountinfo", (), 1))
    assert [(item.mount_point, item.state) for item in state.node("spark1").nfs] == [
        ("/v/_data", "unused"),
        ("/a", "unmounted"),
    ]


def test_not_responding_needs_both_proofs() -> None:
    def probed(later: MountStats) -> NfsMount:
        return mount(
            mounted(
                ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
                taken("mountstats", (stats(0, receives=50),), 10.1, 1009),
                taken("mountstats", (later,), 12, 1011),
                ProbeEnded(at=12.1, node="spark1", mount_point="/mnt/nas", outcome="timeout", took_s=2.1),
            )
        )

    hung = probed(stats(0, receives=50))
    assert (hung.state, hung.state_since) == ("not-responding", 10)
    assert probed(stats(0, receives=51)).state == "slow"


def test_a_probe_without_mountstats_proves_nothing() -> None:
    state = run(
        start(),
        taken("mountinfo", (ENTRY,), 1),
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        ProbeEnded(at=12, node="spark1", mount_point="/mnt/nas", outcome="timeout", took_s=2),
    )
    assert mount(state).state == "unknown"


def test_silence_must_have_been_looked_at() -> None:
    """A cut cable takes the readings along: no sample since the probe began, so nothing is proved."""
    state = mounted(
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        taken("mountstats", (stats(0),), 10.1, 1009),
        ProbeEnded(at=13.5, node="spark1", mount_point="/mnt/nas", outcome="timeout", took_s=3.5),
    )
    assert mount(state).state == "unknown"


def test_mounts_of_one_superblock_share_the_verdict() -> None:
    other = ENTRY.model_copy(update={"mount_point": "/var/lib/docker/volumes/w/_data"})
    state = mounted(
        taken("mountinfo", (ENTRY, other), 2),
        ProbeStarted(at=10, node="spark1", mount_point=other.mount_point),
        ProbeEnded(at=10.1, node="spark1", mount_point=other.mount_point, outcome="blocked", took_s=0.1),
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        ProbeEnded(at=11, node="spark1", mount_point="/mnt/nas", outcome="stale", took_s=0.1),
    )
    assert [found.state for found in state.node("spark1").nfs] == ["stale-handle", "stale-handle"]


def test_a_folder_that_our_login_cannot_enter_is_judged_by_its_counters() -> None:
    state = mounted(
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        ProbeEnded(at=10.1, node="spark1", mount_point="/mnt/nas", outcome="blocked", took_s=0.1),
    )
    assert mount(state).state == "unknown", "60 sent, 50 received: something is unanswered"
    state = run(state, taken("mountstats", (stats(0, receives=60),), 12, 1011))
    assert mount(state).state == "idle"


def test_an_old_probe_proves_nothing() -> None:
    state = mounted(
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        ProbeEnded(at=10.1, node="spark1", mount_point="/mnt/nas", outcome="ok", took_s=0.1),
    )
    assert mount(state).state == "idle"
    state = run(state, taken("mountstats", (stats(0),), 60, 1059))
    assert mount(state).state == "unknown"


def test_recovery_of_a_hung_mount() -> None:
    state = mounted(
        ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
        taken("mountstats", (stats(0),), 10.1, 1009),
        taken("mountstats", (stats(0),), 12, 1011),
        ProbeEnded(at=12.1, node="spark1", mount_point="/mnt/nas", outcome="timeout", took_s=2.1),
        taken("mountstats", (stats(0, receives=60),), 20, 1019),
    )
    assert mount(state).state == "slow"
    state = run(
        state,
        ProbeStarted(at=21, node="spark1", mount_point="/mnt/nas"),
        ProbeEnded(at=21.1, node="spark1", mount_point="/mnt/nas", outcome="ok", took_s=0.1),
    )
    assert mount(state).state == "idle"
    assert "nfs-lost" in [notice.kind for notice in state.notices]


def test_outcomes_become_states() -> None:
    for outcome, expected in (
        ("stale", "stale-handle"),
        ("denied", "denied"),
        ("missing", "unmounted"),
        ("ok", "idle"),
    ):
        state = mounted(
            ProbeStarted(at=10, node="spark1", mount_point="/mnt/nas"),
            ProbeEnded(at=11, node="spark1", mount_point="/mnt/nas", outcome=outcome, took_s=0.1),
        )
        assert mount(state).state == expected


def test_down_since_survives_failed_attempts() -> None:
    def link(phase: Any, at: float, why: str | None = None) -> LinkChanged:
        return LinkChanged(at=at, node="spark1", phase=phase, why=why, kind="unreachable" if why else None)

    state = run(start(), link("up", 1), link("waiting", 5, "cut"), link("connecting", 6), link("waiting", 7, "refused"))
    seen = state.node("spark1").link
    assert (seen.down_since, seen.why, seen.logins) == (5, "refused", 1)
    state = run(state, link("connecting", 8), link("up", 9))
    seen = state.node("spark1").link
    assert (seen.down_since, seen.why, seen.logins) == (None, None, 2)
    assert [notice.kind for notice in state.notices] == ["link-lost", "link-back"]


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.builds(lambda f, at, up: taken("memory", Memory(total=100, free=f, available=f), at, up),
                      st.integers(0, 100), st.floats(0, 1e6), st.none() | st.floats(0, 1e6)),
            st.builds(lambda b, age, at, up: taken("mountstats", (stats(b, age),), at, up),
                      st.integers(0, 1 << 60), st.integers(0, 1000), st.floats(0, 1e6), st.none() | st.floats(0, 1e6)),
            st.builds(lambda at: ProbeStarted(at=at, node="spark1", mount_point="/mnt/nas"), st.floats(0, 1e6)),
            st.builds(
                lambda at, outcome: ProbeEnded(at=at, node="spark1", mount_point="/mnt/nas", outcome=outcome, took_s=1),
                st.floats(0, 1e6), st.sampled_from(["ok", "timeout", "stale", "denied", "missing", "error"])),
        ), max_size=20,
    )
)  # fmt: skip
def test_any_order_of_events_gives_no_negative_rate(events: list[Event]) -> None:
    state = run(start(), *events)
    for found in state.node("spark1").nfs:
        assert found.read_bytes_per_s is None or found.read_bytes_per_s >= 0
    assert len(state.node("spark1").free_trend.points) <= 120
