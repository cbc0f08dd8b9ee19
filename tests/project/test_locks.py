"""The locks: names, versions and hashes, nothing of the machine that wrote them, and what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.house import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?: ; [^\\]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def _read(lock: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes by name; any line that is neither a pin nor a hash fails."""
    found: dict[str, tuple[str, list[str]]] = {}
    name = ""
    for line in (ROOT / lock).read_text().splitlines():
        if pin := PIN.match(line):
            name = pin["name"]
            assert name not in found
            found[name] = (pin["version"], [])
        else:
            assert HASH.match(line), f"{lock}: {line}"
            found[name][1].append(line)
    return found


def _wanted(*groups: str) -> list[Requirement]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lines = list(project["project"]["dependencies"])
    for group in groups:
        lines += [item for item in project["dependency-groups"][group] if isinstance(item, str)]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_is_a_version_with_hashes(lock: str) -> None:
    pins = _read(lock)
    assert len(pins) > 10
    assert all(hashes for _, hashes in pins.values())


@pytest.mark.parametrize(("lock", "groups"), [(LOCKS[0], ("build",)), (LOCKS[1], ("build", "dev"))])
def test_versions_are_what_the_project_asks_for(lock: str, groups: tuple[str, ...]) -> None:
    pins = _read(lock)
    for wanted in _wanted(*groups):
        version, _ = pins[canonicalize_name(wanted.name)]
        assert wanted.specifier.contains(version), f"{wanted} and {version} in {lock}: run make lock"


def test_the_development_lock_holds_the_runtime_lock() -> None:
    development = _read(LOCKS[1])
    assert {name: development.get(name) for name in _read(LOCKS[0])} == _read(LOCKS[0])
