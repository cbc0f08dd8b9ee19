"""Two guests, `spark1` and `spark2`, in QEMU's software emulation: booted once, frozen, and put back for each test.

Their fabric (eth2) and LAN (eth1) are bridges in a network namespace of our own; each guest's sshd is forwarded to a
port of 127.0.0.1. The image is built from Debian's packages and kept by the digest of the scripts that build it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dsv41_tui.config import NodeConfig
from tests.bed import folder as bed_folder
from tests.bed.uml import netns

HERE = Path(__file__).resolve().parent
SCRIPTS = (HERE / "build.sh", HERE / "guest")
IDS = {"spark1": 11, "spark2": 12}
MEMORY_MIB = 1536
BOOT_LIMIT_S = 300.0
BUILD_LIMIT_S = 900.0
COMMAND_LIMIT_S = 180.0
CLOCK_TOLERANCE_S = 1.5
_KERNEL_WORDS = (
    "console=ttyS0 root=/dev/vda net.ifnames=0 mitigations=off nokaslr audit=0 apparmor=0 tsc=unstable "
    "clocksource=acpi_pm rcupdate.rcu_cpu_stall_timeout=120 nowatchdog panic=-1 loglevel=5 systemd.show_status=0"
)
"""With the TSC as clock source a guest ran five times too fast."""


def image() -> Path:
    """The folder with kernel, initramfs and disk image; built once for each version of the scripts."""
    digest = hashlib.sha256(b"".join(script.read_bytes() for script in SCRIPTS)).hexdigest()[:16]
    folder = Path(os.environ.get("DSV41_VM_CACHE", tempfile.gettempdir())) / f"dsv41-vm-{digest}"
    if not (folder / "base.qcow2").exists():
        done = subprocess.run(
            ["bash", str(SCRIPTS[0]), str(folder)], capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"the guests' image could not be built: {done.stderr[-2000:]}")
    return folder


class Guests:
    """The running pair."""

    def __init__(self, folder: Path, base: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.base = base
        self.namespace = f"dsv41-vm-{os.getpid()}"
        self.ports = {name: _free_port() for name in IDS}
        self.known_hosts = folder / "known_hosts"
        key = " ".join((base / "host.pub").read_text().split()[:2])
        self.known_hosts.write_text("".join(f"[127.0.0.1]:{port} {key}\n" for port in self.ports.values()))

    def up(self) -> None:
        """Boot both and wait until they answer and their clocks run at the right speed."""
        netns.create(self.namespace, self.folder)
        for bridge in ("lan", "fab"):
            netns.ip("-n", self.namespace, "link", "add", bridge, "type", "bridge")
            netns.ip("-n", self.namespace, "link", "set", bridge, "mtu", "9000", "up")
        for name in IDS:
            self._boot(name)
        end = time.monotonic() + BOOT_LIMIT_S
        for name in IDS:
            while not self._answers(name):
                if time.monotonic() > end:
                    raise RuntimeError(f"{name} did not boot:\n{self._console(name)}")
                time.sleep(1.0)
            self._check_clock(name)

    def _boot(self, name: str) -> None:
        number = IDS[name]
        disk = self.folder / f"{name}.qcow2"
        backing = ["-b", str(self.base / "base.qcow2"), "-F", "qcow2"]
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *backing, str(disk)], check=True)
        taps = [f"lan{number}", f"fab{number}"]
        argv = [
            "qemu-system-x86_64", "-name", name, "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max",
            "-machine", "q35", "-smp", "1", "-m", str(MEMORY_MIB), "-nodefaults", "-no-user-config", "-display", "none",
            "-kernel", str(self.base / "vmlinuz"), "-initrd", str(self.base / "initrd.gz"),
            "-append", f"{_KERNEL_WORDS} vm.name={name} vm.id={number}",
            "-drive", f"file={disk},if=virtio,cache=unsafe,discard=unmap",
            "-netdev", f"user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:{self.ports[name]}-:22",
            "-device", f"virtio-net-pci,id=mgmt,netdev=n0,mac=52:54:00:00:00:{number},romfile=",
            "-netdev", f"tap,id=n1,fd=@{taps[0]}",
            "-device", f"virtio-net-pci,id=lan,netdev=n1,mac=52:54:00:00:01:{number},host_mtu=9000,romfile=",
            "-netdev", f"tap,id=n2,fd=@{taps[1]}",
            "-device", f"virtio-net-pci,id=fab,netdev=n2,mac=52:54:00:00:02:{number},host_mtu=9000,romfile=",
            "-device", "virtio-rng-pci", "-serial", f"file:{self.folder / name}.console",
            "-qmp", f"unix:{self.folder / name}.qmp,server=on,wait=off",
        ]  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, str(HERE / "tapexec.py"), self.namespace, ",".join(taps), "--", *argv],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        bed_folder.note_session(self.folder, name, process.pid)
        for tap in taps:
            _until(lambda tap=tap: self._has_tap(tap), f"no {tap}")
            netns.ip("-n", self.namespace, "link", "set", tap, "mtu", "9000", "master", tap[:3], "up")

    def _has_tap(self, tap: str) -> bool:
        words = ["ip", "-n", self.namespace, "link", "show", tap]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def _console(self, name: str) -> str:
        return (self.folder / f"{name}.console").read_text(errors="replace")[-2000:]

    def _answers(self, name: str) -> bool:
        try:
            return self._ssh(name, "true").returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def _check_clock(self, name: str) -> None:
        """A guest whose clock runs wild would make every rate wrong."""
        began, first = time.monotonic(), float(self.run(name, "cut -d' ' -f1 /proc/uptime"))
        time.sleep(3.0)
        passed, ran = time.monotonic() - began, float(self.run(name, "cut -d' ' -f1 /proc/uptime")) - first
        if abs(ran - passed) > CLOCK_TOLERANCE_S:
            raise RuntimeError(f"{name}'s clock ran {ran:.1f} s in {passed:.1f} s")

    def down(self) -> None:
        for name in IDS:
            bed_folder.end_session(self.folder, name)
        netns.delete(self.namespace, self.folder)

    # commands

    def _ssh(self, name: str, command: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        options = {
            "BatchMode": "yes", "IdentityFile": str(self.base / "id"), "UserKnownHostsFile": str(self.known_hosts),
            "StrictHostKeyChecking": "yes", "ConnectTimeout": "10", "ControlMaster": "auto",
            "ControlPath": f"{self.folder}/cm-%C", "ControlPersist": "600",
        }  # fmt: skip
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        argv = ["ssh", "-n", "-F", "/dev/null", *words, "-p", str(self.ports[name]), f"{user}@127.0.0.1", command]
        return subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_LIMIT_S, check=False
        )

    def run(self, name: str, command: str) -> str:
        """Run a command as root; what it printed. RuntimeError with its words when it failed."""
        done = self._ssh(name, command)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {command}: exit {done.returncode}: {done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def background(self, name: str, command: str) -> Iterator[None]:
        """A command that runs on a guest while the block does."""
        unit = f"bed-{time.monotonic_ns()}"
        self.run(name, f"systemd-run -q --unit={unit} -p LimitMEMLOCK=infinity sh -c {shlex.quote(command)}")
        try:
            yield
        finally:
            self._ssh(name, f"systemctl stop {unit}")

    def config(self, name: str, user: str = "root", **fields: Any) -> NodeConfig:
        """The panel's configuration of a guest."""
        return NodeConfig(
            **{
                "name": name, "host": "127.0.0.1", "port": self.ports[name], "user": user,
                "identity_file": str(self.base / "id"), "known_hosts": str(self.known_hosts),
                "ssh_config": "/dev/null", **fields,
            }
        )  # fmt: skip

    # QEMU's monitor

    def monitor(self, guest: str, command: str, /, **arguments: Any) -> Any:
        """One QMP command to a guest; its answer."""
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(COMMAND_LIMIT_S)
            channel.connect(str(self.folder / f"{guest}.qmp"))
            stream = channel.makefile("rw")
            stream.readline()
            answer: dict[str, Any] = {}
            for request in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                answer = {}
                while "return" not in answer and "error" not in answer:
                    answer = json.loads(stream.readline())
        if "error" in answer:
            raise RuntimeError(f"{guest}: {command}: {answer['error']}")
        return answer["return"]

    def freeze(self, name: str = "ready") -> None:
        """Keep memory and disks of both under a name."""
        self._all_stopped(f"savevm {name}")

    def restore(self, name: str = "ready") -> None:
        """Both as they were at that moment, their clocks set, the ends of old connections forgotten."""
        self._all_stopped(f"loadvm {name}")
        for control in self.folder.glob("cm-*"):
            control.unlink()
        for guest in IDS:
            self.cable(guest, True)
            self.run(guest, f"date -s @{time.time():.3f} >/dev/null")

    def _all_stopped(self, line: str) -> None:
        for name in IDS:
            self.monitor(name, "stop")
        for name in IDS:
            said = self.monitor(name, "human-monitor-command", **{"command-line": line})
            if said:
                raise RuntimeError(f"{name}: {line}: {said}")
        for name in IDS:
            self.monitor(name, "cont")

    def cable(self, name: str, plugged: bool, device: str = "fab") -> None:
        """The fabric's cable of a guest: out, the carrier is lost."""
        self.monitor(name, "set_link", name=device, up=plugged)


def _until(true: Any, what: str, limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > end:
            raise RuntimeError(what)
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def guests(folder: Path) -> Iterator[Guests]:
    """A running pair; everything is taken down at the end, also after a failed start."""
    pair = Guests(folder, image())
    try:
        pair.up()
        yield pair
    finally:
        pair.down()
