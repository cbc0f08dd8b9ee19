"""Imports point one way, everything imports, and the headless verbs load no Textual."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import pytest

import dsv41_tui
from tests.project.house import ROOT, run

MODULES = sorted(found.name for found in pkgutil.walk_packages(dsv41_tui.__path__, "dsv41_tui."))
HEADLESS = [name for name in MODULES if not name.startswith("dsv41_tui.ui") and not name.endswith("__main__")]


def test_imports_point_one_way() -> None:
    done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_every_module_imports(name: str) -> None:
    importlib.import_module(name)


def test_headless_modules_load_no_textual() -> None:
    assert "dsv41_tui.runtime.cluster" in HEADLESS and "dsv41_tui.cli.status" in HEADLESS
    program = (
        f"import sys; [__import__(name) for name in {HEADLESS!r}]; "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('textual', 'rich')))"
    )
    done = run(sys.executable, "-c", program)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["status", "--help"], ["--version"]])
def test_help_costs_nothing(arguments: list[str]) -> None:
    """Neither the screen nor the network libraries are there before they are needed."""
    program = (
        "import sys; from dsv41_tui.__main__ import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "print('loaded:', sorted({'textual', 'asyncssh', 'httpx', 'psutil'} & set(sys.modules)))"
    )
    done = run(sys.executable, "-c", program, cwd=ROOT)
    assert done.stdout.strip().endswith("loaded: []"), done.stdout + done.stderr
