"""More wordings of the same readings, written without the rules at hand."""

from __future__ import annotations

import pytest

from dsv41_tui.core.facts import UNLIMITED_BYTES, Facts
from dsv41_tui.parsers.pasted import parse_pasted

G, GB, M, K = 1 << 30, 10**9, 1 << 20, 1024

CASES: list[tuple[str, Facts]] = [
    ("free -g says 2 free, 113 buff/cache and 114 available", {"mem_free": 2 * G, "cached": 113 * G}),
    ("Mem: total 121G, used 7G, free 1.5G, buff/cache 112G, available 111G", {"mem_free": 1.5 * G, "cached": 112 * G}),
    ("only 900 MB of RAM free, the rest (112 GB) is page cache", {"mem_free": 900 * 10**6, "cached": 112 * GB}),
    ("MemAvailable went from 40 GiB down to 2 GiB", {"mem_available": 2 * G}),
    ("page cache: 108G, really free: 1G", {"cached": 108 * G, "mem_free": G}),
    ("available memory used to be 60 GiB, now 3 GiB", {"mem_available": 3 * G}),
    ("the cache grew to 104 GiB", {"cached": 104 * G}),
    ("頁面快取吃掉 98 GiB", {"cached": 98 * G}),
    ("剩余内存 1.4 GiB", {"mem_free": 1.4 * G}),
    ("ulimit -l in the container prints 64 although the host has unlimited", {"memlock": 64 * K}),
    ("memlock: host unlimited, container 8192", {"memlock": 8 * M}),
    ("memlock limit inside docker is 64 KB; outside it is unlimited", {"memlock": 64 * K}),
    ("inside: ulimit -l 65536, outside: ulimit -l unlimited", {"memlock": 64 * M}),
    ("the container has memlock unlimited, my shell 64", {"memlock": UNLIMITED_BYTES}),
    ("no memlock ulimit in the compose file", {"memlock": 8 * M}),
    ("we forgot --ulimit memlock=-1", {"memlock": 8 * M}),
    ("容器內 memlock 只有 64 KB，主機 unlimited", {"memlock": 64 * K}),
    ("locked memory limit in the container: 8 MiB", {"memlock": 8 * M}),
    ("the service was up for 3 days", {"ready": True}),
    ("served traffic all night", {"ready": True}),
    ("has been healthy since yesterday", {"ready": True}),
    ("after 6 hours of serving it died", {"ready": True}),
    ("no one was connected", {"idle": True}),
    ("no requests were running", {"idle": True}),
    ("當時沒有請求", {"idle": True}),
    ("it was under heavy load", {"idle": False}),
    ("during a long prefill", {"prefill": True}),
    ("someone had sent a 120k prompt, it was prefilling", {"prefill": True}),
    ("while the prefill was running", {"prefill": True}),
    ("正在做 128K 的 prefill", {"prefill": True}),
    ("a prefill of 96k tokens was in progress", {"prefill": True}),
    ("crashes while loading the weights", {"loading": True, "ready": False}),
    ("dies at startup", {"ready": False}),
    ("the logs are silent", {"progress": False}),
    ("no more tokens arrive", {"progress": False}),
    ("it still generates, only slowly", {"progress": True}),
    ("nvcc is still running on the worker", {"compiler_runs": True}),
    ("there is no cicc or nvcc process", {"compiler_runs": False}),
    ("both stack dumps are the same", {"same_stacks": True}),
    ("stacks have not changed after a minute", {"same_stacks": True}),
    ("the stacks are different each time", {"same_stacks": False}),
    ("a direct request to port 8888 works", {"health": "200"}),
    ("via litellm it times out", {"proxy_ok": False}),
    ("the worker container is gone", {"peer_exited": True}),
    ("spark-b lost power", {"peer_exited": True, "rebooted": True}),
    ("the other node was rebooted by the update", {"peer_exited": True}),
    ("rank 1 died a minute earlier", {"peer_exited": True}),
    ("there is no container running on the worker", {"peer_exited": True}),
    ("nobody started the worker container", {"peer_exited": True}),
    ("on the worker, docker ps lists no containers", {"peer_exited": True}),
    ("all ranks are alive", {"peer_exited": False}),
    ("uptime on the worker: 3 min", {"uptime_s": 180.0, "peer_exited": True}),
    ("no reboot happened", {"rebooted": False}),
    ("worker 容器已經退出", {"peer_exited": True}),
    ("an older container still holds the port", {"port_owner_old": True}),
    ("the previous run is still up", {"port_owner_old": True}),
    ("29501 is in use by the old head", {"port_owner_old": True}),
    ("舊容器還在跑", {"port_owner_old": True}),
    ("a jupyter notebook holds 30 GiB", {"other_process_bytes": 30 * G}),
    ("38 GB are used by ollama", {"other_process_bytes": 38 * GB}),
    ("compute-apps is empty", {"compute_apps": 0}),
    ("an orphaned process holds 88 GiB", {"orphan_process": True}),
    ("the GID at index 3 is empty", {"gid_empty": True}),
    ("gids/3 has no entry", {"gid_empty": True}),
    ("there is nothing at index 3", {"gid_empty": True}),
    ("show_gids has no v2 entry", {"gid_empty": True}),
    ("GID 3 是空的", {"gid_empty": True}),
    ("the GID moved from 3 to 5", {"gid_index_differs": True}),
    ("index 3 says RoCE v1", {"gid_type": "RoCE v1"}),
    ("setting NCCL_CROSS_NIC=0 fixes it", {"cross_rail_broken": True}),
    ("the cables are crossed", {"cross_rail_broken": True}),
    ("NCCL_CROSS_NIC=0 makes no difference", {"cross_rail_broken": False}),
    ("a new cable fixed it", {"cable_swap_works": True}),
    ("mtu 9000 here, 1500 there", {"mtu_differs": True}),
    ("MTU 9000 on both", {"mtu_differs": False}),
    ("head runs NCCL 2.28.3, worker 2.29.7", {"nccl_version_differs": True}),
    ("same NCCL on both", {"nccl_version_differs": False}),
    ("they cannot ping each other", {"peer_reachable": False}),
    ("the nodes can ping each other", {"peer_reachable": True}),
    ("telnet to the head times out", {"peer_reachable": False}),
    ("ping to the worker is lost", {"peer_reachable": False}),
    ("ping nas times out", {"server_ping": False}),
    ("port 2049 is open", {"server_ping": True}),
    ("showmount -e nas works", {"server_ping": True}),
    ("the other clients work fine", {"other_clients_ok": True}),
    ("/models is not mounted on spark-b", {"nfs_mounted": False}),
    ("the NAS is still mounted", {"nfs_mounted": True}),
    ("沒有掛載", {"nfs_mounted": False}),
    ("ls inside the container lists all shards", {"model_files_there": True}),
    ("a manual mount works", {"mount_by_hand_works": True}),
    ("_netdev is missing in fstab", {"nfs_netdev": False}),
    ("800 GB free on the target", {"disk_free": 800 * GB}),
    ("the disk still has 300 GB free", {"disk_free": 300 * GB}),
    ("root filesystem is full", {"disk_used_percent": 100}),
    ("inodes are 100% used", {"inodes_used_percent": 100}),
    ("we are out of inodes", {"inodes_used_percent": 100}),
    ("they are all LFS pointers", {"lfs_pointer": True}),
    ("the checksum differs from the hub's", {"checksum_differs": True}),
    ("checksums match", {"checksum_differs": False}),
    ("with the previous kernel everything works", {"older_kernel_works": True}),
    ("kernel downgrade solved it", {"older_kernel_works": True}),
    ("SM clock pinned at 799 MHz", {"gpu_mhz": 799}),
    ("dmesg is clean", {"dmesg_clean": True}),
    ("nothing in dmesg", {"dmesg_clean": True}),
    ("the machine locked up", {"host_frozen": True}),
]


