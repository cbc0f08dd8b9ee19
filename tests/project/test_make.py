"""The scripts behind make: the refusal on a GB10, the environment, and the rule that CI skips nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bed.lanes import LANES, Lane
from tests.project.house import ROOT, run

GB10 = {
    "dmi": ("sys/class/dmi/id/product_name", "NVIDIA_DGX_Spark\n"),
    "sibling": ("sys/class/dmi/id/product_name", "ASUS Ascent GX10\n"),
    "device tree": ("proc/device-tree/model", "NVIDIA GB10 Developer Board\0"),
}


@pytest.mark.parametrize("kind", GB10)
@pytest.mark.parametrize("target", ["test", "bench"])
def test_make_refuses_on_a_gb10_in_one_line(tmp_path: Path, kind: str, target: str) -> None:
    path, text = GB10[kind]
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    done = run("make", target, f"VENV={tmp_path}/venv", DSV41_HOST_ROOT=str(tmp_path))
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith(("make:", "make["))]
    assert len(said) == 1 and said[0].startswith(f"make {target} does not run on a GB10 (")
    assert not (tmp_path / "venv").exists()


def test_nvidia_smi_tells_a_gb10_too(tmp_path: Path) -> None:
    fake = tmp_path / "nvidia-smi"
    fake.write_text('#!/bin/sh\necho "GPU 0: NVIDIA GB10 (UUID: GPU-0)"\n')
    fake.chmod(0o755)
    done = run("sh", ".ci/not-on-gb10.sh", "make test", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.returncode == 1 and "NVIDIA GB10" in done.stderr


def test_another_machine_is_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "sys/class/dmi/id/product_name"
    path.parent.mkdir(parents=True)
    path.write_text("ThinkPad X1\n")
    done = run("sh", ".ci/not-on-gb10.sh", "make test", DSV41_HOST_ROOT=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


def test_an_environment_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("precious")
    done = run("make", "venv", f"VENV={tmp_path}/mine")
    assert done.returncode != 0 and "left alone" in done.stderr
    assert (tmp_path / "mine/file").read_text() == "precious"
    run("make", "clean-venv", f"VENV={tmp_path}/mine")
    assert (tmp_path / "mine/file").read_text() == "precious"


def test_an_old_python_is_refused_in_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run("make", "venv", f"VENV={tmp_path}/venv", f"PYTHON={old}")
    assert done.returncode != 0 and not (tmp_path / "venv").exists()
    assert "Python 3.11 or later is needed" in done.stderr.splitlines()[0]


SKIPS = "import pytest\n\n\ndef test_skips():\n    pytest.skip('no root')\n\n\ndef test_passes():\n    pass\n"


@pytest.mark.parametrize(("ci", "code", "words"), [("", 0, "1 passed, 1 skipped"), ("true", 1, "1 failed, 1 passed")])
def test_a_skip_is_a_failure_in_ci_alone(tmp_path: Path, ci: str, code: int, words: str) -> None:
    (tmp_path / "test_skips.py").write_text(SKIPS)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    done = run(*argv, "-p", "no:cacheprovider", str(tmp_path), CI=ci, PYTHONPATH=str(ROOT))
    assert done.returncode == code and words in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.marker)
def test_ci_installs_what_each_lane_needs(lane: Lane) -> None:
    installed = (ROOT / ".ci/run").read_text().split()
    assert set(lane.packages) <= set(installed)
