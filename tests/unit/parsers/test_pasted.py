"""Readings as people paste them: each form gives its reading, and what only looks like one gives none."""

from __future__ import annotations

import json

import pytest
from parser_samples import sample

from dsv41_tui.core.facts import FACTS, UNLIMITED_BYTES, Facts
from dsv41_tui.parsers.pasted import PastedReader, parse_pasted

G, GB, M, K = 1 << 30, 10**9, 1 << 20, 1024

MEMORY: list[tuple[str, Facts]] = [
    ("MemFree: 1.1 GiB, Cached: 109 GiB, MemAvailable: 108 GiB", {"mem_free": 1.1 * G, "cached": 109 * G}),
    ("MemFree 59 GiB", {"mem_free": 59 * G}),
    ("MemFree 1.1GB / MemAvailable 108GB", {"mem_free": 1.1 * GB, "mem_available": 108 * GB}),
    (
        "free=1.1GB, available: 108Gi, 109G page cache",
        {"mem_free": 1.1 * GB, "mem_available": 108 * G, "cached": 109 * G},
    ),
    ("MemFree:\t1153433 kB", {"mem_free": 1153433 * K}),
    (
        "MemFree 只剩 1.1 GiB，頁面快取 109 GiB，可用記憶體 108 GiB",
        {"mem_free": 1.1 * G, "cached": 109 * G, "mem_available": 108 * G},
    ),
    ("可用内存：1.4 GiB，swap 0", {"mem_available": 1.4 * G}),
    ("available 3,2 GiB", {"mem_available": 3.2 * G}),
    ("LOW MemAvailable=1.42 GiB (< 1.5) …", {"mem_available": 1.42 * G}),
    (
        "[dsv41-mem] tick load_model +30s MemAvailable=110.3 MemFree=1.2 rss=3",
        {"mem_available": 110.3 * G, "mem_free": 1.2 * G},
    ),
    ("MemAvailable fell 23.8 -> 6.3 GiB in 5 s; 131K-token prefill", {"mem_falling": True, "mem_available": 6.3 * G}),
    (
        "available memory dropped from 23.8 GiB to 6.3 GiB within 5 seconds",
        {"mem_falling": True, "mem_available": 6.3 * G},
    ),
    ("MemAvailable 從 23.8 GiB 降到 6.3 GiB，5 秒內", {"mem_falling": True, "mem_available": 6.3 * G}),
    ("MemAvailable dropping ~3 GiB/s", {"mem_falling": True}),
    ("MemAvailable 22 GiB and flat", {"mem_falling": False, "mem_available": 22 * G}),
    ("MemAvailable 110 -> 6 GiB in 20 minutes", {"mem_available": 6 * G}),
    ("worker has only 63.8 GiB available — running", {"mem_available": 63.8 * G}),
    ("1.1 GiB free, 109 GiB in page cache, 108 GiB available", {"mem_free": 1.1 * G, "cached": 109 * G}),
    ("Free memory on device cuda:0 (59.32/121.69 GiB) on startup", {"mem_free": 59.32 * G, "mem_total": 121.69 * G}),
    ("CmaTotal:        0 kB\nCmaFree:    940604 kB", {"cma_total": 0, "cma_free": 940604 * K}),
    ("CmaFree (940604 kB) > CmaTotal (0 kB)", {"cma_total": 0, "cma_free": 940604 * K}),
    ("full avg10=1.87 avg60=0.71 avg300=0.17 total=37722904", {"psi_full": 1.87}),
    (
        "               total        used        free      shared  buff/cache   available\n"
        "Mem:           121Gi       118Gi       1.1Gi       8.0Gi       2.0Gi       3.0Gi\n"
        "Swap:           15Gi        0Ki        15Gi",
        {"mem_total": 121 * G, "mem_free": 1.1 * G, "mem_available": 3 * G, "cached": 2 * G, "swap_free": 15 * G},
    ),
    (
        "Mem:            121         118           1           8           2           3",
        {"mem_free": G, "mem_available": 3 * G},
    ),
    ("Mem:         124610      120900        1126        8192        2048        3072", {"mem_free": 1126 * M}),
    (
        "記憶體：     127600748   118000000  1100000   1000 8000000 3000000",
        {"mem_free": 1100000 * K, "cached": 8000000 * K},
    ),
    ("Mem: 130663165952 120000000000 1126400000 1024 8000000000 3000000000", {"mem_free": 1126400000}),
]
LIMITS: list[tuple[str, Facts]] = [
    ("ulimit -l: 64", {"memlock": 64 * K}),
    ("ulimit -l 8192", {"memlock": 8 * M}),
    ("$ ulimit -l\n8192", {"memlock": 8 * M}),
    ("$ ulimit -l\n\nunlimited", {"memlock": UNLIMITED_BYTES}),
    ("ulimit -l inside the container says 64", {"memlock": 64 * K}),
    ("docker exec dsv41-head sh -c 'ulimit -l' => 64", {"memlock": 64 * K}),
    ("容器裡 ulimit -l 只有 64", {"memlock": 64 * K}),
    ("memlock unlimited", {"memlock": UNLIMITED_BYTES}),
    ("memlock limit is 8 MiB", {"memlock": 8 * M}),
    ("memlock=64KB", {"memlock": 64 * K}),
    ("--ulimit memlock=-1:-1", {"memlock": UNLIMITED_BYTES}),
    ("Max locked memory         65536                65536                bytes", {"memlock": 64 * K}),
    ("max locked memory           (kbytes, -l) 8192", {"memlock": 8 * M}),
    ('"Ulimits":[{"Name":"memlock","Hard":-1,"Soft":-1}]', {"memlock": UNLIMITED_BYTES}),
    ('"Ulimits": [\n {\n "Name": "memlock",\n "Hard": 65536,\n "Soft": 65536\n }\n]', {"memlock": 64 * K}),
    ("$ docker exec head bash -c 'ulimit -l'\nunlimited\n$ ulimit -l\n64", {"memlock": UNLIMITED_BYTES}),
    ("head: ulimit -l 64\nworker: ulimit -l unlimited", {"memlock": 64 * K}),
    ("Max open files            1024                 524288               files", {"open_files": 1024}),
]
MACHINE: list[tuple[str, Facts]] = [
    ("uname -r: 7.0.0-1019-nvidia, ports ACTIVE", {"kernel": "7.0.0-1019-nvidia", "port_state": "ACTIVE"}),
    ("$ uname -r\n6.17.0-1029-nvidia", {"kernel": "6.17.0-1029-nvidia"}),
    (
        "Linux spark-a 6.17.0-1029-nvidia #29-Ubuntu SMP PREEMPT_DYNAMIC aarch64 aarch64 aarch64 GNU/Linux",
        {"kernel": "6.17.0-1029-nvidia", "arch": "aarch64"},
    ),
    ("Linux version 6.17.0-1029-nvidia (buildd@x)", {"kernel": "6.17.0-1029-nvidia"}),
    ("核心版本 7.0.0-1019-nvidia", {"kernel": "7.0.0-1019-nvidia"}),
    (
        "BOOT_IMAGE=/boot/vmlinuz-7.0.0-1019-nvidia root=UUID=x ro kho=on quiet",
        {"kho": True, "kernel": "7.0.0-1019-nvidia"},
    ),
    ("booted with kho=off", {"kho": False}),
    (" 21:05:11 up 3 days,  2:11,  2 users", {"uptime_s": 3 * 86400 + 2 * 3600 + 11 * 60}),
    ("| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04     CUDA Version: 13.0 |", {"driver": "580.159.04"}),
    ("GPU 96 % at 20 W on one node", {"gpu_util": 96, "gpu_watts": 20}),
    ("both GPUs 96 % util but only 18 W", {"gpu_util": 96, "gpu_watts": 18}),
    (
        "NVIDIA GB10, P0, 96 %, 799 MHz, 19.5 W, 48 C",
        {"gpu_util": 96, "gpu_watts": 19.5, "gpu_mhz": 799, "gpu_celsius": 48},
    ),
    (
        "| N/A   67C    P0             16W /  N/A  | Not Supported          |     96%      Default |",
        {"gpu_util": 96, "gpu_watts": 16, "gpu_celsius": 67},
    ),
    ("compute-apps empty", {"compute_apps": 0}),
    ("|  No running processes found                      |", {"compute_apps": 0}),
    (
        "$ nvidia-smi --query-compute-apps=pid,process_name,used_gpu_memory --format=csv\n"
        "pid, process_name, used_gpu_memory [MiB]\n48122, VLLM::EngineCore, 104277 MiB\n"
        "99, python3 train.py, 20000 MiB\n$ x",
        {"compute_apps": 2, "compute_apps_bytes": 124277 * M, "other_process_bytes": 20000 * M},
    ),
    (
        "$ nvidia-smi --query-compute-apps=pid,used_memory --format=csv\npid, used_gpu_memory [MiB]\n$ next",
        {"compute_apps": 0},
    ),
    (
        "engine idle (Running: 0); hf upload process RSS 7 GiB",
        {"other_process_bytes": 7 * G, "idle": True, "running": 0},
    ),
    (
        "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nroot 3 0 0 123 7340032 ? S 1 1 hf upload\n"
        "root 4 0 0 1 90000000 ? S 1 1 VLLM::Worker",
        {"other_process_bytes": 7 * G},
    ),
]
FABRIC: list[tuple[str, Facts]] = [
    ("state: 4: ACTIVE\nphys_state: 5: LinkUp", {"port_state": "ACTIVE", "phys_state": "LinkUp"}),
    ("cat /sys/class/infiniband/rocep1s0f0/ports/1/state\n1: DOWN", {"port_state": "DOWN"}),
    (
        "\tState: Down\n\tPhysical state: Polling\n\tState: Active\n\tPhysical state: LinkUp\n\tRate: 200",
        {"port_state": "ACTIVE", "phys_state": "LinkUp", "link_gbit": 200},
    ),
    ("  state:   PORT_DOWN (1)\n  active_mtu: 4096 (5)", {"port_state": "DOWN"}),
    (
        "link rocep1s0f0/1 state ACTIVE physical_state LINK_UP netdev enp1s0f0np0",
        {"port_state": "ACTIVE", "phys_state": "LinkUp"},
    ),
    ("worker port DOWN, head port ACTIVE", {"port_state": "DOWN"}),
    ("gids/3 on worker = 0000:0000:0000:0000:0000:0000:0000:0000", {"gid_empty": True, "gid_index": 3}),
    ("gid 3 is empty on spark2", {"gid_empty": True}),
    ("gids/3: 0000:0000:0000:0000:0000:ffff:0a4d:010b", {"gid_empty": False, "gid_index": 3}),
    (
        "rocep1s0f0      1       3       0000:0000:0000:0000:0000:ffff:c0a8:b10c 192.168.177.12          v2      x\n"
        "NCCL_IB_GID_INDEX=5",
        {"gid_type": "RoCE v2", "gid_index": 5, "gid_index_differs": True},
    ),
    ("2: enp1s0f0np0: <BROADCAST,UP> mtu 9000 qdisc mq\n1: lo: <LOOPBACK> mtu 65536", {"mtu": 9000}),
    ("MTU 9000 on head, 1500 on worker", {"mtu_differs": True}),
    (
        "ib_write_bw -q 8: BW average 13.23 Gb/s   (ethtool: Speed: 200000Mb/s)",
        {"measured_gbit": 13.23, "link_gbit": 200},
    ),
    (
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 65536      5000             13.25              13.23              0.025",
        {"measured_gbit": 13.23},
    ),
    ("[SUM]   0.00-10.00  sec   110 GBytes  94.1 Gbits/sec                  receiver", {"measured_gbit": 94.1}),
    ("RDMA error counters 0", {"rdma_errors": 0}),
    ("no error counters", {"rdma_errors": 0}),
    ("out_of_sequence 12034", {"rdma_errors": 12034}),
    (
        "rank 0 NCCL version 2.27.3+cuda13\nrank 1 NCCL version 2.28.3+cuda13",
        {"nccl_version": "2.28.3", "nccl_version_differs": True},
    ),
    ("ls /dev/infiniband: No such file or directory\n/dev/infiniband: No such file", {"ib_in_container": False}),
]
RUN: list[tuple[str, Facts]] = [
    (
        '"State":{"Status":"exited","OOMKilled":true,"ExitCode":137},"HostConfig":{"ShmSize":67108864,"Memory":0,"x":1}',
        {
            "container_state": "exited",
            "oom_killed": True,
            "exit_code": 137,
            "shm_size": 64 * M,
            "memory_limit": UNLIMITED_BYTES,
        },
    ),
    (
        "a img x  Up 2 hours  dsv41-head\nb img x  Exited (137) 2 minutes ago  dsv41-worker",
        {"exit_code": 137, "peer_exited": True},
    ),
    ("OOMKilled true\nOOMKilled false", {"oom_killed": True}),
    ("/health = 200", {"health": "200", "ready": True}),
    ("curl http://spark-a:8888/health: connection refused", {"health": "refused"}),
    ("/health times out", {"health": "timeout"}),
    (
        "before first /health 200; loading shard 17/39 from NFS; read counters grow",
        {"ready": False, "loading": True, "progress": True},
    ),
    ("server was healthy for 20 min", {"ready": True}),
    ("read counters frozen", {"progress": False}),
    ("kv_cache_usage 0.01", {"kv_usage": 0.01}),
    (
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 4 reqs, GPU KV cache usage: 3.1%",
        {"running": 1, "waiting": 4, "idle": False, "kv_usage": 0.031, "ready": True},
    ),
    ("GPU KV cache size: 1,406,208 tokens", {"kv_tokens": 1406208}),
    ("chat completions through the proxy: 200 OK; backend /health 200", {"proxy_ok": True, "health": "200"}),
    ("Timed out after 1801 seconds waiting for clients. 1/2 clients joined.", {"ranks_joined": 1, "ranks_expected": 2}),
    ("<head:29521 is owned by container vllm_dsv41 started 3 h ago>", {"port_owner_old": True}),
    ("EXL3 2.0bpw-mcg", {"bits_per_weight": 2.0}),
    ("Avg Draft acceptance rate: 1.3%", {"spec_accept": 0.013}),
]
FILES: list[tuple[str, Facts]] = [
    (
        "/mnt/nas 192.0.2.50:/models nfs4 ro,relatime,vers=4.2,rsize=1048576,hard,proto=tcp,nconnect=8,timeo=600",
        {"nfs_soft": False, "nfs_version": "4.2", "nconnect": 8, "nfs_mounted": True},
    ),
    (
        "findmnt: nfs4 …soft,timeo=100,retrans=2; files 12, 30 and 42 fail",
        {"nfs_soft": True, "several_files_fail": True},
    ),
    ("/mnt/nas is not a mountpoint", {"nfs_mounted": False}),
    (
        "OSError: [Errno 5] Input/output error: '/m/a'\nOSError: [Errno 5] Input/output error: '/m/b'",
        {"several_files_fail": True},
    ),
    ("OSError: [Errno 116] Stale file handle: '/model/config.json'", {"nfs_state": "stale-handle"}),
    (
        "Filesystem      Size  Used Avail Use% Mounted on\n/dev/nvme0n1p2  3.6T  3.6T   20M 100% /\n"
        "tmpfs 64M 60M 4M 94% /dev/shm\nefivarfs 1K 1K 0 100% /sys/firmware/efi/efivars",
        {"disk_used_percent": 100, "disk_free": 20 * M, "shm_size": 64 * M, "shm_free": 4 * M},
    ),
    ("ping answers but no SSH banner", {"ping": True, "ssh_banner": False}),
    ("2 packets transmitted, 0 received, 100% packet loss, time 1001ms", {"ping": False, "server_ping": False}),
    ("the NAS does not answer ping", {"server_ping": False}),
    ("134 bytes instead of 5368709120", {"file_bytes": 134, "expected_bytes": 5368709120}),
]
CASES = [*MEMORY, *LIMITS, *MACHINE, *FABRIC, *RUN, *FILES]


