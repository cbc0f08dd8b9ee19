"""Login shells as people have them: other shells, start-up files that print or fail, banners, no python3."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.panel import Panel, panel
from tests.bed.sshd import SshBed
from tests.bed.users import Users

pytestmark = pytest.mark.openssh

NOISE = """
printf 'Welcome to spark1\\n\\033[2J\\033]0;owned\\007 * 12 updates can be installed *\\n'
printf 'no line feed at the end, @go and \\xff\\xfe bytes'
echo "warning: on stderr" >&2
"""
FAILS = """
no-such-command --at-all
set -o pipefail
false
PATH=$PATH:/nonexistent; export ENV=/nonexistent BASH_ENV=/nonexistent CDPATH=/
alias head=false cat=false printf=false
unset HOME
"""


async def _shows_everything(bed: SshBed, user: str, *settings: str) -> None:
    server = bed.server(*settings, user=user)
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await watched.until(lambda: _whole(watched))
        assert watched.node().link.unwatched == ()
        assert server.logins() == 1


def _whole(watched: Panel) -> bool:
    """Fast readings by the collector, rare ones by the runner."""
    node = watched.node()
    memory, shm = node.memory.value, node.shm.value
    return bool(memory and memory.total and node.uptime_s and node.mountinfo.value is not None and shm and shm.size)


@pytest.fixture(scope="module")
def busybox_shell(bed_folder: Path) -> str:
    """busybox as a login shell; it takes its applet from the name it is called by."""
    busybox = shutil.which("busybox")
    assert busybox is not None
    shell = bed_folder / "ash"
    shell.symlink_to(busybox)
    return str(shell)


@pytest.fixture(scope="module")
def accounts(users: Users, busybox_shell: str) -> Iterator[dict[str, str]]:
    yield {
        "dash": users.add("dash", shell="/bin/dash"),
        "ash": users.add("ash", shell=busybox_shell),
        "noise": users.add("noise", bashrc=NOISE, profile=NOISE),
        "fails": users.add("fails", bashrc=FAILS, profile=FAILS),
        "leaves": users.add("leaves", bashrc="echo goodbye\nexit 7\n"),
        "endless": users.add("endless", bashrc="while :; do echo again and again and again; done\n"),
        "waits": users.add("waits", bashrc="sleep 600\n"),
    }


@pytest.mark.parametrize("kind", ["dash", "ash", "noise", "fails"])
async def test_a_login_shell_is_no_obstacle(bed: SshBed, accounts: dict[str, str], kind: str) -> None:
    await _shows_everything(bed, accounts[kind])


@pytest.mark.parametrize(
    ("kind", "words"), [("leaves", "exit code 7"), ("endless", "prints without end"), ("waits", "did not start")]
)
async def test_a_login_shell_that_never_runs_our_command_is_said(
    bed: SshBed, accounts: dict[str, str], kind: str, words: str
) -> None:
    server = bed.server(user=accounts[kind])
    async with panel(bed.client.node(server)) as watched:
        await watched.until(lambda: words in (watched.node().link.why or ""), 30)
        assert watched.node().link.phase == "waiting"


async def test_a_banner_with_escape_sequences(bed: SshBed, user: str) -> None:
    banner = bed.client.folder / "banner"
    banner.write_bytes(b"Authorised use only\n\x1b]0;owned\x07\x1b[31m" + "機房 ".encode() * 400 + b"\xff\n")
    await _shows_everything(bed, user, f"Banner {banner}")


async def test_busybox_is_all_there_is(bed: SshBed, accounts: dict[str, str], bed_folder: Path) -> None:
    """The collector and its commands from busybox alone, as on a NAS: login shell, sh, head, timeout, stat."""
    applets = _folder_of_links(bed_folder / "applets", ["busybox"])
    busybox = shutil.which("busybox")
    assert busybox is not None
    for name in ("cat", "head", "id", "ls", "printf", "sleep", "sort", "stat", "timeout", "tr", "true"):
        (applets / name).symlink_to(busybox)
    await _shows_everything(bed, accounts["ash"], f"SetEnv PATH={applets}")


async def test_a_node_without_python3(bed: SshBed, user: str, bed_folder: Path) -> None:
    everything = [entry.name for entry in Path("/usr/bin").iterdir() if "python" not in entry.name]
    without = _folder_of_links(bed_folder / "without-python", everything)
    assert shutil.which("python3", path=str(without)) is None and shutil.which("stat", path=str(without)) is not None
    await _shows_everything(bed, user, f"SetEnv PATH={without}")


def _folder_of_links(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        target = shutil.which(name, path="/usr/bin:/bin")
        if target is not None and os.access(target, os.X_OK):
            (folder / name).symlink_to(target)
    return folder
