"""Two nodes, each an sshd and a docker engine of its own, with a rank of one real vLLM each, as a launcher starts them.

The nodes share this machine's kernel, addresses and memory; what a rank says, how it dies and what docker says of it
are real; the kernel's log is not read. The engine is installed once for each version of `install.sh` and what it reads.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dsv41_tui.config import NodeConfig
from tests.bed import folder as bed_folder
from tests.bed.sshd import SshBed, descendants, free_port, ssh_bed
from tests.docker.engine import address, dockerd

HERE = Path(__file__).resolve().parent
SCRIPTS = tuple(HERE / name for name in ("install.sh", "requirements.txt", "model.py"))
INSTALL_LIMIT_S = 900.0
BOOT_LIMIT_S = 900.0
"""A minute on an idle machine of two cores; many where others compute."""
COMMAND_LIMIT_S = 90.0
NODES = ("spark1", "spark2")
CONTAINERS = {"spark1": "dsv41-exl3-head", "spark2": "dsv41-exl3-worker"}
MODEL = "counting"
IMAGE = "links:1"
_ENVIRONMENT = {
    "VLLM_HOST_IP": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo", "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
    "PYTHONUNBUFFERED": "1", "HOME": "/tmp", "USER": "root",
}  # fmt: skip


def environment() -> Path:
    """The folder with the engine's Python and the model."""
    digest = hashlib.sha256(b"".join(script.read_bytes() for script in SCRIPTS)).hexdigest()[:16]
    folder = Path(os.environ.get("DSV41_ENGINE_CACHE", tempfile.gettempdir())) / f"dsv41-engine-{digest}"
    if not (folder / "made").exists():
        began = time.monotonic()
        done = subprocess.run(
            ["bash", str(SCRIPTS[0]), str(folder)], capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"vLLM could not be installed: {done.stderr[-2000:]}")
        print(f"vLLM installed in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return folder


@dataclass
class Engine:
    """The docker engine of one node and the container of its rank."""

    place: Path
    container: str

    def docker(self, *words: str, limit_s: float = COMMAND_LIMIT_S) -> str:
        argv = ["docker", "-H", address(self.place), *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    def import_links(self) -> None:
        """An image of links and an account file; everything else is mounted from this machine."""
        tree = self.place / "image"
        for name in ("usr", "etc", "tmp", "proc", "sys", "dev"):
            (tree / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (tree / name).symlink_to(f"usr/{name}")
        (tree / "etc/passwd").write_text("root:x:0:0:root:/tmp:/bin/sh\n")
        packed = subprocess.run(["tar", "-C", str(tree), "-c", "."], capture_output=True, check=True).stdout
        argv = ["docker", "-H", address(self.place), "import", "-", IMAGE]
        subprocess.run(argv, input=packed, capture_output=True, check=True)

    def docker_log(self) -> str:
        """All that the container wrote, to whichever stream."""
        argv = ["docker", "-H", address(self.place), "logs", self.container]
        return subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_LIMIT_S, check=True
        ).stdout

    @property
    def pid(self) -> int:
        """The container's first process, as this machine counts."""
        return int(self.docker("inspect", "-f", "{{.State.Pid}}", self.container))

    @property
    def running(self) -> bool:
        return self.docker("inspect", "-f", "{{.State.Running}}", self.container).strip() == "true"

    def processes(self) -> dict[int, str]:
        """All processes of the rank with their names, the first one first."""
        pids = (self.pid, *descendants(self.pid))
        return {pid: name for pid in pids if (name := _name(pid)) is not None}

    def signal(self, number: signal.Signals, only: str = "") -> None:
        """Send a signal to the rank's processes, or to those with `only` in their name."""
        chosen = [pid for pid, name in self.processes().items() if only in name]
        assert chosen, f"no process of {self.container} is named {only}"
        for pid in chosen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def last_event(self, name: str) -> float:
        """Unix seconds of the last event of that name of the container, as docker stamps it."""
        now = str(time.time() + 1)
        told = self.docker(
            "events", "--since", str(time.time() - 120), "--until", now, "--filter", f"event={name}",
            "--filter", f"container={self.container}", "--format", "{{.TimeNano}}",
        )  # fmt: skip
        return int(told.split()[-1]) / 1e9


def silent_kernel(place: Path) -> Path:
    """A folder for PATH with a stand-in for the kernel's log, which says nothing.

    The true one is this machine's: it would tell both nodes of every process that anybody's memory limit killed.
    """
    folder = place / "bin"
    folder.mkdir()
    for name, script in (("journalctl", "exit 1"), ("dmesg", "case $* in *-w*) exec sleep 3600;; esac")):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def _name(pid: int) -> str | None:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    return None


class Pair:
    """Both nodes and the service on them."""

    def __init__(self, folder: Path, bed: SshBed, python: Path) -> None:
        self.python = python
        self.api = free_port()
        self.rendezvous = free_port()
        self.boots: list[float] = []
        """Seconds from the start of the containers to the first answer of /health, of each boot."""
        self._bed = bed
        self.engines = {name: Engine(folder / name, CONTAINERS[name]) for name in NODES}
        self.head, self.worker = self.engines.values()
        self.nodes: tuple[NodeConfig, ...] = ()

    def prepare(self) -> None:
        """Let each node be reached by an sshd whose logins find that node's docker."""
        for rank, (name, engine) in enumerate(self.engines.items()):
            path = f"{silent_kernel(engine.place)}:{os.environ['PATH']}"
            server = self._bed.server(f"SetEnv DOCKER_HOST={address(engine.place)} PATH={path}")
            role = "worker" if rank else "head"
            self.nodes += (self._bed.client.node(server, name, role=role, rank=rank),)
            engine.import_links()
            self._create(engine, rank)

    def _create(self, engine: Engine, rank: int) -> None:
        """The container of a rank, created but not started. With `--ipc host` two ranks of one machine take each other
        for neighbours and wait for a socket in a /tmp that they do not share."""
        base = subprocess.run(
            [self.python / "bin/python", "-c", "import sys; print(sys.base_prefix)"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        places = {"/usr", base, str(self.python)}
        mounts = [word for place in sorted(places) for word in ("-v", f"{place}:{place}:ro")]
        settings = [word for name, value in _ENVIRONMENT.items() for word in ("-e", f"{name}={value}")]
        own = ["--headless"] if rank else ["--host", "127.0.0.1", "--port", str(self.api)]
        engine.docker(
            "create", "--name", engine.container, "--network", "host", "--ipc", "private", "--shm-size", "512m",
            "--log-driver", "json-file",
            *mounts, *settings, IMAGE, f"{self.python}/bin/vllm", "serve", f"{self.python}/model",
            "--served-model-name", MODEL, "--max-model-len", "2048", "--max-num-seqs", "4", "--enforce-eager",
            "--tensor-parallel-size", "2", "--nnodes", "2", "--node-rank", str(rank),
            "--master-addr", "127.0.0.1", "--master-port", str(self.rendezvous), *own,
        )  # fmt: skip

    def restart(self) -> None:
        """`docker restart` of both, the worker first, as the launcher does; returns when the API answers."""
        began = time.monotonic()
        for engine in (self.worker, self.head):
            engine.docker("restart", "-t", "0", engine.container)
            bed_folder.note_session(engine.place, "rank", engine.pid)
        while self.health() != 200:
            stopped = [engine for engine in (self.head, self.worker) if not engine.running]
            if stopped or time.monotonic() - began > BOOT_LIMIT_S:
                logs = "\n".join(engine.docker("logs", "--tail", "60", engine.container) for engine in stopped)
                raise RuntimeError(f"vLLM did not come up in {time.monotonic() - began:.0f} s:\n{logs}")
            time.sleep(0.5)
        self.boots.append(time.monotonic() - began)
        print(f"the pair answered after {self.boots[-1]:.0f} s", file=sys.stderr)

    def ready(self) -> None:
        """Return when both ranks serve; a pair that is broken starts anew."""
        whole = self.head.running and self.worker.running and self.complete(4, 30.0) == 200
        if not whole:
            self.restart()
            assert self.complete(4, 60.0) == 200

    def health(self) -> int | None:
        """Status of GET /health, None when nobody answers."""
        return self._ask("/health", None, 5.0)

    def complete(self, tokens: int, limit_s: float) -> int | None:
        """Status of a completion of so many tokens, None when there is no answer within the limit."""
        body = {"model": MODEL, "prompt": "w00", "max_tokens": tokens, "temperature": 0}
        return self._ask("/v1/completions", body, limit_s)

    def _ask(self, path: str, body: dict[str, object] | None, limit_s: float) -> int | None:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{self.api}{path}", data, {"Content-Type": "application/json"})
        try:
            with _NO_PROXY.open(asked, timeout=limit_s) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except (OSError, http.client.HTTPException):
            return None


_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@contextlib.contextmanager
def engine_pair(folder: Path) -> Iterator[Pair]:
    """The pair, not started yet; nothing of it is left running."""
    python = environment()
    with contextlib.ExitStack() as stack:
        pair = Pair(folder, stack.enter_context(ssh_bed(folder / "ssh", "root")), python)
        for engine in pair.engines.values():
            engine.place.mkdir(parents=True)
            stack.enter_context(dockerd(engine.place))
        try:
            pair.prepare()
            yield pair
        finally:
            for engine in pair.engines.values():
                with contextlib.suppress(RuntimeError, subprocess.SubprocessError):
                    engine.docker("rm", "-f", engine.container)