@pytest.mark.parametrize(("text", "facts"), CASES, ids=[text[:48] for text, _ in CASES])
def test_phrase(text: str, facts: Facts) -> None:
    found = parse_pasted(text)
    for name, value in facts.items():
        assert name in found, found
        assert found[name] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), name


@pytest.mark.parametrize(
    ("text", "name", "wrong"),
    [
        ("the worker container was not killed", "peer_exited", True),
        ("docker ps on the worker is not empty", "peer_exited", True),
        ("the spare node rebooted fine last week, not the worker", "peer_exited", None),
        ("py-spy dumps are not identical", "same_stacks", True),
        ("the disk is not full", "disk_used_percent", 100),
        ("the cables are not crossed", "cross_rail_broken", True),
        ("index 3 is not all zeros", "gid_empty", True),
        ("the box is not frozen", "host_frozen", True),
        ("dmesg is not clean", "dmesg_clean", True),
        ("it never served for a minute", "ready", True),
        ("mount -a does not work", "mount_by_hand_works", True),
        ("no longer unlimited in the container", "memlock", UNLIMITED_BYTES),
        ("set memlock to unlimited", "memlock", UNLIMITED_BYTES),
        ("memlock should be unlimited", "memlock", UNLIMITED_BYTES),
        ("the container is not using 40 GB", "other_process_bytes", 40 * GB),
        ("checksums do not match", "checksum_differs", False),
        ("direct curl never works", "health", "200"),
        ("it does not work with NCCL_CROSS_NIC=0", "cross_rail_broken", True),
        ("other clients are not fine", "other_clients_ok", True),
        ("the NAS is no longer mounted", "nfs_mounted", True),
        ("not all ranks are alive", "peer_exited", False),
        ("could the old container still be running?", "port_owner_old", True),
        ("ping between the nodes never works", "peer_reachable", True),
        ("rsync: 40 GB free would be needed", "disk_free", 40 * GB),
    ],
)
def test_a_contrary_does_not_flip(text: str, name: str, wrong: object) -> None:
    found = parse_pasted(text).get(name)
    assert found is None if wrong is None else found != wrong


