"""Accounts for the whole lane, servers for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.sshd import SshBed, ssh_bed
from tests.bed.users import Users

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def users(bed_folder: Path) -> Iterator[Users]:
    made = Users(bed_folder)
    try:
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def user(users: Users) -> str:
    """An ordinary account with bash."""
    return users.add("plain")


@pytest.fixture
def bed(bed_folder: Path, user: str) -> Iterator[SshBed]:
    with ssh_bed(bed_folder / f"ssh{next(_numbers)}", user) as made:
        yield made
