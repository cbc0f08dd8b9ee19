"""What a channel does with the bytes of a node: lines, frames, limits, and its end."""

from __future__ import annotations

import asyncio

import pytest

from dsv41_tui.core.errors import Refused, Unreachable
from dsv41_tui.transport.channel import BREATH_LINES, FRAME_LIMIT, LINE_LIMIT, Channel, Process
from dsv41_tui.transport.local import LocalNode

NONCE = "abc"


class Scripted:
    """A process that says `chunks` and then ends with `code`, or stays open when `hangs`."""

    def __init__(self, *chunks: bytes, code: int | None = 0, hangs: bool = False) -> None:
        self._chunks = list(chunks)
        self._code = code
        self._hangs = hangs
        self.killed = False

    async def read(self, size: int) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""

    def write(self, data: bytes) -> None:
        pass

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass

    def kill(self) -> None:
        self.killed = True

    async def wait(self) -> int | None:
        if self._hangs:
            await asyncio.Event().wait()
        return self._code


class ScriptedNode(LocalNode):
    def __init__(self, process: Process) -> None:
        super().__init__()
        self._process = process

    async def open(self, command: str) -> Process:
        return self._process


def _channel(*chunks: bytes) -> Channel:
    return Channel(Scripted(*chunks), NONCE)


async def _hello(*chunks: bytes, code: int | None = 0) -> Channel:
    return await Channel.start(ScriptedNode(Scripted(*chunks, code=code)), "sh", "collector", NONCE)


FRAME = b"begin\none\n\ntwo\n@abc end 1\nnext\n"


@pytest.mark.parametrize("cut", range(1, len(FRAME)))
async def test_a_frame_and_its_mark_split_anywhere(cut: int) -> None:
    channel = _channel(FRAME[:cut], FRAME[cut:])
    assert await channel.line() == "begin"
    assert await channel.until("end 1") == "one\n\ntwo"
    assert await channel.line() == "next"
    assert await channel.line() is None


async def test_a_frame_byte_by_byte() -> None:
    channel = _channel(*(FRAME[at : at + 1] for at in range(len(FRAME))))
    assert await channel.until("end 1") == "begin\none\n\ntwo"
    assert await channel.line() == "next"


async def test_a_mark_inside_a_line_ends_no_frame() -> None:
    assert await _channel(b"a @abc end 1\n@abc end 12\n@abc end 1\n").until("end 1") == "a @abc end 1\n@abc end 12"


async def test_a_frame_that_never_ends_is_none() -> None:
    assert await _channel(b"one\ntwo\n@abc end 1").until("end 1") is None


async def test_a_frame_may_be_longer_than_a_line() -> None:
    line = b"x" * 1023 + b"\n"
    chunks = [line * 64] * (4 * LINE_LIMIT // (64 * 1024))
    text = await _channel(*chunks, b"@abc end 1\n").until("end 1")
    assert text is not None and len(text) == 4 * LINE_LIMIT - 1


@pytest.mark.parametrize("piece", [b"x" * 65536, b"\n" * 65536])
async def test_text_without_end_is_refused(piece: bytes) -> None:
    with pytest.raises(Refused, match="without end"):
        await _channel(*[piece] * (FRAME_LIMIT // len(piece) + 1)).until("end 1")


async def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(Refused, match="without end"):
        await _channel(*[b"x" * 65536] * (LINE_LIMIT // 65536 + 2)).line()


async def test_many_lines_at_once_leave_the_others_their_turn() -> None:
    channel = _channel(b"line\n" * (BREATH_LINES * 10))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    while await channel.line() is not None:
        pass
    task.cancel()
    assert turns >= 10


async def test_only_ascii_numbers_are_process_ids() -> None:
    channel = await _hello("@abc hello ² ١٢ 1 -5 99999999999999999999 77 123456789\n".encode())
    assert channel.pids == (77, 123456789)


async def test_a_channel_that_closes_without_a_code_is_a_lost_connection() -> None:
    with pytest.raises(Unreachable, match="connection was lost"):
        await _hello(b"noise\n", code=None)


async def test_a_shell_that_prints_empty_lines_without_end_is_said() -> None:
    with pytest.raises(Refused, match="prints without end"):
        await _hello(b"\n" * 65536, b"\n" * 65536)


async def test_a_close_that_is_cancelled_kills() -> None:
    process = Scripted(hangs=True)
    closing = asyncio.create_task(Channel(process, NONCE).close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert process.killed


async def test_this_machine_forgets_processes_that_ended() -> None:
    node = LocalNode()
    for _ in range(5):
        await (await node.open("true")).wait()
    standing = await node.open("cat")
    assert len(node._processes) == 1
    await node.close()
    assert await standing.wait() == 0
