"""Readings in the words of a person: each phrase gives its facts, whatever the wording; contraries do not flip."""

from __future__ import annotations

import pytest

from dsv41_tui.core.facts import UNLIMITED_BYTES, Facts
from dsv41_tui.parsers.pasted import parse_pasted

G, GB, M, K = 1 << 30, 10**9, 1 << 20, 1024

MEMORY: list[tuple[str, Facts]] = [
    (
        "free -m: total 124610 used 5120 free 1126 buff/cache 118000 available 117000",
        {"mem_free": 1126 * M, "cached": 118000 * M, "mem_available": 117000 * M},
    ),
    (
        "free -h: total=121Gi, used=6Gi, free=1.1Gi, buff/cache=113Gi, available=112Gi",
        {"mem_free": 1.1 * G, "cached": 113 * G, "mem_available": 112 * G},
    ),
    (
        "total: 121 | used: 8 | free: 3 | shared: 0 | buff/cache: 110 | available: 112",
        {"mem_free": 3 * G, "cached": 110 * G},
    ),
    ("3 GB free, 108 GB in buff/cache", {"mem_free": 3 * GB, "cached": 108 * GB}),
    ("free/available: 2.5G / 111G", {"mem_free": 2.5 * G, "mem_available": 111 * G}),
    ("free/buff/cache/available = 1G/112G/110G", {"mem_free": G, "cached": 112 * G, "mem_available": 110 * G}),
    ("page cache eats 110G", {"cached": 110 * G}),
    ("the page cache is holding 96 GiB", {"cached": 96 * G}),
    ("buffers/cache takes 104 GB", {"cached": 104 * GB}),
    ("109 GiB sit in the page cache", {"cached": 109 * G}),
    ("可用記憶體剩 1.2 GiB、快取 109 GiB", {"mem_available": 1.2 * G, "cached": 109 * G}),
    ("空闲内存只有 2 GiB，缓存占了 101 GiB", {"mem_free": 2 * G, "cached": 101 * G}),
    ("MemAvailable was 23 GiB, now 6 GiB", {"mem_available": 6 * G}),
    ("MemFree was 1.1 GiB before drop_caches, now it is 98 GiB", {"mem_free": 98 * G}),
    ("cache was dropped: now 2 GiB", {"cached": 2 * G}),
    ("head: MemAvailable 60 GiB, worker: MemAvailable 2 GiB", {"mem_available": 2 * G}),
    ("only 1.3 GiB of memory available", {"mem_available": 1.3 * G}),
    ("free RAM 900M, cached 112G", {"mem_free": 900 * M, "cached": 112 * G}),
]
LIMITS: list[tuple[str, Facts]] = [
    ("in the container: ulimit -l -> 65536. on the host: unlimited", {"memlock": 64 * M}),
    ("ulimit -l = 64 (host: unlimited)", {"memlock": 64 * K}),
    ("memlock is unlimited on the host but 64 kB inside the container", {"memlock": 64 * K}),
    ("memlock on host 64 KiB, in the container unlimited", {"memlock": UNLIMITED_BYTES}),
    ("memlock unlimited. CmaTotal 32 MB", {"memlock": UNLIMITED_BYTES}),
    ("locked memory: unlimited everywhere.", {"memlock": UNLIMITED_BYTES}),
    ("MEMLOCK    max locked-in-memory address space   65536     65536 bytes", {"memlock": 64 * K}),
    ("MEMLOCK    max locked-in-memory address space unlimited unlimited bytes", {"memlock": UNLIMITED_BYTES}),
    ("systemd unit has LimitMEMLOCK=8M", {"memlock": 8 * M}),
    ("compose has ulimits: memlock: -1", {"memlock": UNLIMITED_BYTES}),
    ("container was started without --ulimit memlock", {"memlock": 8 * M}),
    ("no --ulimit memlock=-1 in the run command", {"memlock": 8 * M}),
    ("ulimit -l was 64, now unlimited", {"memlock": UNLIMITED_BYTES}),
    ("worker: ulimit -l unlimited, head: ulimit -l 8192", {"memlock": 8 * M}),
    ("RLIMIT_MEMLOCK is 8 MiB in there", {"memlock": 8 * M}),
]
STATE: list[tuple[str, Facts]] = [
    ("had been serving for 7 hours", {"ready": True}),
    ("it had been answering for an hour", {"ready": True}),
    ("ran fine for two days", {"ready": True}),
    ("worked for about 40 min, then this", {"ready": True}),
    ("the engine was idle overnight", {"idle": True}),
    ("nobody was using it", {"idle": True}),
    ("no traffic at the time", {"idle": True}),
    ("it was not idle", {"idle": False}),
    ("in the middle of a 131K prefill", {"prefill": True, "idle": False}),
    ("prefill of 200k tokens was running", {"prefill": True}),
    ("a 128k prompt was being prefilled", {"prefill": True}),
    ("while prefilling a long prompt", {"prefill": True}),
    ("it was not during a prefill", {"prefill": False}),
    ("during model load", {"loading": True, "ready": False}),
    ("died right after start", {"ready": False}),
    ("happens 3 seconds after init, every time", {"ready": False}),
    ("worker log silent since then", {"progress": False}),
    ("tokens still come, slowly", {"progress": True}),
    ("no compiler running", {"compiler_runs": False}),
    ("12 cicc processes since 5 minutes", {"compiler_runs": True}),
    ("two py-spy dumps 50 s apart are identical", {"same_stacks": True}),
    ("py-spy shows the same stack twice", {"same_stacks": True}),
    ("py-spy dumps a minute apart differ", {"same_stacks": False}),
    ("the other rank shows the same stack for minutes", {"same_stacks": True}),
    ("curl straight to the engine works, through LiteLLM nothing", {"health": "200", "proxy_ok": False}),
    ("direct curl works", {"health": "200"}),
    ("direct curl does not work", {"health": "refused"}),
    ("also when told to count to 100", {"low_when_counting": True}),
    ("only with the new nightly image", {"image_specific": True}),
]
PEER: list[tuple[str, Facts]] = [
    ("rank 1's container was killed", {"peer_exited": True}),
    ("the head container exited 10 s before these lines", {"peer_exited": True}),
    ("worker host rebooted at 03:12", {"peer_exited": True, "rebooted": True}),
    ("spark-b uptime says 4 min", {"uptime_s": 240.0, "peer_exited": True}),
    ("uptime 41 days unchanged", {"rebooted": False}),
    ("docker ps on the worker is empty", {"peer_exited": True}),
    ("on spark-b docker ps shows nothing", {"peer_exited": True}),
    ("head container was never started", {"peer_exited": True}),
    ("both containers are up", {"peer_exited": False}),
    ("vllm container exited an hour ago", {"container_state": "exited"}),
    ("docker ps on spark-b shows vllm-old Up 3 hours next to the new one", {"port_owner_old": True}),
    ("yesterday's head is still running", {"port_owner_old": True}),
    ("port 29500 is still held by the previous container", {"port_owner_old": True}),
    ("no old container is left", {"port_owner_old": False}),
    ("another container uses 40 GB", {"other_process_bytes": 40 * GB}),
    ("docker ps: a comfyui container using 44 GB runs on this box", {"other_process_bytes": 44 * GB}),
    ("nvidia-smi shows no processes", {"compute_apps": 0}),
    ("zombie python holds 90 GiB", {"orphan_process": True, "compute_apps_bytes": 90 * G}),
]
FABRIC: list[tuple[str, Facts]] = [
    ("show_gids lists nothing at index 3 on the second node", {"gid_empty": True}),
    ("index 3 is all zeros on the worker", {"gid_empty": True}),
    ("no v2 entry in the GID table", {"gid_empty": True}),
    ("the v2 entry is at 5 there, we set 3", {"gid_index_differs": True}),
    ("gid index 3 is RoCE v1", {"gid_type": "RoCE v1"}),
    ("index 3 is not empty", {"gid_empty": False}),
    ("with NCCL_CROSS_NIC=0 it works", {"cross_rail_broken": True}),
    ("NCCL_CROSS_NIC=0 does not help", {"cross_rail_broken": False}),
    ("port 0 of spark-a goes to port 1 of spark-b", {"cross_rail_broken": True}),
    ("only enp1s0f0np0 is cabled, NET/IB uses both", {"cross_rail_broken": True}),
    ("works after swapping the cable", {"cable_swap_works": True}),
    ("one side has MTU 1500, the other 9000", {"mtu_differs": True}),
    ("MTU 1500 vs 9000", {"mtu_differs": True}),
    ("MTU is 9000 on both nodes", {"mtu_differs": False, "mtu": 9000}),
    ("NCCL is the same on both nodes, both 2.29.7", {"nccl_version_differs": False}),
    ("nccl 2.28.3 on head and 2.29.7 on worker", {"nccl_version_differs": True}),
    ("ping between the two cx7 addresses fails with Destination Host Unreachable", {"peer_reachable": False}),
    ("there is no route between them", {"peer_reachable": False}),
    ("ip route get says network is unreachable", {"peer_reachable": False}),
    ("nc -vz 192.0.2.11 38151: No route to host", {"peer_reachable": False}),
    ("nc -vz 192.0.2.11 29501 succeeded", {"peer_reachable": True}),
    ("ping between the nodes works", {"peer_reachable": True}),
]
FILES: list[tuple[str, Facts]] = [
    ("rpcinfo: nas: RPC: Remote system error - Connection refused", {"server_ping": False}),
    ("rpcinfo -p nas answers", {"server_ping": True}),
    ("port 2049 on the NAS is closed", {"server_ping": False}),
    ("other clients are fine", {"other_clients_ok": True}),
    ("/mnt/nas is an empty local directory, nothing mounted there", {"nfs_mounted": False}),
    ("the share is no longer mounted", {"nfs_mounted": False}),
    ("it is mounted and full", {"nfs_mounted": True, "model_files_there": True}),
    ("ls /models/deepseek inside shows config.json", {"model_files_there": True}),
    ("mount -a by hand works right away", {"mount_by_hand_works": True}),
    ("fstab line has no _netdev", {"nfs_netdev": False}),
    ("target has 1.2T free", {"disk_free": 1.2 * 1024 * G}),
    ("the disk is 100% used", {"disk_used_percent": 100}),
    ("df -i says 100% IUse", {"inodes_used_percent": 100}),
    ("the file is only a git-lfs pointer", {"lfs_pointer": True}),
    ("sha256 does not match", {"checksum_differs": True}),
    ("booted the older kernel and it works", {"older_kernel_works": True}),
    ("clock stuck at 800 MHz at 96 %", {"gpu_mhz": 800, "gpu_util": 96}),
    ("no errors in dmesg", {"dmesg_clean": True}),
    ("box frozen, the console does not react", {"host_frozen": True}),
]
CASES = [*MEMORY, *LIMITS, *STATE, *PEER, *FABRIC, *FILES]


