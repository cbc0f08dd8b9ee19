"""Leases are renewed while the panel runs, also where sshd allows just as many sessions as are in use."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from dsv41_tui.runtime import sampler, session
from tests.bed.panel import panel
from tests.bed.sshd import SshBed, descendants

pytestmark = pytest.mark.openssh


def scripts(pids: list[int]) -> set[int]:
    """Those of `pids` that are shells with one of our scripts."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"/bin/sh\0-c\0eval"):
                found.add(pid)
    return found


@pytest.mark.parametrize("sessions", [2, 10])
async def test_a_renewal_costs_no_login_and_no_reading(
    bed: SshBed, monkeypatch: pytest.MonkeyPatch, sessions: int
) -> None:
    monkeypatch.setattr(sampler, "LEASE_S", 5)
    monkeypatch.setattr(session, "RUNNER_LEASE_S", 3.0)
    server = bed.server(f"MaxSessions {sessions}")
    async with panel(bed.client.node(server)) as seen:
        await seen.until_up()
        started = seen.cluster.store.now()
        shells = set()
        while seen.cluster.store.now() - started < 12:
            at = seen.node().memory.at
            await seen.until(lambda at=at: seen.node().memory.at != at, limit_s=6)  # type: ignore[misc]
            assert seen.node().reachable, seen.describe()
            shells |= scripts(descendants(server.pid))
        assert not [what for what in seen.node().link.unwatched if what.startswith(session.PROBES_AND_JOBS)]
    assert server.logins() == 1
    assert len(shells) >= 5, "collector and runner were each begun anew"
