"""What must not end or mislead a panel: faults of ours, a held key, a flood, a machine that slept."""

from __future__ import annotations

import asyncio
import time

import pytest

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.errors import LinkError, Refused
from dsv41_tui.core.events import Event, LinkChanged
from dsv41_tui.core.model import ClusterState, Link, NodeState
from dsv41_tui.runtime import session
from dsv41_tui.runtime.runner import Runner
from dsv41_tui.runtime.session import NodeSession
from dsv41_tui.runtime.store import Store
from dsv41_tui.transport.channel import Node, Process
from dsv41_tui.transport.local import LocalNode


class Attempts:
    """An opener that always fails, and what the session said of it."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.times: list[float] = []
        self.events: list[Event] = []
        node = NodeConfig(name="spark1", host="h")
        self.session = NodeSession(node, lambda: NodeState(name="spark1"), self.events.append, self.open)

    async def open(self, _config: NodeConfig) -> Node:
        self.times.append(time.monotonic())
        raise self.error


async def test_a_fault_of_ours_is_said_and_the_session_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    made = Attempts(UnicodeError("label empty"))
    task = asyncio.create_task(made.session.run())
    await asyncio.sleep(0.05)
    assert not task.done()
    said = made.events[-1]
    assert isinstance(said, LinkChanged)
    assert (said.phase, said.kind) == ("waiting", "refused")
    assert "label empty" in (said.why or "")
    assert "label empty" in caplog.text
    task.cancel()


async def test_a_held_refresh_key_makes_no_login_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "REFUSED_LEAST_S", 0.4)
    made = Attempts(Refused("no key of ours"))
    task = asyncio.create_task(made.session.run())
    for _ in range(100):
        made.session.refresh()
        await asyncio.sleep(0.01)
    task.cancel()
    assert 2 <= len(made.times) <= 4, "asked for a hundred times in a second"
    assert all(later - earlier >= 0.4 for earlier, later in zip(made.times, made.times[1:], strict=False))


@pytest.mark.parametrize("line", ["noise of no job", ""])
async def test_a_flood_on_the_second_channel_ends_it_with_one_line(line: str) -> None:
    class Flooding(LocalNode):
        async def open(self, command: str) -> Process:
            return await super().open(f"N=; while read -r l; do case $l in N=*) eval $l;; @go) break;; esac; done; "
                                      f'echo "@$N hello 2 2"; yes "{line}"')  # fmt: skip

    node = Flooding()
    runner = await Runner.start(node)
    with pytest.raises(LinkError) as ended:
        async with asyncio.timeout(20):
            await runner.wait_ended()
    assert isinstance(ended.value, Refused)
    assert "\n" not in ended.value.message
    await runner.close()
    await node.close()


def test_nothing_is_judged_in_the_first_moment_after_a_sleep() -> None:
    now = [100.0]
    down = Link(phase="waiting", kind="unreachable", why="cut", down_since=90.0)
    store = Store(ClusterState(nodes=(NodeState(name="spark1", link=down),)), clock=lambda: now[0])
    store.judge()
    assert store.findings
    store.findings = ()
    now[0] += 3600
    store.judge()
    assert store.findings == (), "an hour passed without a judgement: this machine slept"
    store.judge(at_once=True)
    assert store.findings, "but a headless look is not kept waiting"
    store.findings = ()
    now[0] += 2
    store.judge()
    assert store.findings
