"""Lines to facts: all grammars at once, whole captured logs, and that no line with a fact escapes the first look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parser_samples import DATA

from dsv41_tui.core.log import PHASES, LogFact
from dsv41_tui.core.text import clean
from dsv41_tui.parsers.log_facts import parse_log_facts
from dsv41_tui.parsers.log_interest import INTERESTING, split_interesting

LOGS = sorted(path for path in (DATA / "log").rglob("*") if path.suffix in (".log", ".txt"))
NCCL = "spark-01:268:268 [0] NCCL INFO "
WARN = "[2026-11-30 18:02:11] spark-01:268:431 [0] misc/socket.cc:58 (socketProgress) NCCL WARN "
COMM = "ncclCommInitRankConfig comm 0x3d5b8f0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId f01000 commId 0x7d5c1e2f"


def lines_of(path: Path) -> list[str]:
    return clean(path.read_bytes().decode()).split("\n")


def said(text: str) -> dict[str, Any]:
    fact = parse_log_facts(text)
    return {} if fact is None else fact.model_dump(exclude_defaults=True)


FACTS: list[tuple[str, dict[str, Any]]] = [
    # NCCL
    ("NCCL version 2.28.9+cuda13.0", {"nccl_version": "2.28.9+cuda13.0"}),
    (NCCL + "NCCL version 2.18.5+cuda12.2", {"nccl_version": "2.18.5+cuda12.2"}),
    ("(Worker_TP0 pid=9) INFO 11-30 17:40:31 [pynccl.py:111] vLLM is using nccl==2.29.7", {"nccl_version": "2.29.7"}),
    (WARN + "Mismatched NCCL version detected : rank 0 version 22809 x rank 1 version 23007", {}),
    (NCCL + "Bootstrap : Using eth0:10.0.0.1<0>", {"socket_interface": "eth0", "address": "10.0.0.1"}),
    (NCCL + "Bootstrap: Using eth0:fe80::1%eth0<0>", {"socket_interface": "eth0", "address": "fe80::1%eth0"}),
    (NCCL + "Bootstrap : Using [0]eth0:10.0.0.1<0>", {"socket_interface": "eth0", "address": "10.0.0.1"}),
    (
        NCCL + "NET/IB : Using [0]rocep1s0f0:1/RoCE [1]roceP2p1s0f0:1/RoCE [RO]; OOB enp1s0f0np0:10.77.1.11<0>",
        {"devices": ("rocep1s0f0:1", "roceP2p1s0f0:1")},
    ),
    (
        NCCL + "NET/IB : Using [0]rocep1s0f0+roceP2p1s0f0:1:0:1/RoCE [RO]; OOB e:10.0.0.1<0>",
        {"devices": ("rocep1s0f0+roceP2p1s0f0:1",)},
    ),
    (NCCL + "NET/IB : Using [RO]; OOB eth0:192.0.2.2<0>", {"devices": ()}),
    (NCCL + "NET/IB : No device found.", {"devices": ()}),
    (NCCL + "NET/Socket : Using [0]eth0:192.0.2.2<0>", {"socket_interface": "eth0"}),
    (NCCL + "Using network IB", {"transport": "ib"}),
    (NCCL + "Using network Socket", {"transport": "socket"}),
    (NCCL + "Using network AWS Libfabric", {}),
    (NCCL + "Assigned NET plugin Socket to comm", {"transport": "socket"}),
    (NCCL + "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA", {"transport": "ib"}),
    (NCCL + "Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0", {"transport": "socket"}),
    (NCCL + "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", {}),
    (NCCL + "NCCL_IB_GID_INDEX set by environment to 3.", {"gid_index": 3}),
    (NCCL + "NCCL_IB_GID_INDEX set to 4", {"gid_index": 4}),
    (NCCL + COMM + " - Init START", {"init": "start", "communicator": "spark-01:268:0x3d5b8f0"}),
    (NCCL + COMM + " - Init COMPLETE", {"init": "complete", "communicator": "spark-01:268:0x3d5b8f0"}),
    (
        NCCL + "ncclCommSplit comm 0xa1 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId f01000 parent 0xb2 splitCount 1 "
        "color 9 key 1- Init START",
        {"init": "start", "communicator": "spark-01:268:0xa1"},
    ),
    (
        NCCL + "comm 0xa1 rank 0 nranks 2 cudaDev 0 busId 60 - Abort COMPLETE",
        {"init": "gone", "communicator": "spark-01:268:0xa1"},
    ),
    (NCCL + "4 coll channels, 0 collnet channels, 0 nvls channels, 4 p2p channels", {"channels": 4}),
    (NCCL + "Channel 01/04 : 0 1", {"channels": 4}),
    (NCCL + "Connected all rings", {"connected": True}),
    (NCCL + "Connected all trees", {"connected": True}),
    (WARN + "Call to ibv_reg_mr failed with error Cannot allocate memory", {"registration": "failed"}),
    (WARN + "Call to ibv_reg_mr_iova2 failed with 12 Cannot allocate memory", {"registration": "failed"}),
    (WARN + "Call to ibv_reg_dmabuf_mr failed with error Bad address", {"registration": "failed"}),
    (
        WARN + "Call to ibv_modify_qp failed with 22 Invalid argument, on dev rocep1s0f0:1, curr state INIT, next "
        "state RTR, local GID index 5, local GID ::, remote GID ::ffff:10.77.1.11",
        {"gid_index": 5},
    ),
    (WARN + "socketProgress: Connection closed by remote peer spark-02<51034>", {"lost_peer": "spark-02"}),
    (
        WARN + "socketProgressOpt: Call to recv from 10.77.1.12<40012> failed : Connection reset by peer",
        {"lost_peer": "10.77.1.12"},
    ),
    (WARN + "Call to send to fe80::2%e0<40012> failed : Broken pipe", {"lost_peer": "fe80::2%e0"}),
    # vLLM
    ("(APIServer pid=1) INFO 11-30 17:40:02 [api_utils.py:286] non-default args: {}", {"phase": "args"}),
    ("INFO 11-30 17:40:02 [core.py:84] Initializing a V1 LLM engine (v0.1.dev20904+g179dd0fa9) with config: x",
     {"phase": "engine", "engine_version": "0.1.dev20904+g179dd0fa9"}),
    ("(Worker pid=2) INFO 11-30 17:40:02 [p.py:1] world_size=2 rank=1 local_rank=0 distributed_init_method=tcp://a:1",
     {"phase": "distributed", "rank": 1, "world_size": 2}),
    ("Loading safetensors checkpoint shards (eager):  49% Completed | 19/39 [01:28<01:28,  4.63s/it]",
     {"phase": "shards"}),
    ("(EngineCore_DP0 pid=9) ERROR 11-30 17:40:02 [m.py:1] Worker proc VllmWorker-1 died unexpectedly, shutting down "
     "executor.", {"dead_rank": 1}),
    ("(EngineCore pid=9) ERROR 11-30 17:40:02 [m.py:1] Worker proc Worker_TP0 died unexpectedly (exit code: -9), "
     "shutting down executor.", {"dead_rank": 0}),
    ("Worker proc Worker_DP1_TP0 died unexpectedly (exit code: -9)", {"lost_peer": "Worker_DP1_TP0"}),
    ("(EngineCore pid=9) INFO 11-30 16:02:11 [shm_broadcast.py:871] No available shared memory broadcast block found "
     "in 60 seconds.", {"silent": True}),
    ("INFO 11-30 17:46:03 [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
     "0.0 tokens/s, Running: 1 reqs, Waiting: 2 reqs, Deferred: 0 reqs, GPU KV cache usage: 3.1%",
     {"running": 1, "waiting": 2}),
    ("INFO 11-30 17:46:03 [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
     "12.5 tokens/s, Running: 1 reqs, Waiting: 0 reqs", {"running": 1, "waiting": 0, "alive": True}),
    ("INFO:     Application startup complete.", {"phase": "serving", "served": True}),
    ('INFO:     10.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK', {}),
    ("(APIServer pid=1) INFO 11-30 16:03:58 [launcher.py:254] [shutdown] API server: shutdown triggered",
     {"stopping": True}),
    # SGLang
    ("[2026-11-30 17:40:02 TP0] Decode batch, #running-req: 2, #token: 812, token usage: 0.01, cuda graph: True, "
     "gen throughput (token/s): 41.20, #queue-req: 1", {"running": 2, "waiting": 1, "alive": True}),
    ("[2026-11-30 17:40:02] The server is fired up and ready to roll!", {"phase": "serving", "served": True}),
    ("[2026-11-30 17:40:02 TP1] Load weight begin. avail mem=110.20 GB", {"phase": "load"}),
    # torch
    ("[rank1]:[W1130 16:07:42.001878721 TCPStore.cpp:138] [c10d] recvValueWithTimeout failed on SocketImpl(fd=56, "
     "addr=[localhost]:58090, remote=[localhost]:29524): Failed to recv, got 0 bytes. Connection was likely closed.",
     {"dead_rank": 0}),
    ("RuntimeError: [/p/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.1.12]:40080. This is",
     {"lost_peer": "10.77.1.12"}),
    # the launcher's script in the container
    ("[dsv41-exl3-head] launching: vllm serve /model", {"phase": "serve"}),
    ("[dsv41-mem] before dspark_draft.load_model MemAvailable=9.1", {"phase": "draft"}),
    ("[dsv41-mem] after load_model MemAvailable=9.1", {"phase": "loaded"}),
    ("INFO 11-30 17:40:02 [c.py:1] Using ['PYNCCL'] all-reduce backends", {"phase": "distributed"}),
    ("Prefetching checkpoint files: 10% (4/39)", {"phase": "prefetch"}),
    ("INFO 11-30 17:40:02 [b.py:1] Directly load the compiled graph(s) for (1, 2) from the cache, took 1.2 s",
     {"phase": "compile"}),
    ("[2026-11-30 17:40:02 TP0] Prefill batch, #new-seq: 1, #new-token: 12, #running-req: 0, #queue-req: 0",
     {"running": 0, "waiting": 0}),
    ("[2026-11-30 17:40:02 TP0] Memory pool end. avail mem=9.10 GB", {"phase": "memory"}),
    ("DSV4 memory calculation: bytes_per_full_token=1670.75 full_token=774400", {"phase": "memory"}),
    ("[2026-11-30 17:40:02 TP0] Init torch distributed begin.", {"phase": "distributed"}),
    ("[2026-11-30 17:40:02 TP0] Capture cuda graph begin. This can take up to several minutes.", {"phase": "capture"}),
    ("[dsv41-exl3-head] installed runtime EXL3 overlay", {"phase": "script"}),
    ("[dsv41-exl3-worker] joining TP2 at 10.77.1.11:29521 as rank 1", {"phase": "serve"}),
    ("[dsv41-mem] before init_device MemAvailable=110.1", {"phase": "device"}),
    ("[dsv41-mem] before process_weights_after_loading MemAvailable=9", {"phase": "post-load"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), FACTS, ids=range(len(FACTS)))
def test_a_line_says_exactly_this(line: str, expected: dict[str, Any]) -> None:
    assert said(line) == expected
    stamped = said("2026-11-30T16:17:58.5Z " + line)
    assert stamped == ({**expected, "at": 1796055478.5} if expected or parse_log_facts(line) else {})


@pytest.mark.parametrize(("line", "expected"), FACTS, ids=range(len(FACTS)))
def test_no_line_with_a_fact_escapes_the_first_look(line: str, expected: dict[str, Any]) -> None:
    picked = list(split_interesting(["x", line, "y"]))
    assert picked in ([(1, line)], []) and (picked or not expected)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_the_first_look_over_whole_logs(path: Path) -> None:
    lines = lines_of(path)
    telling = [index for index, line in enumerate(lines) if parse_log_facts(line) is not None]
    picked = list(split_interesting(lines))
    assert {index for index, _ in picked} >= set(telling)
    assert all(lines[index] == line for index, line in picked)
    assert [index for index, _ in picked] == sorted({index for index, _ in picked})


def test_the_first_look_passes_over_most_of_a_log() -> None:
    lines = lines_of(DATA / "log/vllm/vllm-0.32.0-tp2-2nodes-rank0-then-rank1-killed.log")
    assert len(list(split_interesting(lines))) < len(lines) // 4


def test_each_literal_is_needed() -> None:
    lines = [line for line, _ in FACTS] + [line for path in LOGS for line in lines_of(path)]
    facts = [line for line in lines if parse_log_facts(line) is not None]
    unused = [needle for needle in INTERESTING if not any(needle in line for line in facts)]
    assert not unused


@pytest.mark.parametrize("lines", [[], [""], ["", ""], ["NCCL version 2\nNCCL version 3", "Loading "]])
def test_the_first_look_at_odd_batches(lines: list[str]) -> None:
    assert list(split_interesting(lines)) == [
        (i, line) for i, line in enumerate(lines) if "NCCL" in line or "Lo" in line
    ]


def phases(name: str) -> list[str]:
    seen: list[str] = []
    for line in lines_of(DATA / "log/vllm" / name):
        fact = parse_log_facts(line)
        if fact is not None and fact.phase is not None and fact.phase not in seen:
            seen.append(fact.phase)
    return seen


@pytest.mark.parametrize("style", ["0.11-style-ansi", "0.33-style"])
def test_a_boot_passes_its_phases_in_order(style: str) -> None:
    assert phases(f"gb10-vllm-boot-{style}.log") == [
        "args", "engine", "distributed", "load", "shards", "weights", "loaded", "compile", "memory", "kv", "capture",
        "graphs", "engine-ready", "server", "serving",
    ]  # fmt: skip


def test_phases_are_the_known_ones_in_their_order() -> None:
    for path in LOGS:
        if path.parent.name == "vllm":
            places = [PHASES.index(phase) for phase in phases(path.name)]
            assert places == sorted(places)


def test_a_line_without_a_stamp_takes_the_callers() -> None:
    line = NCCL + "Using network IB"
    assert parse_log_facts(line, 5.0) == LogFact(at=5.0, transport="ib")
    assert parse_log_facts("1970-01-01T00:00:07Z " + line, 5.0) == LogFact(at=7.0, transport="ib")
