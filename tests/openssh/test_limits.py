"""Servers with little to give: few sessions a connection, few logins at once."""

from __future__ import annotations

import contextlib

import pytest

from dsv41_tui.runtime.logs.node import FEEDS
from tests.bed.panel import panel
from tests.bed.sshd import SshBed

pytestmark = pytest.mark.openssh


@pytest.mark.parametrize("sessions", [2, 3, 10])
async def test_what_no_session_is_left_for_is_said(bed: SshBed, sessions: int) -> None:
    server = bed.server(f"MaxSessions {sessions}")
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await watched.until(lambda: watched.node().shm.value is not None)
        await watched.until(lambda: watched.node().gpu.error is not None)
        node = watched.node()
        assert node.link.phase == "up" and node.link.channels <= sessions
        followed = not any(what.startswith(FEEDS) for what in node.link.unwatched)
        assert followed == (sessions > 2), node.link.unwatched
        assert server.logins() == 1


async def test_one_session_is_enough_for_memory(bed: SshBed) -> None:
    server = bed.server("MaxSessions 1")
    async with panel(bed.client.node(server, role="head")) as watched:
        await watched.until_up()
        await watched.until(lambda: watched.node().link.unwatched)
        found = watched.finding("link-unwatched", "node")
        assert found is not None and "MaxSessions" in " ".join(str(item) for item in found.evidence) + found.title
        at = watched.node().memory.at
        await watched.until(lambda: watched.node().memory.at != at)
        assert watched.node().shm.value is None
        assert server.logins() == 1


async def test_twenty_panels_at_once_all_get_in(bed: SshBed) -> None:
    """sshd drops every login beyond MaxStartups; each panel waits a different while and tries again."""
    server = bed.server("MaxStartups 5:100:5")
    async with contextlib.AsyncExitStack() as stack:
        panels = [await stack.enter_async_context(panel(bed.client.node(server))) for _ in range(20)]
        for watched in panels:
            await watched.until_up(limit_s=60)
        assert len(server.connections()) == 20
    assert "past MaxStartups" in server.log.read_text()
    assert server.logins() == 20
