"""A NAS and two nodes with kernels of their own on one bridge, and what can happen to them."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dsv41_tui.config import NodeConfig
from tests.bed.sshd import Client
from tests.bed.uml import netns
from tests.bed.uml.machine import HERE, Machine

BOOT_LIMIT_S = 90.0
COMMAND_LIMIT_S = 30.0
BRIDGE = "198.18.0.254/24"
NAS_ADDRESS = "198.18.0.10"
_PATH = "export PATH=/usr/sbin:/usr/bin:/sbin:/bin"
"""For what the bed itself does; a login to the NAS finds busybox alone, which prefers its applets to any PATH."""
_EXPORT_GONE = (
    "exportfs -o rw,no_root_squash,no_subtree_check,insecure,fsid=1 198.18.0.0/24:/export/gone && exportfs -f"
)
_NAS_MENDED = (
    f"mkdir -p /export/stale && echo stale >/export/stale/README; {_EXPORT_GONE}; "
    "[ $(cat /proc/fs/nfsd/max_block_size) = 1048576 ] || { rpc.nfsd 0; echo 1048576 >/proc/fs/nfsd/max_block_size; }; "
    "rpc.nfsd -N 3 8"
)
_UNMOUNT_ALL = "umount -a -f -t nfs4 2>/dev/null; umount -a -l -t nfs4; true"
"""Also mounts of a server that is gone, or that a reader still holds."""


class UmlCluster:
    """`nas`, `node1` and `node2`, running. Addresses are of 198.18.0.0/24, inside a namespace of this test run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.namespace = f"dsv41-{os.getpid()}"
        self.client = Client(folder / "client")
        self._touched: set[str] = set()
        preload = folder / "xstate.so"
        self.machines = {
            name: Machine(name, role, address, folder / name, self.namespace, preload)
            for name, role, address in (
                ("nas", "nas", NAS_ADDRESS),
                ("node1", "node", "198.18.0.11"),
                ("node2", "node", "198.18.0.12"),
            )
        }
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(preload), str(HERE / "xstate.c")], check=True)

    def up(self) -> None:
        """Build everything and boot; returns when all machines answer."""
        netns.create(self.namespace, self.folder)
        self._ip("link", "add", "br0", "type", "bridge")
        self._ip("address", "add", BRIDGE, "dev", "br0")
        self._ip("link", "set", "br0", "up")
        for machine in self.machines.values():
            machine.build(self.client)
            netns.ip("netns", "exec", self.namespace, "ip", "tuntap", "add", machine.tap, "mode", "tap")
            self._ip("link", "set", machine.tap, "master", "br0", "up")
            machine.power_on()
        self.await_ready(*self.machines)

    def down(self) -> None:
        for machine in self.machines.values():
            machine.power_cut()
        netns.delete(self.namespace, self.folder)

    def _ip(self, *words: str) -> None:
        netns.ip("-n", self.namespace, *words)

    def await_ready(self, *names: str) -> None:
        end = time.monotonic() + BOOT_LIMIT_S
        with netns.inside(self.namespace):
            for name in names:
                while not self.machines[name].ready():
                    if time.monotonic() > end:
                        raise RuntimeError(f"{name} did not boot: {self.machines[name].console}")
                    time.sleep(0.1)

    def config(self, name: str, role: str = "worker", **fields: object) -> NodeConfig:
        """The panel's configuration of a machine."""
        return self.client.machine(name, self.machines[name].address, role=role, **fields)

    def ssh(self, name: str) -> list[str]:
        """The words of a login with the OpenSSH client."""
        options = {
            "BatchMode": "yes",
            "IdentityFile": str(self.client.key),
            "UserKnownHostsFile": str(self.client.known_hosts),
            "StrictHostKeyChecking": "yes",
            "ConnectTimeout": "10",
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        return ["ip", "netns", "exec", self.namespace, "ssh", "-n", *words, f"root@{self.machines[name].address}"]

    def run_all(self, commands: dict[str, str]) -> None:
        """Run a command on each of several machines, side by side: a login takes half a second of their slow CPU."""
        with ThreadPoolExecutor(max_workers=3) as pool:
            list(pool.map(self.run, commands.keys(), commands.values()))

    def run(self, name: str, command: str) -> str:
        """Run a command of the bed's own on a machine, with all programs in reach; what it printed."""
        self._touched.add(name)
        return self.login(name, f"{_PATH}; exec /usr/bin/bash -c {shlex.quote(command)}")

    def login(self, name: str, command: str) -> str:
        """Log in and run a command as anybody would. RuntimeError with its words when it failed."""
        argv = [*self.ssh(name), command]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {command}: exit {done.returncode}: {done.stderr} {done.stdout}")
        return done.stdout

    def mend(self) -> None:
        """Everything as after the first boot, where a test did anything: power, cables, NFS, mounts, files, fstab."""
        for name, machine in self.machines.items():
            self.plug(name)
            if machine.process is None:
                machine.power_on()
        self.restore_packets()
        self.await_ready(*self.machines)
        for name in ("node1", "node2"):
            self.fstab(name)
        commands = {"nas": _NAS_MENDED, "node1": _UNMOUNT_ALL, "node2": _UNMOUNT_ALL}
        self.run_all({name: commands[name] for name in self._touched})
        self._touched.clear()

    def fstab(self, name: str, *lines: str) -> None:
        """What the operator asked for on a node."""
        (self.machines[name].root / "etc/fstab").write_text("".join(f"{line}\n" for line in lines))

    # NFS

    def mount(self, node: str, place: str = "/mnt/nas", options: str = "", export: str = "/") -> None:
        """Mount an export of the NAS, v4.2 with 1 MiB reads unless `options` say otherwise."""
        words = ",".join(["vers=4.2,rsize=1048576,wsize=1048576", *([options] if options else [])])
        where = shlex.quote(place)
        self.run(node, f"mkdir -p {where} && mount -t nfs4 -o {words} {NAS_ADDRESS}:{export} {where}")

    def nfs_stop(self) -> None:
        """No nfsd thread: the NAS is up, and refuses connections to port 2049."""
        self.run("nas", "rpc.nfsd 0")

    def nfs_start(self, max_block_bytes: int = 1 << 20) -> None:
        self.run("nas", f"echo {max_block_bytes} > /proc/fs/nfsd/max_block_size && rpc.nfsd -N 3 8")

    def export_remove(self) -> None:
        """`/gone` is not exported any more; the kernel forgets what it had looked up."""
        self.run("nas", "exportfs -u 198.18.0.0/24:/export/gone && exportfs -f")

    def export_restore(self) -> None:
        self.run("nas", _EXPORT_GONE)

    @contextlib.contextmanager
    def reading(self, node: str, place: str = "/mnt/nas", pause_s: float = 0.4) -> Iterator[Path]:
        """Read the model files past the page cache, 4 MiB at a time, with a pause between.

        Yields the progress file on this host: lines of `seconds of the node's uptime, bytes read so far`.
        """
        progress = self.machines[node].root / "var/log/reading"
        progress.unlink(missing_ok=True)
        script = (
            f"rm -f /var/log/stop; f={shlex.quote(place)}/models/model-00001-of-00002.safetensors; n=0; "
            "while [ ! -e /var/log/stop ]; do "
            "dd if=$f of=/dev/null bs=1M count=4 iflag=direct 2>/dev/null || exit 1; n=$((n + 4194304)); "
            f'read -r up x </proc/uptime; echo "$up $n" >>/var/log/reading; sleep {pause_s}; done'
        )
        reader = subprocess.Popen([*self.ssh(node), script], stdin=subprocess.DEVNULL)
        try:
            yield progress
        finally:
            (self.machines[node].root / "var/log/stop").touch()
            try:
                reader.wait(5)
            except subprocess.TimeoutExpired:
                reader.kill()
                reader.wait()

    @contextlib.contextmanager
    def saturated(self, node: str, place: str = "/mnt/nas") -> Iterator[None]:
        """The NAS sends at 8 Mbit/s at most, and four readers of `node` want more: every reply waits its turn."""
        limit = "tc qdisc replace dev vec0 root tbf rate 8mbit burst 64k limit 4m"
        self.run("nas", f"modprobe -d /run/modules sch_tbf && {limit}")
        reads = f"dd if={shlex.quote(place)}/models/model-00001-of-00002.safetensors of=/dev/null bs=1M iflag=direct"
        reader = subprocess.Popen(
            [*self.ssh(node), f"for n in 1 2 3 4; do {reads} & done; wait"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            self.run("nas", "tc qdisc delete dev vec0 root")
            self.run(node, "pkill -x dd; true")
            reader.wait(COMMAND_LIMIT_S)

    # cables and plugs

    def drop_packets(self, *names: str) -> None:
        """Between these machines packets vanish; the panel still reaches each of them."""
        for name in names:
            self._ip("link", "set", self.machines[name].tap, "type", "bridge_slave", "isolated", "on")

    def restore_packets(self) -> None:
        for machine in self.machines.values():
            self._ip("link", "set", machine.tap, "type", "bridge_slave", "isolated", "off")

    def unplug(self, name: str) -> None:
        """Pull the network cable of one machine."""
        self._ip("link", "set", self.machines[name].tap, "nomaster")

    def plug(self, name: str) -> None:
        self._ip("link", "set", self.machines[name].tap, "master", "br0")

    def power_cut(self, name: str) -> None:
        self.machines[name].power_cut()

    def power_on(self, name: str) -> None:
        """Boot it again, and wait until it answers."""
        self.machines[name].power_on()
        self.await_ready(name)


@contextlib.contextmanager
def uml_cluster(folder: Path) -> Iterator[UmlCluster]:
    """A running cluster; everything is taken down at the end, also after a failed start."""
    cluster = UmlCluster(folder)
    try:
        cluster.up()
        yield cluster
    finally:
        cluster.down()