@pytest.mark.parametrize(("text", "facts"), CASES, ids=[text[:48] for text, _ in CASES])
def test_phrase(text: str, facts: Facts) -> None:
    found = parse_pasted(text)
    for name, value in facts.items():
        assert name in found, found
        assert found[name] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), name


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("memlock is not unlimited", "memlock"),
        ("dropped 110 GiB of page cache", "cached"),
        ("was idle at lunch over the vpn", "idle"),
        ("chunked prefill is enabled", "prefill"),
        ("after the reboot /mnt/nas is an empty local directory", "peer_exited"),
        ("the peer host answers over the management lan", "peer_reachable"),
        ("the worker has not exited", "peer_exited"),
        ("if the worker container exited, restart it", "peer_exited"),
        ("no idea whether rank 1 was killed", "peer_exited"),
        ("KV 快取 109 GiB", "cached"),
        ("磁碟剩餘 20 GiB 可用", "mem_available"),
        ("it hangs during load", "loading"),
        ("INFO 11-30 16:17:58 [core.py:1] nobody was using it", "idle"),
        ("2026-11-30T16:17:58Z spark-a worker[1]: worker container exited", "peer_exited"),
        ('{"role": "user", "content": "the worker host rebooted at 03:12"}', "rebooted"),
        ("spark-a:12:34 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1", "peer_reachable"),
        ("[rank0]: the disk is 100% used", "inodes_used_percent"),
        ("the vllm container uses 104 GiB", "other_process_bytes"),
        ("the NAS is rebooting", "peer_exited"),
    ],
)
def test_contrary_or_not_a_reading(text: str, absent: str) -> None:
    assert absent not in parse_pasted(text)


@pytest.mark.parametrize(
    "piece", ["ulimit -l ", "ping ", "docker ps ", "free 1 ", "index 3 ", "prefill ", "container uses ", "1 vs 2 "]
)
def test_hostile_repetition_ends(piece: str) -> None:
    assert isinstance(parse_pasted(piece * (40_000 // len(piece))), dict)
