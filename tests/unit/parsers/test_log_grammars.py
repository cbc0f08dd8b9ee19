"""Each grammar of log lines by itself: heads of all versions, values of the lines that matter, lines of others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from parser_samples import DATA, flips, survives

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.text import clean
from dsv41_tui.parsers.docker_event import parse_docker_event
from dsv41_tui.parsers.docker_log import parse_docker_log
from dsv41_tui.parsers.kernel_log import parse_kernel_log
from dsv41_tui.parsers.launcher_log import parse_launcher_log
from dsv41_tui.parsers.litellm_log import parse_litellm_log
from dsv41_tui.parsers.log_facts import parse_log_facts
from dsv41_tui.parsers.logline import parse_logline
from dsv41_tui.parsers.nccl import parse_nccl
from dsv41_tui.parsers.sglang import parse_sglang
from dsv41_tui.parsers.torchlog import parse_torchlog
from dsv41_tui.parsers.vllm import parse_vllm

LOG = DATA / "log"


def lines_of(name: str) -> list[str]:
    return clean((LOG / name).read_bytes().decode()).split("\n")


class TestNccl:
    @pytest.mark.parametrize(
        ("line", "head"),
        [
            ("spark-01:268:431 [0] NCCL INFO cudaDriverVersion 13000", ("spark-01", 268, 0, "I", None)),
            ("[2026-11-30 18:02:11] h:1:2 [3] a.cc:5 NCCL WARN x", ("h", 1, 3, "W", None)),
            ("h:1:2 [3] misc/ibvwrap.cc:376 (wrap_ibv_modify_qp) NCCL WARN x", ("h", 1, 3, "W", "wrap_ibv_modify_qp")),
            ("[18_02_11.123] h-2:1:2 [0] NCCL INFO x", ("h-2", 1, 0, "I", None)),
            ("h:1:2 [0] 12.345 func:7 NCCL TRACE x", ("h", 1, 0, "D", None)),
            ("(Worker_TP0 pid=9) h:1:2 [0] NCCL INFO x", ("h", 1, 0, "I", None)),
            ("cut by another processNCCL WARN x", (None, None, None, "W", None)),
            ("NCCL version 2.28.9+cuda13.0", (None, None, None, "I", None)),
        ],
    )
    def test_heads_of_all_versions(self, line: str, head: tuple[Any, ...]) -> None:
        found = parse_nccl(line)
        assert found is not None
        assert (found.host, found.pid, found.device, found.level, found.function) == head

    @pytest.mark.parametrize("line", ["", "NCCL", "Set NCCL_DEBUG=INFO", "NCCL_IB_HCA=x", "INFO: a NCCL story"])
    def test_lines_of_others(self, line: str) -> None:
        assert parse_nccl(line) is None

    def test_completion_errors_of_three_generations(self) -> None:
        found = [line for line in map(parse_nccl, lines_of("nccl/gb10-nccl-errors.log")) if line]
        errors = [line.values for line in found if line.says == "completion"]
        assert [(e["address"], e["status"], e["vendor"], e["device"]) for e in errors] == [
            ("10.77.1.12", "12", "129", "rocep1s0f0"),
            ("10.77.1.12", "5", "249", "rocep1s0f0"),
            ("10.77.1.12", "12", "129", "rocep1s0f0"),
        ]

    def test_queue_pairs_that_fail(self) -> None:
        found = [line for line in map(parse_nccl, lines_of("nccl/gb10-nccl-errors.log")) if line]
        errors = [line.values for line in found if line.says == "queue-pair-failed"]
        assert [(e["errno"], e["device"], e["gid_index"], e["gid"]) for e in errors] == [
            ("110", "rocep1s0f0", "3", "::ffff:10.77.1.12"),
            ("22", "rocep1s0f0", "5", "::"),
        ]
        old = parse_nccl("h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with error Invalid argument")
        assert old is not None and old.values == {"error": "Invalid argument"}

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("NET/IB : rocep1s0f0:1 Got non-fatal async event: port error(10)", "async-event"),
            ("NET/IB : rocep1s0f0:1 async fatal event on QP 0x12: local catastrophic error", "async-event"),
            ("NET/IB : rocep1s0f0:1 Got async event: GID table changed", "gid-table"),
            ("HINT: check the GID index", "hint"),
            ("init.cc:421 -> 5", "result"),
            ("NCCL_NET set by environment to IB.", "setting"),
            ("Failed to initialize any NET plugin", "no-network"),
            ("Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.52 (kernels 0.10)", "init-timings"),
            ("Call to ibv_create_qp failed with error Cannot allocate memory", "memory-failed"),
            ("Trees [0] 1/-1/-1->0->-1", ""),
        ],
    )
    def test_meanings(self, text: str, says: str) -> None:
        found = parse_nccl("h:1:2 [0] NCCL INFO " + text)
        assert found is not None and found.says == says

    def test_every_nccl_line_of_the_samples_has_its_head(self) -> None:
        for name in ("nccl-p2p-info.log", "nccl-socket-info.log", "gb10-nccl-2.28-two-nodes.log"):
            for line in lines_of(f"nccl/{name}"):
                if " NCCL INFO " in line or " NCCL WARN " in line:
                    found = parse_nccl(line)
                    assert found is not None and found.host in ("vm", "spark-01"), line


class TestVllm:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("(Worker_TP1 pid=123) INFO 11-30 17:40:02 [file.py:12] msg", ("Worker_TP1", 123, 1, "I", "msg")),
            ("(Worker_DP0_TP1_EP1 pid=1) ERROR 11-30 17:40:02 [f.py:1] m", ("Worker_DP0_TP1_EP1", 1, 1, "E", "m")),
            ("(Worker_PP1_TP0 pid=1) INFO 11-30 17:40:02 [f.py:1] m", ("Worker_PP1_TP0", 1, None, "I", "m")),
            ("(VllmWorker-1 pid=5) WARNING 11-30 17:40:02 [vllm.py:7] m", ("VllmWorker-1", 5, 1, "W", "m")),
            ("(EngineCore_DP0 pid=5) INFO 11-30 17:40:02 [v1/a.py:7] m", ("EngineCore_DP0", 5, None, "I", "m")),
            ("(APIServer pid=1) INFO:     Started", ("APIServer", 1, None, "", "INFO:     Started")),
            ("my-prefix (Worker pid=5) DEBUG 11-30 17:40:02 [/a/b.py:7] m", ("Worker", 5, None, "D", "m")),
            ("INFO 11-30 17:40:02 [file.py:12] m", (None, None, None, "I", "m")),
        ],
    )  # fmt: skip
    def test_prefixes(self, line: str, expected: tuple[Any, ...]) -> None:
        found = parse_vllm(line)
        assert found is not None
        assert (found.process, found.pid, found.rank, found.level, found.text) == expected

    @pytest.mark.parametrize("line", ["", "hello", "(x) INFO", "INFO:     Started", "(pid=5) hello"])
    def test_lines_of_others(self, line: str) -> None:
        assert parse_vllm(line) is None

    def test_values(self) -> None:
        def values(text: str) -> dict[str, str]:
            found = parse_vllm(text)
            assert found is not None
            return found.values

        shards = values("Loading safetensors checkpoint shards:  49% Completed | 19/39 [01:28<01:28,  4.63s/it]")
        assert shards == {"percent": "49", "done": "19", "total": "39"}
        spec = values("SpecDecoding metrics: Mean acceptance length: nan, Accepted: 0, Avg Draft acceptance rate: nan%")
        assert spec == {"length": "nan", "rate": "nan"}
        disk = values("Filesystem type for checkpoints: NFS. Checkpoint size: 196.41 GiB. Available RAM: 108.20 GiB.")
        assert disk == {"type": "NFS", "size": "196.41", "ram": "108.20"}
        assert values("GPU KV cache size: 1,406,208 tokens") == {"tokens": "1,406,208"}


class TestSglang:
    def test_lines(self) -> None:
        bad = parse_sglang("[2026-11-30 17:40:02 TP1] Scheduler hit an exception: Traceback (most recent call last):")
        assert bad is not None and (bad.rank, bad.level, bad.says) == (1, "E", "exception")
        detokenizer = parse_sglang("[2026-11-30 17:40:02] DetokenizerManager hit an exception: x")
        assert detokenizer is not None and detokenizer.level == "E"
        many = parse_sglang("[2026-11-30 17:40:02 DP0 TP3 EP3] Memory pool end. avail mem=9.10 GB")
        assert many is not None and (many.rank, many.says, many.values) == (3, "memory", {"gib": "9.10"})
        assert parse_sglang("[2026-11-30 17:40:02] anything") is not None
        assert parse_sglang("anything") is None


class TestTorch:
    @pytest.mark.parametrize(
        ("line", "rank", "level", "says"),
        [
            ("[rank0]:[E1130 16:07:52.403077789 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0 Rank 0] Watchdog caught "
             "collective operation timeout: WorkNCCL(SeqNum=1", 0, "E", "watchdog"),
            ("[rank3]:[F1130 16:07:52.403077789 ProcessGroupNCCL.cpp:1234] [Rank 3] HeartbeatMonitor: watchdog thread "
             "got stuck for 480 seconds", 3, "E", "heartbeat"),
            ("[W1130 15:58:46.550160127 utils.cpp:68] Warning: NUMA binding", None, "W", ""),
            ("W1130 15:57:32.594000 11713 torch/_library/triton.py:53] Triton not available", None, "W", ""),
            ("[rank1]: RuntimeError: x", 1, "", ""),
            ("torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
             None, "E", "clients"),
        ],
    )  # fmt: skip
    def test_lines(self, line: str, rank: int | None, level: str, says: str) -> None:
        found = parse_torchlog(line)
        assert found is not None and (found.rank, found.level, found.says) == (rank, level, says)

    def test_how_many_joined(self) -> None:
        found = parse_torchlog("DistStoreError: Timed out. 1/2 clients joined.")
        assert found is not None and found.values == {"joined": "1", "expected": "2"}

    def test_lines_of_others(self) -> None:
        assert parse_torchlog("W1 hello") is None


class TestKernel:
    def test_the_journal(self) -> None:
        found = [parse_kernel_log(line) for line in lines_of("gb10-kernel-journal.jsonl") if line]
        assert [line.says for line in found] == ["xid", "xid", "nfs-silent", "nfs-back", "link-down", "oom", "nvrm"]
        assert [line.level for line in found] == ["E", "E", "I", "I", "I", "E", "W"]
        assert found[0].at == 1796054399.120331
        assert found[0].values["xid"] == "13" and found[0].values["process"] == "VLLM::Worker_TP"
        assert found[4].values == {"pci": "0000:01:00.0", "interface": "enp1s0f0np0"}
        assert (found[5].values["pid"], found[5].values["anon_kb"]) == ("481120", "4120331")
        assert found[6].text == "NVRM: \ufffd\ufffd"

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            ("plain", "plain"), (None, ""), ([104, 105], "hi"), ([], ""), (7, ""), ({}, ""), (["a", "b"], "a b"),
            (["a", [104, 105]], "a hi"), ([["a"]], ""), ([True, False], ""), ([300], ""), ("a\nb\x1b[31m", "a b"),
        ],
    )  # fmt: skip
    def test_forms_of_a_message(self, message: object, text: str) -> None:
        assert parse_kernel_log(json.dumps({"MESSAGE": message})).text == text

    @pytest.mark.parametrize("pid", ["pid=481120, name=python3, ", "pid='<unknown>', name=<unknown>, ", "pid=1, ", ""])
    def test_forms_of_an_xid(self, pid: str) -> None:
        line = parse_kernel_log(f"[ 123.456789] NVRM: Xid (PCI:000f:01:00): 79, {pid}GPU has fallen off the bus.")
        assert (line.says, line.level, line.values["xid"], line.values["pci"]) == ("xid", "E", "79", "000f:01:00")

    @pytest.mark.parametrize(
        ("line", "at", "level", "says"),
        [
            ("[Mon Nov 30 17:40:02 2026] mlx5_core 0000:01:00.0 enp1s0f0np0: Link up", None, "", "link-up"),
            ("<3>[ 12.3] Out of memory: Killed process 9 (x) total-vm:1kB", None, "E", "oom"),
            ("4,123,456,-;mlx5_core 0000:01:00.0: Port module event: module 0, Cable unplugged", None, "W", "cable"),
            ("Nov 30 17:40:02 spark-01 kernel: INFO: task kswapd0:99 blocked for more than 122 seconds.", None, "E",
             "hung-task"),
            ("2026-11-30T16:17:58+0000 spark-01 kernel: nfs: server 10.0.0.5 not responding, still trying",
             1796055478.0, "W", "nfs-silent"),
            ("pcieport 0000:00:01.0: AER: Corrected error received", None, "W", "aer"),
            ("Memory cgroup out of memory: Killed process 9 (VLLM::Worker_TP) total-vm:1kB", None, "E", "oom"),
            ("usb 1-1: new device", None, "", ""),
        ],
    )  # fmt: skip
    def test_other_sources(self, line: str, at: float | None, level: str, says: str) -> None:
        found = parse_kernel_log(line)
        assert (found.at, found.level, found.says) == (at, level, says)

    @pytest.mark.parametrize("line", ["{", "{}x", '{"MESSAGE":', "{" * 5000])
    def test_broken_json_is_refused(self, line: str) -> None:
        with pytest.raises(ParseError):
            parse_kernel_log(line)


class TestDocker:
    def test_events_as_captured(self) -> None:
        lines = [line for line in lines_of("docker-cli-captured.txt") if line.startswith('{"') and '"scope"' in line]
        events = [event for event in map(parse_docker_event, lines) if event is not None]
        assert [(e.action, e.name) for e in events if e.name == "dead"][-2:] == [("start", "dead"), ("die", "dead")]
        (died,) = [e for e in events if e.action == "die" and e.name == "dead"]
        assert (died.exit_code, died.level, died.at) == (137, "E", 1796055436.2136798)
        (sick,) = [e for e in events if e.health]
        assert (sick.action, sick.health, sick.level, sick.name) == ("health_status", "unhealthy", "W", "hc")
        assert {e.level for e in events if e.action == "oom"} == {"E"}
        assert not [e for e in events if e.action.startswith("exec")]
        assert len(events) < len(lines)

    def test_events_of_podman(self) -> None:
        lines = [line for line in lines_of("podman-cli-captured.txt") if line.startswith("{") and '"Status"' in line]
        events = [event for event in map(parse_docker_event, lines) if event is not None]
        assert ("create", "vllm_dsv41") in [(e.action, e.name) for e in events]
        died = parse_docker_event('{"Name":"c","Status":"died","Type":"container","ContainerExitCode":137,'
                                  '"Time":"2026-11-30T16:18:08.05+01:00"}')  # fmt: skip
        assert died is not None and (died.action, died.exit_code, died.at) == ("die", 137, 1796051888.05)

    @pytest.mark.parametrize(("code", "level"), [("0", "I"), ("143", "I"), ("1", "E"), ("137", "E"), ("x", "I")])
    def test_an_end_that_was_wanted_is_no_error(self, code: str, level: str) -> None:
        event = parse_docker_event(
            json.dumps({"Type": "container", "Action": "die", "Actor": {"Attributes": {"name": "c", "exitCode": code}}})
        )
        assert event is not None and event.level == level

    @pytest.mark.parametrize("line", ["", "x", "[]", "3", "null", "[" * 5000])
    def test_what_is_no_event_is_refused(self, line: str) -> None:
        with pytest.raises(ParseError):
            parse_docker_event(line)

    def test_lines_with_stamps(self) -> None:
        found = parse_docker_log("2026-11-30T16:17:59.141469239Z progress 10%\rprogress 50%\rprogress 100%")
        assert (found.stamp, found.text) == ("2026-11-30T16:17:59.141469239Z", "progress 100%")
        assert found.at == pytest.approx(1796055479.141469)
        podman = parse_docker_log("2026-11-30T17:17:59.5+01:00 x")
        assert (podman.at, podman.text) == (1796055479.5, "x")
        empty = parse_docker_log("2026-11-30T16:17:59.141469239Z ")
        assert empty.at is not None and empty.text == ""
        for line in ("no stamp", "2026-11-30 16:17:59 local", "2026-13-45T16:17:59Z x", ""):
            assert parse_docker_log(line) == (None, "", line)

    def test_pieces_of_a_long_line_are_joined(self) -> None:
        stamp = "2026-11-30T16:17:59.280906249Z "
        found = parse_docker_log(stamp + ("x" * 16384 + stamp) * 2 + "x" * 7232)
        assert found.text == "x" * 40_000


class TestLitellm:
    def test_lines(self) -> None:
        line = parse_litellm_log(
            "14:03:22 - LiteLLM Proxy:ERROR: proxy_server.py:1234 - litellm.InternalServerError: "
            "InternalServerError: Hosted_vllmException - Cannot connect to host 10.0.0.1:8888 ssl:default"
        )
        assert line is not None and (line.level, line.says) == ("E", "unreachable")
        assert line.values == {"host": "10.0.0.1", "port": "8888"}
        record = {
            "message": "No deployments available for model",
            "level": "ERROR",
            "timestamp": "2026-11-30T16:17:58Z",
        }
        found = parse_litellm_log(json.dumps(record))
        assert found is not None and (found.at, found.level, found.says) == (1796055478.0, "E", "no-deployments")
        assert parse_litellm_log("hello") is None
        assert parse_litellm_log('{"a": 1}') is None


class TestLauncher:
    def test_lines(self) -> None:
        waiting = parse_launcher_log("[dsv41-exl3] t+120s MemAvailable head=9.1 GiB worker=88 GiB")
        assert waiting is not None and waiting.values == {"seconds": "120", "head": "9.1", "worker": "88"}
        failed = parse_launcher_log("[dsv41-exl3] no head log line for 420s")
        assert failed is not None and (failed.level, failed.says) == ("E", "failed")
        fatal = parse_launcher_log("[dsv41-exl3-head] FATAL: /model/config.json missing")
        assert fatal is not None and (fatal.tag, fatal.level) == ("dsv41-exl3-head", "E")
        warned = parse_launcher_log("[dsv41-exl3-head] WARN: patch returned 1")
        assert warned is not None and warned.level == "W"
        joined = parse_launcher_log("[dsv41-exl3-worker] joining TP2 at 10.77.1.11:29521 as rank 1")
        assert joined is not None and (joined.says, joined.values) == ("serve", {"rank": "1"})
        assert parse_launcher_log("no tag") is None


LEVELS = [
    ("rank", "[2026-11-30 18:02:11] h:1:2 [0] a.cc:5 NCCL WARN x", "W", "nccl", None, None),
    ("rank", "h:1:2 [0] NCCL INFO x", "I", "nccl", None, None),
    ("rank", "[rank0]:[E1130 16:07:52.403077789 P.cpp:2303] x", "E", "torch", None, 0),
    ("rank", "[rank1]: ValueError: x", "E", "torch", None, 1),
    ("rank", "W1130 15:57:32.594000 11713 torch/a.py:53] x", "W", "torch", None, None),
    ("rank", "(Worker_TP1 pid=3) ERROR 11-30 17:40:02 [f.py:1] x", "E", "vllm", "Worker_TP1", 1),
    ("rank", "(EngineCore pid=3) DEBUG 11-30 17:40:02 [f.py:1] x", "D", "vllm", "EngineCore", None),
    ("rank", "(Worker_TP0 pid=3) Loading safetensors checkpoint shards", "", "vllm", "Worker_TP0", 0),
    ("rank", "(APIServer pid=1) INFO:     Started server process [1]", "I", "uvicorn", "APIServer", None),
    ("rank", "INFO:     10.0.0.1:5 - \"GET /health HTTP/1.1\" 200 OK", "I", "uvicorn", None, None),
    ("rank", "ERROR:    Exception in ASGI application", "E", "uvicorn", None, None),
    ("rank", "WARNING:root:x", "W", "python", None, None),
    ("rank", "[2026-11-30 17:40:02 TP1] Decode batch", "I", "sglang", None, 1),
    ("rank", "[2026-11-30 17:40:02 TP0] Scheduler hit an exception: x", "E", "sglang", None, 0),
    ("rank", "[dsv41-exl3-head] FATAL: x missing", "E", "launcher", None, None),
    ("launcher", "[dsv41-exl3] preflight OK", "I", "launcher", None, None),
    ("proxy", "14:03:22 - LiteLLM Proxy:ERROR: a.py:1 - x", "E", "litellm", None, None),
    ("proxy", '{"message": "x", "level": "WARNING"}', "W", "litellm", None, None),
    ("rank", "Traceback (most recent call last):", "E", "", None, None),
    ("rank", "torch.cuda.OutOfMemoryError: CUDA out of memory", "E", "", None, None),
    ("rank", "plain", "", "", None, None),
    ("rank", "", "", "", None, None),
    ("kernel", '{"MESSAGE": "x", "PRIORITY": "4"}', "W", "kernel", None, None),
    ("kernel", "{broken", "", "kernel", None, None),
    ("events", '{"Type":"container","Action":"oom","Actor":{"Attributes":{"name":"c"}}}', "E", "docker", None, None),
    ("events", "no json", "", "docker", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "line", "level", "writer", "process", "rank"), LEVELS, ids=range(len(LEVELS)))
def test_the_head_of_a_line(
    kind: Any, line: str, level: str, writer: str, process: str | None, rank: int | None
) -> None:
    found = parse_logline(line, kind)
    assert (found.level, found.kind, found.process, found.rank) == (level, writer, process, rank)
    if kind in ("rank", "launcher", "proxy") and not line.startswith("{"):
        stamped = parse_logline("2026-11-30T16:17:58.043825054Z " + line, kind)
        assert stamped == found._replace(at=stamped.at)
        assert stamped.at == pytest.approx(1796055478.043825)


def test_a_line_of_the_log_loses_its_prefix_and_nothing_else() -> None:
    assert parse_logline("(Worker_TP1 pid=3) ERROR 11-30 17:40:02 [f.py:1] x").text == "ERROR 11-30 17:40:02 [f.py:1] x"
    event = '{"Type":"container","Action":"die","Actor":{"Attributes":{"name":"c","exitCode":"137"}},"time":7}'
    assert parse_logline(event, "events")[0::4] == (7.0, "die c exitCode=137")


def test_levels_of_a_whole_captured_log() -> None:
    lines = lines_of("vllm/vllm-0.32.0-tp2-2nodes-rank0-then-rank1-killed.log")
    for line in lines:
        level = parse_logline(line).level
        assert (level == "E") == (") ERROR 11-30" in line), line


@pytest.mark.parametrize(
    "parse",
    [parse_nccl, parse_vllm, parse_sglang, parse_torchlog, parse_log_facts, parse_logline, parse_launcher_log],
)
def test_damaged_lines(parse: Any) -> None:
    for line in (
        "nccl/gb10-nccl-errors.log",
        "nccl/gb10-nccl-2.28-two-nodes.log",
        "vllm/gb10-vllm-boot-0.33-style.log",
    ):
        for text in lines_of(line):
            if text:
                survives(parse, flips(text, 20))
