"""Lanes of the tests and what a machine needs to run them.

Outside CI a lane that cannot run is skipped with the reason and the command that mends it. In CI a skipped test of any
lane is a failure: `tests/conftest.py` sees to it.
"""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lane:
    """A pytest marker and its needs."""

    marker: str
    programs: tuple[str, ...]
    packages: tuple[str, ...]
    """Debian packages that bring the programs."""
    devices: tuple[str, ...] = ()
    processor: str | None = None
    """The only processor that the packages exist for."""
    one_bed: bool = False
    """All tests of the lane share what is dear to start."""

    def missing(self) -> str | None:
        """Why the lane cannot run here and what to do, or None."""
        if self.processor not in (None, platform.machine()):
            return f"its programs exist for {self.processor} alone, and this is {platform.machine()}"
        if absent := [name for name in self.programs if shutil.which(name, path=SEARCH) is None]:
            return f"{', '.join(absent)} not found: apt-get install --no-install-recommends {' '.join(self.packages)}"
        if os.geteuid() != 0:
            return "root is needed: run make test as root, in a container or a virtual machine that is yours"
        if absent := [name for name in self.devices if not Path(name).exists()]:
            return f"{', '.join(absent)} is not there; this kernel or container does not offer it"
        return None


SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

LANES = (
    Lane(
        "engine",
        programs=("dockerd", "docker", "sshd", "ssh-keygen", "python3.11"),
        packages=("docker.io", "openssh-server", "openssh-client", "python3.11-venv"),
        processor="x86_64",
        one_bed=True,
    ),
    Lane(
        "vm",
        programs=(
            "qemu-system-x86_64", "qemu-img", "mmdebstrap", "cpio", "modprobe", "depmod", "mkfs.ext4", "ssh",
            "ssh-keygen", "ip",
        ),
        packages=(
            "qemu-system-x86", "qemu-utils", "seabios", "mmdebstrap", "cpio", "kmod", "e2fsprogs", "openssh-client",
            "iproute2",
        ),
        devices=("/dev/net/tun",),
        processor="x86_64",
        one_bed=True,
    ),
    Lane("docker", programs=("dockerd", "docker"), packages=("docker.io",)),
    Lane(
        "uml",
        programs=(
            "linux.uml", "busybox", "sshd", "ssh-keygen", "ip", "mkfs.ext4", "modprobe",
            "rpc.nfsd", "exportfs", "mount.nfs4", "gcc",
        ),
        packages=(
            "user-mode-linux", "busybox-static", "openssh-server", "openssh-client", "iproute2", "e2fsprogs", "kmod",
            "nfs-kernel-server", "nfs-common", "gcc", "libc6-dev",
        ),
        devices=("/dev/net/tun",),
        processor="x86_64",
        one_bed=True,
    ),
    Lane(
        "openssh",
        programs=("sshd", "ssh-keygen", "useradd", "busybox", "ps"),
        packages=("openssh-server", "openssh-client", "passwd", "busybox-static", "procps"),
    ),
)  # fmt: skip


def in_ci() -> bool:
    return os.environ.get("CI", "") not in ("", "0", "false")
