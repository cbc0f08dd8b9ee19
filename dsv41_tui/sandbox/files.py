"""All files of a member's tree as text, by path below its root: those made once and those that move."""

from __future__ import annotations

import json
import uuid
from datetime import datetime

from dsv41_tui.sandbox import infiniband, mounts, nas, network
from dsv41_tui.sandbox.docker_state import docker_state, pid
from dsv41_tui.sandbox.meminfo import GB10_TOTAL_KB, meminfo, nas_meminfo, pressure
from dsv41_tui.sandbox.plan import HOME, Member
from dsv41_tui.sandbox.scenario import Scenario
from dsv41_tui.sandbox.simulate import gpu_now, memory_now, nas_is_down, nfs_now, scene_of

CONTROL = ".sandbox"
"""Where the stand-ins of a node find what they tell; no path of a real machine."""
_BLOCK = 4096
_SHM_SHARE = 4
"""A quarter of the shared memory lies in `/dev/shm`; the rest is pinned by other ways."""


def fixed_files(scenario: Scenario, member: Member, nodes: int) -> dict[str, str]:
    """What stays as it is for the whole run."""
    boot_id = uuid.uuid5(uuid.NAMESPACE_DNS, f"{member.name}.{scenario.seed}.sandbox.invalid")
    files = {
        "proc/sys/kernel/hostname": f"{member.name}\n",
        "proc/sys/kernel/random/boot_id": f"{boot_id}\n",
        "etc/hostname": f"{member.name}\n",
    }
    return files | (_nas_fixed(scenario, nodes) if member.role == "nas" else _gb10_fixed(scenario, member))


def moving_files(scenario: Scenario, member: Member, nodes: int, t: float, began: datetime) -> dict[str, str]:
    """What the kernel, the GPU and docker say `t` seconds after `began`, the moment of the scenario's zero."""
    uptime = scenario.uptime_s + t
    files = {"proc/uptime": f"{uptime:.2f} {uptime * 19.1:.2f}\n"}
    if member.role == "nas":
        return files | _nas_moving(scenario, nodes, t)
    return files | _gb10_moving(scenario, member, t) | _container_moving(scenario, member, t, began)


def _gb10_fixed(scenario: Scenario, member: Member) -> dict[str, str]:
    kernel = scene_of(scenario, member.number).kernel or scenario.kernel
    return network.sysfs(network.GB10_PORTS) | {
        "proc/sys/kernel/osrelease": f"{kernel}\n",
        "proc/sys/kernel/arch": "aarch64\n",
        "proc/cmdline": f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {scenario.command_line}\n",
        "sys/class/dmi/id/product_name": "NVIDIA_DGX_Spark\n",
        "etc/fstab": mounts.fstab(),
    }


def _container_moving(scenario: Scenario, member: Member, t: float, began: datetime) -> dict[str, str]:
    """Docker's word, the process of the container, and the volume that docker mounts for it."""
    scene = scene_of(scenario, member.number).container
    process = pid(scene, t)
    places = member.mounts if process else member.mounts[:1]
    files = {
        f"{CONTROL}/docker.json": json.dumps(docker_state(scenario, member.number, HOME, began, t)),
        f"{CONTROL}/nfs": "".join(f"{place}\n" for place in places),
        "proc/self/mountinfo": mounts.mountinfo(member.address, places),
        "proc/self/mountstats": mounts.mountstats(nfs_now(scenario, member.number, t), member.address, places),
    }
    if process:
        limit = "unlimited" if scene.memlock_bytes < 0 else str(scene.memlock_bytes)
        files[f"proc/{process}/limits"] = infiniband.limits(limit)
        files[f"proc/{process}/stat"] = f"{process} (bash) S 1 {process} {process} 0 -1\n"
    return files


def _fabric_moving(scenario: Scenario, member: Member, t: float) -> dict[str, str]:
    """Ports as they are now, with the traffic of a pair that serves; the two halves of the port share it."""
    scene = scene_of(scenario, member.number)
    hcas = infiniband.gb10_hcas(member.number)
    for turn in scene.hca:
        if turn.at_s <= t:
            hcas = tuple(hca.model_copy(update=turn.changes()) if hca.device == turn.device else hca for hca in hcas)
    files = infiniband.sysfs(hcas)
    busy_s = scenario.serving_s(t)
    for hca in hcas:
        files |= infiniband.counters(hca, {})
        if hca.active:
            files |= infiniband.counters(hca, infiniband.serving(busy_s))
    return files


def _gb10_moving(scenario: Scenario, member: Member, t: float) -> dict[str, str]:
    scene = scene_of(scenario, member.number)
    memory = memory_now(scenario, member.number, t)
    gpu = gpu_now(scenario, member.number, t)
    nfs = nfs_now(scenario, member.number, t)
    blocks = GB10_TOTAL_KB * 1024 // 2 // _BLOCK
    return {
        "proc/meminfo": meminfo(memory, scene),
        "proc/pressure/memory": pressure(scene.pressure_percent, scenario.uptime_s + t),
        "proc/net/dev": network.gb10_net_dev(nfs.read_bytes, t),
        f"{CONTROL}/gpu": f"{gpu.percent} {gpu.celsius} {gpu.watts:.2f} {gpu.sm_mhz}\n",
        f"{CONTROL}/shm": f"{_BLOCK} {blocks} {blocks - memory.shmem // _SHM_SHARE // _BLOCK}\n",
        **_fabric_moving(scenario, member, t),
    }


def _nas_fixed(scenario: Scenario, nodes: int) -> dict[str, str]:
    return (
        network.sysfs(network.NAS_PORTS)
        | nas.fixed_files()
        | {
            "proc/meminfo": nas_meminfo(),
            "proc/sys/kernel/osrelease": "5.10.60-qnap\n",
            "proc/cmdline": "BOOT_IMAGE=/boot/bzImage console=ttyS0,115200n8\n",
            "proc/pressure/memory": pressure(0, scenario.uptime_s),
            "proc/self/mountinfo": "29 1 253:0 / / rw,relatime - ext4 /dev/mapper/cachedev1 rw\n",
            "proc/self/mountstats": "device /dev/mapper/cachedev1 mounted on / with fstype ext4\n",
            "sys/class/dmi/id/product_name": "TS-464\n",
            "etc/fstab": "# <file system> <mount point> <type> <options> <dump> <pass>\n",
            f"{CONTROL}/nfs": "",
        }
    )


def _nas_moving(scenario: Scenario, nodes: int, t: float) -> dict[str, str]:
    clients = [nfs_now(scenario, number, t) for number in range(1, nodes + 1)]
    read_bytes = sum(client.read_bytes for client in clients)
    calls = sum(mounts.operations(client) for client in clients)
    return {"proc/net/dev": network.nas_net_dev(read_bytes, t)} | nas.moving_files(
        read_bytes, calls, down=nas_is_down(scenario, t)
    )