LOG_LINES = [
    "# HELP vllm:request_prefill_time_seconds Histogram of time spent in PREFILL phase for request.",
    "INFO 11-30 16:17:58 [gpu_worker.py:298] Available KV cache memory: 9.84 GiB",
    "(EngineCore pid=311) INFO 11-30 16:17:58 [core.py:93] init engine took 120.3 seconds",
    "[rank1]:[W1130 16:17:58.1 ProcessGroupNCCL.cpp:1] Warning: process group has NOT been destroyed before",
    "Nov 30 16:17:58 spark-a kernel: mlx5_core 0000:01:00.0: Port module event: module 0, Cable plugged",
    "Nov 30 16:17:58 spark-a systemd[1]: docker.service: Consumed 3min CPU, container process exited",
    "spark-a:311:402 [0] NCCL INFO NET/IB : Using [0]rocep1s0f0:1/RoCE [RO]; OOB enp1s0f0np0:192.0.2.11<0>",
    "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error",
    "  warnings.warn('the worker container exited while loading the weights')",
    'INFO:     192.0.2.9:51812 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    "2026-11-30 16:17:58,123 INFO worker.py:1843 -- Started a local Ray instance, the previous run is still up",
]


@pytest.mark.parametrize("line", LOG_LINES)
def test_lines_of_programs_are_not_what_a_person_says(line: str) -> None:
    told = "peer_exited rebooted idle prefill same_stacks port_owner_old other_process_bytes cross_rail_broken"
    new = {*told.split(), *["nfs_mounted", "host_frozen", "memlock", "disk_used_percent", "peer_reachable"]}
    assert not new & parse_pasted(line).keys()
