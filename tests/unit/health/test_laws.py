"""What holds for every finding: order, one a subject, age, hostile names, and what the verdict makes of it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import shlex
from pathlib import Path

import pytest
from health_builders import (
    GOT,
    LIMITS,
    NOW,
    cluster,
    down,
    failed,
    host,
    hung,
    memory,
    mount,
    nas,
    node,
    one,
    ports,
    pressure,
    reading,
    told,
)
from health_cases import CASES, LEAK, PAGE_CACHE, array

from dsv41_tui.core import health
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, Link, NfsMount, Probe
from dsv41_tui.core.readings import GIB


def find(state: ClusterState, kind: str) -> Finding:
    (found,) = [found for found in health.findings(state, LIMITS, NOW) if found.id == kind]
    return found


def causes(found: Finding) -> dict[str, str]:
    return {cause.cause_id: cause.likelihood for cause in found.causes}


def word(state: ClusterState) -> str:
    return health.verdict(state, health.findings(state, LIMITS, NOW), NOW)


def test_no_subject_is_forgotten() -> None:
    modules = [
        importlib.import_module(f"{health.__name__}.{info.name}") for info in pkgutil.iter_modules(health.__path__)
    ]
    assert {module for module in modules if hasattr(module, "check")} == set(health.SUBJECTS)


def test_each_kind_is_made_by_its_own_subject() -> None:
    for subject in health.SUBJECTS:
        own = {kind.id for kind in subject.KINDS}
        for case in CASES:
            book = {rule.id for rule in case.state.book.failures}
            assert {found.id for found in subject.check(case.state, case.limits, NOW)} <= own | book


def test_checks_read_no_clock_and_do_no_io() -> None:
    for subject in health.SUBJECTS:
        tree = ast.parse(Path(subject.__file__ or "").read_text("utf-8"))
        imported = {
            name.partition(".")[0]
            for item in ast.walk(tree)
            if isinstance(item, ast.Import | ast.ImportFrom)
            for name in (
                [item.module or ""] if isinstance(item, ast.ImportFrom) else [alias.name for alias in item.names]
            )
        }
        assert imported <= {"__future__", "collections", "re", "typing", "dsv41_tui"}, subject.__name__


def test_worst_first_then_kind_then_node() -> None:
    bad = {"memory": memory(available=GIB), "nfs": (hung(),)}
    state = cluster(node("spark2", **bad), node("spark1", **bad), nas(nas=told(nfsd_threads=4)))
    found = [(f.severity, f.id, f.node) for f in health.findings(state, LIMITS, NOW)]
    assert found == [
        ("error", "memory-available-low", "spark2"),
        ("error", "memory-available-low", "spark1"),
        ("error", "nfs-not-responding", "spark2"),
        ("error", "nfs-not-responding", "spark1"),
        ("info", "nas-nfsd-threads", "nas"),
    ]


def test_the_order_does_not_hang_on_the_order_of_mounts() -> None:
    mounts = (hung(mount_point="/b", device="0:2"), hung(mount_point="/a", device="0:1"))
    forward = health.findings(one(nfs=mounts), LIMITS, NOW)
    assert forward == health.findings(one(nfs=mounts[::-1]), LIMITS, NOW)
    assert len(forward) == 2


def test_places_of_one_superblock_are_counted_in_one_finding() -> None:
    found = find(one(nfs=(hung(), hung(mount_point="/srv/nas"))), "nfs-not-responding")
    assert found.count == 2


def test_a_stale_finding_says_its_age_and_is_no_error() -> None:
    found = find(one(memory=memory(age_s=3.8, **LEAK)), "memory-kho-cma")
    assert found.severity == "warn"
    assert "4 s ago" in found.title


def test_a_failed_renewal_makes_a_value_stale() -> None:
    fresh = memory(available=GIB)
    found = find(one(memory=fresh.model_copy(update={"error": "torn frame"})), "memory-available-low")
    assert found.severity == "warn"


def test_page_cache_rules_the_kernel_fault_out_by_its_reading() -> None:
    found = find(one(memory=memory(**PAGE_CACHE)), "memory-page-cache")
    assert causes(found) == {"mem_page_cache_pressure": "confirmed", "kernel_kho_cma": "ruled-out"}
    assert "109.1 GiB" in found.title and "1.1 GiB" in found.title
    assert not found.fix.restart


def test_page_cache_with_cma_unread_leaves_the_kernel_fault_open() -> None:
    found = find(one(memory=memory(**PAGE_CACHE, cma_total=None, cma_free=None)), "memory-page-cache")
    assert causes(found)["kernel_kho_cma"] == "possible"


def test_the_kernel_fault_alone_offers_no_cache_drop() -> None:
    found = find(one(memory=memory(free=88 * GIB, **LEAK)), "memory-kho-cma")
    assert causes(found) == {"kernel_kho_cma": "confirmed", "mem_page_cache_pressure": "ruled-out"}
    assert found.fix.restart
    assert any("kho=off" in command for command in found.fix.commands)
    assert not any("drop_caches" in command for command in found.fix.commands)


def test_both_causes_at_once_are_told_with_the_kernel_fault_first() -> None:
    found = find(one(memory=memory(**PAGE_CACHE, **LEAK)), "memory-kho-cma")
    assert list(causes(found).items()) == [("kernel_kho_cma", "confirmed"), ("mem_page_cache_pressure", "likely")]
    assert found.cause_id == "kernel_kho_cma"


def test_a_leak_despite_kho_off_is_no_longer_certain() -> None:
    state = one(memory=memory(**LEAK), host=host(command_line="quiet kho=off"))
    found = find(state, "memory-kho-cma")
    assert causes(found)["kernel_kho_cma"] == "likely"
    assert not any("grub" in command for command in found.fix.commands)


def test_no_bare_sync_beside_a_hung_mount() -> None:
    calm = find(one(memory=memory(**PAGE_CACHE)), "memory-page-cache")
    stuck = find(one(memory=memory(**PAGE_CACHE), nfs=(hung(),)), "memory-page-cache")
    assert any("sync; echo" in command for command in calm.fix.commands)
    assert not any("sync; echo" in command for command in stuck.fix.commands)


def test_a_hang_seen_by_all_is_the_server() -> None:
    state = cluster(node("spark1", nfs=(hung(),)), node("spark2", nfs=(hung(),)))
    assert find_on(state, "nfs-not-responding", "spark1").cause_id == "nfs_server_down"


def find_on(state: ClusterState, kind: str, name: str) -> Finding:
    (found,) = [f for f in health.findings(state, LIMITS, NOW) if f.id == kind and f.node == name]
    return found


def test_a_hang_seen_by_one_node_only_is_its_path() -> None:
    found = find(one(nfs=(hung(),)), "nfs-not-responding")
    assert causes(found) == {"nfs_firewall": "likely", "nfs_server_down": "ruled-out"}


def test_a_node_that_cannot_be_read_is_no_witness() -> None:
    state = cluster(node("spark1", link=down("timed-out")), node("spark2", nfs=(hung(),)))
    assert find(state, "nfs-not-responding").cause_id == "nfs_server_down"


def test_a_node_with_late_counters_is_no_witness() -> None:
    late = node("spark1", mountstats=reading((), 7, 2))
    assert find(cluster(late, node("spark2", nfs=(hung(),))), "nfs-not-responding").cause_id == "nfs_server_down"


def test_the_nas_itself_decides() -> None:
    state = cluster(node("spark1", nfs=(hung(),)), nas(nas=told(nfsd_threads=0)))
    assert causes(find(state, "nfs-not-responding")) == {"nfs_server_down": "confirmed"}


def test_a_nas_read_before_the_hang_is_no_evidence_for_its_health() -> None:
    before = told()
    state = cluster(node("spark1", nfs=(hung(since=5),)), nas(nas=before.model_copy(update={"at": NOW - 8})))
    assert causes(find(state, "nfs-not-responding"))["nfs_server_down"] == "likely"
    state = cluster(node("spark1", nfs=(hung(since=30),)), nas(nas=before))
    assert causes(find(state, "nfs-not-responding"))["nfs_server_down"] == "possible"


def test_a_hard_and_a_soft_hang_have_other_consequences() -> None:
    hard = find(one(nfs=(hung(),)), "nfs-not-responding")
    soft_mount = hung(got=GOT.replace("hard", "soft"))
    soft = find(one(nfs=(soft_mount,)), "nfs-not-responding")
    assert "D state" in hard.fix.text and "EIO" not in hard.fix.text
    assert "EIO" in soft.fix.text


def test_the_rebuild_of_the_nas_explains_a_slow_mount() -> None:
    slow = mount(state="slow", rtt_ms=300.0)
    state = cluster(node("spark1", nfs=(slow,)), nas(nas=told(raid=(array(action="resync"),))))
    assert find(state, "nfs-slow").cause_id == "raid_rebuild"


def test_rsize_below_the_servers_limit_is_not_the_servers_limit() -> None:
    small = mount(GOT.replace("rsize=1048576", "rsize=131072"), "rsize=1048576,nconnect=8")
    exact = cluster(node("spark1", nfs=(small,)), nas(nas=told(max_block_bytes=131072)))
    assert causes(find(exact, "nfs-rsize-clamped")) == {"nfs_option_not_applied": "confirmed"}
    raised = find(cluster(node("spark1", nfs=(small,)), nas()), "nfs-rsize-clamped")
    assert causes(raised) == {"nfs_option_not_applied": "likely"}
    assert not any("max_block_size" in command for command in raised.fix.commands)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("key-changed", "ssh_hostkey_changed"),
        ("key-unknown", "ssh_hostkey_unknown"),
        ("no-key", "ssh_key_not_installed"),
        ("passphrase", "ssh_key_not_installed"),
        ("", None),
    ],
)
def test_a_refusal_gets_its_cause(reason: str, cause: str | None) -> None:
    link = down("refused", "no", "ssh spark1 true").model_copy(update={"reason": reason})
    found = find(one(link=link), "link-refused")
    assert found.cause_id == cause
    assert found.fix.commands == ("ssh spark1 true",)


def test_a_machine_that_answered_is_not_looked_for_at_its_power_plug() -> None:
    closed = down("unreachable", "no sshd", "ssh spark1 true").model_copy(update={"reason": "port-closed"})
    for found in health.findings(cluster(node("spark1", link=closed), node("spark2", link=closed)), LIMITS, NOW):
        assert found.causes == ()
        assert "power" not in found.fix.text


def test_a_probe_in_doubt_is_no_lost_packet() -> None:
    """A server that stops makes requests be sent again before the hang is proved."""
    losing = mount(retrans_per_s=4.0)
    assert find(one(nfs=(losing,)), "nfs-retransmissions")
    waiting = losing.model_copy(update={"probe": Probe(started_at=NOW - 1)})
    assert not [
        found for found in health.findings(one(nfs=(waiting,)), LIMITS, NOW) if found.id == "nfs-retransmissions"
    ]


def test_a_lost_node_that_had_no_memory_left_is_likely_wedged() -> None:
    lost = find(one(link=down("timed-out"), memory=memory(available=GIB // 2, age_s=40)), "link-timed-out")
    assert lost.cause_id == "uma_memory_exhausted"
    assert any("40 s ago" in (evidence.reading or "") for evidence in lost.evidence)
    fine = find(one(link=down("timed-out")), "link-timed-out")
    assert fine.cause_id == "host_unreachable_or_wedged"


def test_all_nodes_lost_at_once_is_our_own_network() -> None:
    state = cluster(node("spark1", link=down("timed-out")), node("spark2", link=down("unreachable")))
    assert {found.cause_id for found in health.findings(state, LIMITS, NOW)} == {"operator_network"}


EVIL = "/mnt/a; touch /tmp/x $(touch y) 'q\n\x1b[31mred"
EVIL_MOUNTS = [
    hung(mount_point=EVIL, source="-o$(touch z):/x", got="hard"),
    mount(mount_point=EVIL, state="stale-handle"),
    mount(mount_point=EVIL, state="denied", source="a b;touch q:/x", got="hard"),
    mount(mount_point=EVIL, asked="ro", state="unmounted", mounted=False),
    mount(mount_point=EVIL, state="slow", rtt_ms=500.0, retrans_per_s=9.0),
    mount("soft,rsize=4096", "nconnect=8,x;touch=1", mount_point=EVIL, stats=None),
    mount("soft,rsize=4096", "soft,addr=;touch,x;touch=1", mount_point=EVIL, volume="v;touch w", asked_source="docker"),
]


@pytest.mark.parametrize("evil", EVIL_MOUNTS, ids=range(len(EVIL_MOUNTS)))
def test_remote_names_stay_one_argument_of_one_line(evil: NfsMount) -> None:
    found = health.findings(one(nfs=(evil,)), LIMITS, NOW)
    assert found
    for item in found:
        for text in (item.title, item.fix.text, *item.fix.commands, *(e.reading or "" for e in item.evidence)):
            assert "\n" not in text and "\x1b" not in text
        for command in item.fix.commands:
            lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            assert not [word for word in lexer if word == "touch" or word.startswith("-o$")], command


def test_an_own_line_of_fstab_keeps_spaces_escaped() -> None:
    soft = mount(GOT.replace("hard", "soft"), mount_point="/mnt/my nas")
    found = find(one(nfs=(soft,)), "nfs-soft-mount")
    assert "/mnt/my\\040nas" in found.fix.text
    assert "sudo mount '/mnt/my nas'" in found.fix.commands


def test_the_nas_is_not_guessed_among_several_servers() -> None:
    other = mount(
        source="10.0.0.1:/head", got=GOT.replace("192.0.2.50", "10.0.0.1").replace("4.2", "4.1"), device="0:9"
    )
    state = cluster(node("spark1", nfs=(mount(), other)), nas())
    assert not [found for found in health.findings(state, LIMITS, NOW) if found.id == "nfs-version"]


def test_all_that_is_missing_is_named() -> None:
    no = failed("no")
    found = find(one(host=no, fstab=no, volumes=no, shm=no, logind=no, gpu=no), "reading-unreadable")
    assert [item.source for item in found.evidence] == ["host", "fstab", "volumes", "shm", "logind", "gpu"]


def test_a_lone_node_that_is_lost_says_nothing_of_our_network() -> None:
    found = find(cluster(node("spark1", link=down("timed-out"))), "link-timed-out")
    assert found.cause_id == "host_unreachable_or_wedged"


def test_twins_become_one_finding() -> None:
    found = find(one(nfs=(hung(device="0:1"), hung(device="0:2"))), "nfs-not-responding")
    assert found.count == 2


def test_thresholds_are_the_configured_ones() -> None:
    state = one(memory=memory(available=4 * GIB))
    assert not health.findings(state, LIMITS, NOW)
    assert health.findings(state, Limits(available_warn=5 * GIB), NOW)[0].id == "memory-available-low"


VERDICTS = [
    ("healthy", cluster(), "ok"),
    ("information only", one(memory=memory(swap_free=0)), "ok"),
    ("a warning", one(pressure=pressure(12.0)), "warn"),
    ("an error", one(memory=memory(available=GIB)), "error"),
    ("no nodes", ClusterState(), "unknown"),
    ("a node is down", one(link=down("unreachable")), "unknown"),
    ("a node is down and another has an error", cluster(
        node("spark1", link=down("unreachable")), node("spark2", nfs=(hung(),))), "error"),
    ("a NAS is down", cluster(node("spark1"), nas(link=down("unreachable"))), "unknown"),
    ("not connected yet", one(link=Link(phase="connecting")), "unknown"),
    ("memory is late", one(memory=memory(age_s=3.8)), "unknown"),
    ("a stale error is no error", one(memory=memory(available=GIB, age_s=3.8)), "unknown"),
    ("mounts unread", one(mountstats=failed("refused")), "unknown"),
    ("fstab unread", one(fstab=failed("/etc/fstab: Permission denied")), "unknown"),
    ("fstab not read yet", one(fstab=reading(None)), "unknown"),
    ("no fstab there", one(fstab=failed("/etc/fstab: No such file or directory")), "ok"),
    ("what only adds is missing", one(
        host=failed("x"), shm=failed("x"), logind=failed("x"), volumes=failed("permission denied")), "ok"),
    ("a mount was not probed yet", one(nfs=(mount(state="unknown", last_probe=None),)), "unknown"),
    ("the NAS's own word is missing", cluster(node("spark1"), nas(nas=failed("refused"))), "unknown"),
    ("optional readings are missing", one(gpu=failed("no nvidia-smi"), volumes=failed("no docker")), "ok"),
    ("a NAS without mounts or PSI", cluster(node("spark1"), nas(mountinfo=reading(None), pressure=failed("no"))), "ok"),
    ("a NAS with slow ports", cluster(node("spark1"), nas(net=ports(("eth0", 1000, "up")))), "ok"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "state", "expected"), VERDICTS, ids=[name for name, _, _ in VERDICTS])
def test_the_verdict(name: str, state: ClusterState, expected: str) -> None:
    assert word(state) == expected
