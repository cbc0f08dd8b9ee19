"""Calls to the docker engine of a test."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

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


def await_engine(place: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    while subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
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
