"""What is tracked speaks of the project alone: no folder of a machine, no address of a package registry."""

from __future__ import annotations

import re

import pytest

from tests.project.house import ROOT, run

_CONTAINER = re.compile(r"/root/\.(?:cache|triton|tilelang)\b")
"""Engines run as root in their containers; the failure book speaks of their caches there."""
_HOSTS = ("pypi", "pythonhosted", "npmjs", "deb.debian", "security.debian")
FORBIDDEN = re.compile(
    "|".join(
        [
            r"(?<![\w.~$}/])/(?:root|work)/[\w.]",
            rf"(?:{'|'.join(re.escape(host) for host in _HOSTS)})\.org",
            r"\.pyenv",
        ]
    )
)


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = run("git", "-c", "safe.directory=*", "ls-files", "-z")
    assert listed.returncode == 0, listed.stderr
    found = []
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        # tests/data holds output of real machines, as it came
        if not name or name.startswith("tests/data/") or name == "tests/project/test_tracked.py" or not path.is_file():
            continue
        text = path.read_text("utf-8", "replace")
        if name.startswith(("dsv41_tui/data/failures/", "dsv41_tui/data/causes/")):
            text = _CONTAINER.sub("", text)
        found += [f"{name}: {match[0]!r}" for match in FORBIDDEN.finditer(text)]
    assert found == []


def test_no_environment_or_cache_is_tracked() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = run(
        "git", "-c", "safe.directory=*", "ls-files", ".venv", "dist", "build", "*.pyc", ".mypy_cache", ".ruff_cache"
    )
    assert listed.stdout == ""