@pytest.mark.parametrize(("text", "facts"), CASES, ids=[text[:40] for text, _ in CASES])
def test_reading(text: str, facts: Facts) -> None:
    found = parse_pasted(text)
    for name, value in facts.items():
        assert name in found, found
        assert found[name] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), name


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Available KV cache memory: 9.84 GiB", "mem_available"),
        ("SwapCached: 4 kB", "cached"),
        ("curr state INIT, next state RTR", "port_state"),
        ("/dev/shm free 64 MiB", "mem_free"),
        ("disk free: 20 GiB", "mem_free"),
        ("MemFree: 88 GiB idle", "idle"),
        ("before first /health 200", "health"),
        ("MemAvailable 110 -> 6 GiB in 20 minutes", "mem_falling"),
        ("GPU KV cache usage: 96%", "gpu_util"),
        ("Active(anon): 1610948 kB", "anon"),
        ("dropped page cache of 39 shard files", "cached"),
        ("no further lines", "exit_code"),
    ],
)
def test_what_only_looks_like_a_reading(text: str, absent: str) -> None:
    assert absent not in parse_pasted(text)


def test_the_failing_nodes_memory_counts_as_one_moment() -> None:
    """The lowest MemFree with the Cached of the same node, whichever was pasted first."""
    healthy, failing = "MemFree: 88 GiB\nCached: 12 GiB\n", "MemFree: 1.1 GiB\nCached: 109 GiB\n"
    for text in (healthy + failing, failing + healthy):
        found = parse_pasted(text)
        assert (found["mem_free"], found["cached"]) == (round(1.1 * G), 109 * G)


