"""A member's folder on disk: made once, then its moving files are replaced one by one, each in one step."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from dsv41_tui.sandbox.files import CONTROL
from dsv41_tui.sandbox.infiniband import ROOT as FABRIC
from dsv41_tui.sandbox.plan import HOME, Member

STAND_INS = Path(__file__).resolve().parent / "bin"
_SHARD_BYTES = 8 << 20
_CHECKPOINT = "DeepSeek-V4.1-Flash-EXL3"
_SHARDS = ("model-00047-of-00048.safetensors", "model-00048-of-00048.safetensors")
# Programs of the real machine that the nodes see. Whatever is not here does not exist on a node, so that no command
# sent to the sandbox can reach the operator's docker, services or power switch.
_TOOLS = """
[ awk basename bash cat chmod cksum cmp comm cp cut date dd df diff dirname du echo env expr false fincore find
flock getconf grep gzip head hostname id ionice join kill ln ls md5sum mkdir mkfifo mktemp mv nice nl nohup
nproc od paste printf ps pwd readlink realpath rm rmdir rsync sed seq setsid sh sha256sum  sleep
sort split stat stdbuf sum sync tac tail tar tee test timeout touch tr true truncate tsort tty uniq unlink wc
which whoami xargs yes
"""


def make_shared(folder: Path) -> None:
    """`tools`, links to the real programs, and `stand-ins`, ours, for the nodes to link to."""
    tools, stand_ins = folder / "tools", folder / "stand-ins"
    tools.mkdir()
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
    for name in _TOOLS.split():
        found = shutil.which(name, path=search)
        if found is not None:
            (tools / name).symlink_to(Path(found).absolute())
    # The interpreter itself: `python3` on a developer's PATH can be a script that needs the rest of it.
    (tools / "python3").symlink_to(Path(sys.executable).resolve())
    stand_ins.mkdir()
    for file in STAND_INS.iterdir():
        if file.is_file():
            # A wheel does not keep the mode of a file.
            shutil.copyfile(file, stand_ins / file.name)
            (stand_ins / file.name).chmod(0o755)


def make_member(root: Path, quick: Path, stand_ins: Path, member: Member, files: Mapping[str, str]) -> None:
    """Make the tree of one member below `root`, which is not there yet; what moves lies below `quick`."""
    root.mkdir(parents=True)
    for place in ("proc", CONTROL, *(() if member.role == "nas" else (FABRIC,))):
        (quick / place).mkdir(parents=True)
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).symlink_to(quick / place)
    for place in ("bin", "dev/shm", "tmp", "var/log", f"{CONTROL}/ticks", f"{CONTROL}/logs", HOME.lstrip("/")):
        (root / place).mkdir(parents=True)
    for place, text in files.items():
        file = root / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if member.role == "nas":
        _make_shards(root / "share/models" / _CHECKPOINT)
        return
    for stand_in in stand_ins.iterdir():
        (root / "bin" / stand_in.name).symlink_to(stand_in)
    for place in member.mounts:
        _make_shards(root / place.lstrip("/") / _CHECKPOINT)
    _make_recipe(root / HOME.lstrip("/"))


def _make_shards(folder: Path) -> None:
    """A checkpoint in small: sparse files with the names of the Engram shards."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "deepseek_v41"}\n')
    for name in _SHARDS:
        with (folder / name).open("wb") as file:
            file.truncate(_SHARD_BYTES)


def _make_recipe(home: Path) -> None:
    """The recipe's folders: `engram-src` holds the shards, `model` links to them."""
    source, model = home / "engram-src", home / "model"
    _make_shards(source)
    model.mkdir()
    for name in _SHARDS:
        (model / name).hardlink_to(source / name)


def replace(root: str, files: Mapping[str, str], gone: Iterable[str] = ()) -> None:
    """Put new texts in place and take away what is `gone`; a reader sees the old text or the new one, whole."""
    for place, text in files.items():
        path = f"{root}/{place}"
        waiting = f"{path}.new"
        try:
            descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            Path(path).parent.mkdir(parents=True)
            descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
        Path(waiting).rename(path)
    for place in gone:
        Path(root, place).unlink(missing_ok=True)
