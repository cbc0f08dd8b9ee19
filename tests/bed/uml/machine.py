"""One machine: its root folder, its process, its power plug."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.bed import folder as bed_folder
from tests.bed.sshd import Client, greets, make_key

HERE = Path(__file__).parent
MEMORY = "512M"
DISK_BYTES = 1 << 30
"""Of the sparse file that is a node's disk."""
_FOLDERS = (
    *("dev", "proc", "sys", "tmp", "usr", "run", "root", "boot", "export", "nvme", "mnt", "etc/ssh", "var/log"),
    *("var/lib/nfs/sm", "var/lib/nfs/v4recovery", "var/lib/nfs/rpc_pipefs"),
)
_ETC = {
    "passwd": "root:x:0:0::/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/usr/sbin/nologin\n"
    "statd:x:102:65534::/var/lib/nfs:/usr/sbin/nologin\nnobody:x:65534:65534::/:/usr/sbin/nologin\n",
    "shadow": "root:*:1::::::\nsshd:*:1::::::\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n",
    "hosts": "127.0.0.1 localhost\n",
    "services": "ssh 22/tcp\nsunrpc 111/tcp\nsunrpc 111/udp\nnfs 2049/tcp\n",
    "protocols": "ip 0 IP\ntcp 6 TCP\nudp 17 UDP\n",
    "netconfig": "udp tpi_clts v inet udp - -\ntcp tpi_cots_ord v inet tcp - -\nlocal tpi_cots_ord - loopback - - -\n",
    "exports": "",
    "fstab": "",
    "ssh/sshd_config": "HostKey /etc/ssh/host_key\nAuthorizedKeysFile /etc/ssh/authorized_keys\nUsePAM no\n"
    "StrictModes no\nPasswordAuthentication no\nUseDNS no\nPidFile none\nSubsystem sftp internal-sftp\n",
}


@dataclass
class Machine:
    """A machine of the cluster. `role` is the name of its start script: nas or node."""

    name: str
    role: str
    address: str
    folder: Path
    """Where everything of the machine lies."""
    namespace: str
    preload: Path
    """The compiled xstate.c."""
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def console(self) -> Path:
        return self.folder / "console"

    @property
    def tap(self) -> str:
        return f"tap-{self.name}"

    @property
    def _is_nas(self) -> bool:
        return self.role == "nas"

    def build(self, client: Client) -> None:
        """Lay the root folder and the disk."""
        for name in _FOLDERS:
            (self.root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            if name != "bin" or not self._is_nas:
                (self.root / name).symlink_to(f"usr/{name}")
        for name in ("etab", "rmtab", "xtab", "state"):
            (self.root / "var/lib/nfs" / name).touch()
        for name, text in _ETC.items():
            (self.root / "etc" / name).write_text(text)
        busybox = shutil.which("busybox")
        assert busybox is not None
        shutil.copy(busybox, self.root / "busybox")
        shutil.copy(HERE / "init", self.root / "init")
        (self.root / "init").chmod(0o755)
        for name in ("start", self.role):
            shutil.copy(HERE / name, self.root / "boot" / name)
        (self.root / "boot/settings").write_text(f"NAME={self.name}\nADDRESS={self.address}\nROLE={self.role}\n")
        key = make_key(self.root / "etc/ssh/host_key")
        (self.root / "etc/ssh/authorized_keys").write_text(client.public_key)
        client.trust_key(self.address, key)
        if self._is_nas:
            self._make_busybox_login()
        else:
            self._make_disk()

    def _make_busybox_login(self) -> None:
        """A NAS as people have it: /bin/sh and all that a login finds is busybox."""
        (self.root / "bin").mkdir()
        applets = subprocess.run([self.root / "busybox", "--list"], check=True, capture_output=True, text=True)
        for name in applets.stdout.split():
            (self.root / "bin" / name).symlink_to("/busybox")
        (self.root / "bin/kmod").symlink_to("/usr/bin/kmod")  # where Debian's modprobe leads
        passwd = self.root / "etc/passwd"
        passwd.write_text(passwd.read_text().replace("/bin/bash", "/bin/ash"))
        with (self.root / "etc/ssh/sshd_config").open("a") as config:
            config.write("SetEnv PATH=/bin\n")

    def _make_disk(self) -> None:
        disk = self.folder / "disk"
        with disk.open("wb") as file:
            file.truncate(DISK_BYTES)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(disk)], check=True)

    def power_on(self) -> None:
        """Start it; `greets` says when its sshd is there."""
        assert self.process is None
        argv = ["ip", "netns", "exec", self.namespace, "linux.uml", *self._command_line()]
        environment = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(self.preload), "HOME": str(self.folder)}
        with self.console.open("ab") as console:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        bed_folder.note_session(self.folder, "machine", self.process.pid)

    @property
    def _mac(self) -> str:
        """The same at each boot, as of a real card: a new one is unknown to its neighbours for half a minute."""
        return f"02:00:00:00:00:{int(self.address.rpartition('.')[2]):02x}"

    def _command_line(self) -> list[str]:
        words = [
            f"mem={MEMORY}",
            "root=/dev/root",
            "rootfstype=hostfs",
            f"rootflags={self.root}",
            "rw",
            "init=/init",
            "con=null",
            "con0=null,fd:1",
            f"uml_dir={self.folder}/",
            f"umid={self.name}",
            f"vec0:transport=tap,ifname={self.tap},mac={self._mac},depth=64,gro=1",
        ]
        return words if self._is_nas else [*words, f"ubd0={self.folder}/disk"]

    def power_cut(self) -> None:
        """Pull the plug: nothing is flushed, nobody is told."""
        if self.process is None:
            return
        bed_folder.end_session(self.folder, "machine")
        self.process.wait()
        self.process = None

    def ready(self) -> bool:
        """Whether its sshd greets; to be asked inside the namespace."""
        if self.process is not None and self.process.poll() is not None:
            raise RuntimeError(
                f"{self.name} stopped while it booted:\n{self.console.read_text('utf-8', 'replace')[-3000:]}"
            )
        return greets(self.address, 22)