def test_leaked_cma_of_any_node_is_kept_with_its_total() -> None:
    found = parse_pasted(
        "MemFree: 1 GiB\nCmaTotal: 64 MiB\nCmaFree: 60 MiB\nMemFree: 88 GiB\nCmaTotal: 0 kB\nCmaFree: 940604 kB"
    )
    assert (found["cma_total"], found["cma_free"]) == (0, 940604 * K)


def test_of_the_engines_own_series_the_last_one_counts() -> None:
    text = "[dsv41-mem] before MemFree=1.2\n[dsv41-mem] after MemFree=60.5"
    assert parse_pasted(text)["mem_free"] == round(60.5 * G)


def test_a_whole_meminfo_tells_what_the_gpu_holds() -> None:
    found = parse_pasted(sample("proc/gb10-proc-meminfo.txt"))
    assert found["mem_free"] == 3127404 * K and found["shmem"] == 8082344 * K
    assert 100 * G < float(found["mem_driver"]) < 110 * G


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_names_and_kinds_are_those_of_the_facts(text: str) -> None:
    kinds = {"bytes": (int, float), "number": (int, float), "text": (str,), "truth": (bool,)}
    for name, value in parse_pasted(text).items():
        assert isinstance(value, kinds[FACTS[name]]), (name, value)
        assert FACTS[name] == "truth" or not isinstance(value, bool)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_line_by_line_gives_the_same(size: int) -> None:
    text = "\n".join(text for text, _ in CASES)
    lines = text.split("\n")
    reader = PastedReader()
    for start in range(0, len(lines), size):
        reader.feed(lines[start : start + size])
    assert reader.facts() == parse_pasted(text)


