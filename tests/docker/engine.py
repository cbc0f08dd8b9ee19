"""Calls to the docker engine of a test."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bed import folder as bed_folder
from tests.bed.lanes import SEARCH

START_LIMIT_S = 30.0
IMAGE = "vllm-bed:1"
APPLETS = [
    "sh",
    "echo",
    "sleep",
    "cat",
    "printf",
    "seq",
    "yes",
    "head",
    "tail",
    "date",
    "kill",
    "true",
    "false",
    "tr",
    "dd",
]


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


def address(place: Path) -> str:
    """Where the engine whose files lie in `place` listens, as DOCKER_HOST and `docker -H` take it."""
    return f"unix://{place}/docker.sock"


@contextlib.contextmanager
def dockerd(place: Path) -> Iterator[None]:
    """A docker engine of its own: no bridge, no iptables, all its files in `place`."""
    program = shutil.which("dockerd", path=SEARCH)
    assert program is not None
    argv = [
        program, "--iptables=false", "--ip6tables=false", "--bridge=none", f"--data-root={place}/data",
        f"--exec-root={place}/exec", f"--pidfile={place}/pid", "-H", address(place),
        "--default-ulimit", "nofile=20000:20000",
    ]  # fmt: skip
    with (place / "log").open("w") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    bed_folder.note_session(place, "dockerd", process.pid)
    try:
        await_engine(place)
        yield
    finally:
        process.terminate()
        process.wait(20)
        bed_folder.end_session(place, "dockerd")


def await_engine(place: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    asked = ["docker", "-H", address(place), "info"]
    while subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        if time.monotonic() > end:
            raise RuntimeError(f"dockerd did not start: {(place / 'log').read_text()[-2000:]}")
        time.sleep(0.1)


def make_image(place: Path) -> str:
    """Import an image of busybox and its links; nothing is fetched."""
    busybox = shutil.which("busybox")
    assert busybox is not None, "busybox is not installed: apt-get install busybox-static"
    tree = place / "image" / "bin"
    tree.mkdir(parents=True)
    shutil.copy(busybox, tree / "busybox")
    for name in APPLETS:
        (tree / name).symlink_to("busybox")
    packed = subprocess.run(["tar", "-C", str(tree.parent), "-c", "."], capture_output=True, check=True).stdout
    subprocess.run(["docker", "import", "-", IMAGE], input=packed, capture_output=True, check=True)
    return IMAGE


def run(image: str, name: str, script: str, *options: str) -> str:
    """Start a container that runs a script; its id."""
    words = ["run", "-d", "--name", name, "--network", "none", *options, image, "sh", "-c", script]
    return docker(*words).strip()
