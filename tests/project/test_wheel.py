"""The wheel is the whole product: it is unpacked into an empty environment and run from there."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.project.house import ROOT, run

CALL = (
    "import sys; from importlib.metadata import entry_points; "
    "sys.argv = ['dsv41-tui', *sys.argv[1:]]; "
    "sys.exit(entry_points(group='console_scripts')['dsv41-tui'].load()())"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what goes into it, so that the checkout stays as it is."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("dsv41_tui", "themes"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=copy)
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it, and the libraries of this one beside it."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = place / "lib" / version / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # a path in a .pth file brings the libraries, and not the .pth files beside them: this checkout stays out
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin" / "python"


def test_the_wheel_holds_all_that_the_package_folder_holds(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = [path for path in (ROOT / "dsv41_tui").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    expected = {str(path.relative_to(ROOT)) for path in package}
    expected |= {f"dsv41_tui/themes/{path.name}" for path in (ROOT / "themes").iterdir()}
    assert expected <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not any(name.startswith("tests") for name in names)


def test_the_wheel_runs_from_an_empty_environment(python: Path, tmp_path: Path) -> None:
    where = run(str(python), "-c", "import dsv41_tui; print(dsv41_tui.__file__)", cwd=tmp_path)
    assert where.stdout.strip().startswith(str(python.parents[1])), where.stderr
    helped = run(str(python), "-c", CALL, "--help", cwd=tmp_path)
    assert helped.returncode == 0 and "status" in helped.stdout, helped.stderr


@pytest.mark.sandbox
def test_the_wheel_brings_its_sandbox(python: Path, tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = run(str(python), "-c", CALL, "--demo", "status", "--json", cwd=tmp_path, **home)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1 and len(document["nodes"]) >= 2
    assert all(node["reachable"] for node in document["nodes"])
