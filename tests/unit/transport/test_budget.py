"""The count of a connection's channels, and when a refusal is believed."""

from __future__ import annotations

import pytest

from dsv41_tui.runtime import budget
from dsv41_tui.runtime.budget import RETRIES, START, Budget
from dsv41_tui.transport.channel import Channel, ChannelsExhausted, Process
from dsv41_tui.transport.local import LocalNode


class Scarce(LocalNode):
    """Refuses the next `refusals` channels, as sshd does at MaxSessions."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals = 0
        self.asked = 0

    async def open(self, command: str) -> Process:
        self.asked += 1
        if self.refusals:
            self.refusals -= 1
            raise ChannelsExhausted("no more")
        return await super().open(command)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "RETRY_S", 0.01)


async def test_a_refusal_is_believed_at_once_when_nothing_was_closed() -> None:
    node = Scarce()
    channels = Budget(node)
    node.refusals = 1
    with pytest.raises(ChannelsExhausted):
        await channels.open("true")
    assert (node.asked, channels.limit, channels.open_channels) == (1, START // 2, 0)


async def test_the_place_of_a_channel_that_was_closed_just_now_is_waited_for() -> None:
    node = Scarce()
    channels = Budget(node)
    await Channel(await channels.open("cat"), "abc").close()
    node.refusals = RETRIES
    again = await channels.open("cat")
    assert (channels.limit, channels.open_channels) == (START, 1)
    again.kill()
    assert channels.open_channels == 0
    await node.close()


async def test_a_refusal_that_stays_is_believed_in_the_end() -> None:
    node = Scarce()
    channels = Budget(node)
    await Channel(await channels.open("cat"), "abc").close()
    node.refusals = RETRIES + 1
    with pytest.raises(ChannelsExhausted):
        await channels.open("cat")
    assert (node.asked, channels.limit, channels.open_channels) == (RETRIES + 2, START // 2, 0)
    await node.close()


async def test_a_close_long_ago_excuses_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Scarce()
    channels = Budget(node)
    await Channel(await channels.open("cat"), "abc").close()
    monkeypatch.setattr(budget, "CLOSING_S", 0.0)
    node.refusals = 1
    with pytest.raises(ChannelsExhausted):
        await channels.open("cat")
    assert channels.limit == START // 2
    await node.close()