def test_stamps_and_prefixes_before_a_reading_do_not_matter() -> None:
    for lead in ("2026-11-30T16:17:58Z ", "head-1  | ", "> ", "    ", "Nov 30 16:17:58 spark-a x[1]: "):
        found = parse_pasted(f"{lead}MemFree:         1153433 kB\n{lead}uname -r: 7.0.0-1019-nvidia")
        assert (found["mem_free"], found["kernel"]) == (1153433 * K, "7.0.0-1019-nvidia")


def test_a_reading_at_the_end_of_a_long_series_is_seen() -> None:
    """Lines of one shape are not read each; the last one is."""
    reader = PastedReader()
    for batch in range(30):
        reader.feed([f"INFO Running: {batch} reqs, GPU KV cache usage: {number}.0%" for number in range(90)])
    found = reader.facts()
    assert (found["running"], found["kv_usage"]) == (29, pytest.approx(0.89))


@pytest.mark.parametrize(
    "piece",
    ["MemFree ", "free: ", "(", "nfs ", "ulimit -l ", "GPU ", "memlock:", "cached 1 ", "gid 3 ", "::", "/health "],
)
def test_hostile_repetition_ends(piece: str) -> None:
    assert isinstance(parse_pasted(piece * (40_000 // len(piece))), dict)


def test_a_reading_in_a_very_long_line() -> None:
    """One line of docker inspect of 200 KB, with the reading in it."""
    inspect = json.dumps(
        [{"Env": ["x" * 150_000], "HostConfig": {"Ulimits": [{"Name": "memlock", "Hard": 64, "Soft": 64}]}}]
    )
    assert parse_pasted(inspect)["memlock"] == 64
