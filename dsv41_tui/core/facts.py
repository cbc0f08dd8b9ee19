"""The readings that conditions of the failure book speak of, by name: bytes, numbers, texts, truths.

A fact that nobody read is absent, and a condition on it is neither true nor false. The same names hold for readings of
a watched node and for readings that somebody pasted beside a log.
"""

from __future__ import annotations

from typing import Literal

FactKind = Literal["bytes", "number", "text", "truth"]
Fact = str | float | bool
Facts = dict[str, Fact]

UNLIMITED_BYTES = float("inf")
"""A limit in bytes that is not set."""

FACTS: dict[str, FactKind] = {
    # memory of the node, /proc/meminfo
    "mem_total": "bytes",
    "mem_free": "bytes",
    "mem_available": "bytes",
    "cached": "bytes",
    "shmem": "bytes",
    "anon": "bytes",
    "slab": "bytes",
    "swap_free": "bytes",
    "cma_total": "bytes",
    "cma_free": "bytes",
    "mem_driver": "bytes",  # what no line of meminfo accounts for: the GPU's
    "mem_falling": "truth",  # MemAvailable fell by gigabytes within seconds
    "psi_full": "number",  # percent, avg10
    # limits
    "memlock": "bytes",  # inf: unlimited
    "memory_limit": "bytes",  # of the container's cgroup
    "shm_size": "bytes",
    "shm_free": "bytes",
    "open_files": "number",
    # the machine
    "kernel": "text",  # uname -r; compared as a version
    "driver": "text",  # NVIDIA driver version
    "arch": "text",  # aarch64, x86_64
    "kho": "truth",  # Kexec HandOver is on in /proc/cmdline or dmesg
    "uptime_s": "number",
    "disk_free": "bytes",
    "disk_used_percent": "number",
    "inodes_used_percent": "number",
    "rebooted": "truth",  # a node booted since the run began; false: its uptime is unchanged
    "host_frozen": "truth",  # the console does not react either
    "dmesg_clean": "truth",  # the kernel log holds no errors of that time
    "older_kernel_works": "truth",  # the same run works after booting the kernel before
    # GPU
    "gpu_util": "number",  # percent
    "gpu_watts": "number",
    "gpu_mhz": "number",
    "gpu_celsius": "number",
    "compute_apps": "number",  # how many processes hold the GPU
    "compute_apps_bytes": "bytes",
    "other_process_bytes": "bytes",  # the largest process that is not the engine's, RSS or GPU memory
    "orphan_process": "truth",  # a process without its engine or terminal holds memory
    "compiler_runs": "truth",  # cicc, nvcc, ptxas or ninja is among the processes
    # fabric
    "port_state": "text",  # ACTIVE, DOWN, INIT
    "phys_state": "text",  # LinkUp, Polling, Disabled
    "link_gbit": "number",
    "measured_gbit": "number",  # ib_write_bw, iperf
    "mtu": "number",  # netdev
    "mtu_differs": "truth",  # between the nodes
    "gid": "text",  # the entry that the configuration names
    "gid_empty": "truth",  # that entry is all zero
    "gid_type": "text",  # IB/RoCE v1, RoCE v2
    "gid_index": "number",
    "gid_index_differs": "truth",  # the right index of this node is another than the configured one
    "ib_in_container": "truth",  # /dev/infiniband is there in the container
    "gdr": "truth",  # GPUDirect RDMA is there (never on GB10)
    "nccl_version": "text",
    "nccl_version_differs": "truth",
    "rdma_errors": "number",  # growth of retransmissions, timeouts, out-of-sequence
    "interface_missing": "truth",  # the named interface is not there or has no address
    "peer_reachable": "truth",  # ping or TCP to the other rank's fabric address
    "cross_rail_broken": "truth",  # works within one rail only: crossed or missing cables, or NCCL_CROSS_NIC=0 cures it
    "cable_swap_works": "truth",  # it works with another cable
    # containers and engine
    "container_state": "text",
    "exit_code": "number",
    "oom_killed": "truth",
    "restart_count": "number",
    "peer_exited": "truth",  # the container of another rank ended before or is gone
    "ready": "truth",  # it has served since its start (/health was 200)
    "loading": "truth",  # weights are being loaded, and something moves
    "progress": "truth",  # read counters, shard bar or tokens move
    "kv_usage": "number",  # 0..1
    "kv_tokens": "number",
    "running": "number",
    "waiting": "number",
    "idle": "truth",  # no request runs
    "prefill": "truth",  # a long prompt was being read in
    "same_stacks": "truth",  # stacks of a rank are the same some time later
    "image_specific": "truth",  # with another image the same run works
    "low_when_counting": "truth",  # acceptance is as low on the most predictable answer
    "gpu_memory_utilization": "number",  # 0..1, as asked
    "health": "text",  # 200, 503, refused, timeout: of the engine's /health
    "proxy_ok": "truth",  # a completion through the proxy works
    "engine_version": "text",
    "ranks_expected": "number",
    "ranks_joined": "number",
    "port_owner_old": "truth",  # the rendezvous or API port is held by an older container or process
    # NFS and files
    "nfs_state": "text",  # as in the NFS pane: fine, not-responding, stale-handle, denied, unmounted
    "nfs_soft": "truth",
    "nfs_mounted": "truth",
    "nfs_version": "text",
    "nconnect": "number",
    "server_ping": "truth",  # the NFS server answers ping or its port
    "other_clients_ok": "truth",  # the same server serves other clients
    "mount_by_hand_works": "truth",  # mount -a succeeds after the boot did not mount it
    "nfs_netdev": "truth",  # the line of fstab waits for the network
    "path_lists": "truth",  # a directory on the way to the model lists entries
    "model_files_there": "truth",  # the model's directory lists its files
    "lfs_pointer": "truth",  # a weight file is the text of a git-lfs pointer
    "checksum_differs": "truth",
    "several_files_fail": "truth",  # the error names more than one file
    "file_bytes": "bytes",
    "expected_bytes": "bytes",
    # ssh and API
    "ping": "truth",  # the node answers ping
    "ssh_banner": "truth",
    "spec_accept": "number",  # 0..1, draft acceptance
    "spec_off_cures": "truth",  # without speculation the answers are right; false: nothing changes
    "sum_wrong": "truth",  # a short sum, as the smoke test asks it, was answered wrongly
    "bits_per_weight": "number",
    "mixed_scripts": "truth",  # an answer mixes scripts within one sentence
}

FRACTIONS = frozenset({"kv_usage", "gpu_memory_utilization", "spec_accept"})
"""Numbers of 0..1: a condition in percent is divided by a hundred."""
