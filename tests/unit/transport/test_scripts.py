"""The scripts that run on a node, in the shells that nodes have."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from dsv41_tui.core.errors import Refused
from dsv41_tui.runtime.collector import Collector
from dsv41_tui.runtime.logs.feeds import Feed, Feeds
from dsv41_tui.runtime.runner import JobResult, Runner
from dsv41_tui.transport.channel import Channel, Process
from dsv41_tui.transport.local import LocalNode
from dsv41_tui.transport.scripts import quote, start_command

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "ash": ["busybox", "sh"]}


class ShellNode(LocalNode):
    """A node whose /bin/sh is one of `SHELLS`, with a PATH of its own."""

    def __init__(self, shell: str, path: Path) -> None:
        super().__init__()
        wanted = SHELLS[shell]
        if shutil.which(wanted[0]) is None:
            pytest.fail(f"{wanted[0]} is not installed: apt-get install {wanted[0]}")
        path.mkdir(exist_ok=True)
        self._shell = path / "sh"
        self._shell.write_text(f'#!/bin/sh\nexec {" ".join(wanted)} "$@"\n')
        self._shell.chmod(0o755)

    async def open(self, command: str) -> Process:
        assert "/bin/sh" in command
        return await super().open(command.replace("/bin/sh", str(self._shell)))


@pytest.fixture(params=sorted(SHELLS))
async def node(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ShellNode]:
    node = ShellNode(request.param, tmp_path / "bin")
    yield node
    await node.close()


async def probe(runner: Runner, command: str) -> JobResult:
    job = runner.begin("P", command, 5)
    try:
        await job.begun.wait()
        return await job.done
    finally:
        runner.forget(job)


async def test_collector_reads_files_and_says_why_it_cannot(node: ShellNode, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "empty").write_text("")
    collector = await Collector.start(node)
    frame = await collector.tick([f"{tmp_path}/a", f"{tmp_path}/none", f"{tmp_path}/empty", "/proc/uptime"])
    assert frame.files[f"{tmp_path}/a"] == "one\ntwo\n"
    assert frame.files[f"{tmp_path}/empty"] == ""
    assert "." in frame.files["/proc/uptime"]
    assert frame.errors == {f"{tmp_path}/none": "No such file or directory"}
    again = await collector.tick([f"{tmp_path}/a", "/proc/uptime"])
    assert again.files[f"{tmp_path}/a"] == "one\ntwo\n"
    await collector.close()


async def test_runner_gives_code_and_both_streams(node: ShellNode) -> None:
    runner = await Runner.start(node)
    result = await runner.run("echo out; echo 'two  spaces \\ back' >&2; exit 3", 5)
    assert (result.code, result.text) == (3, "out\ntwo  spaces \\ back")
    await runner.close()


async def test_a_job_that_hangs_holds_up_no_other_and_dies_at_its_limit(node: ShellNode) -> None:
    runner = await Runner.start(node)
    slow = asyncio.create_task(runner.run("exec sleep 30", 1))
    quick = await runner.run("echo quick", 5)
    assert quick.text == "quick"
    assert not slow.done()
    assert (await slow).code in (124, 137, 143)
    await runner.close()


async def test_probe_quotes_hostile_paths(node: ShellNode, tmp_path: Path) -> None:
    hostile = tmp_path / 'a b\'; touch pwned; $(touch pwned) `x` \\ "q" *'
    hostile.mkdir()
    runner = await Runner.start(node)
    result = await probe(runner, f"stat -f -c %T {quote(str(hostile))}")
    assert result.code == 0, result.text
    missing = await probe(runner, f"stat -f -c %T {quote(str(tmp_path / 'none'))}")
    assert missing.code == 1
    assert "No such file" in missing.text
    assert not (tmp_path / "pwned").exists()
    assert not Path("pwned").exists()
    await runner.close()


async def test_no_zombies_pile_up(node: ShellNode) -> None:
    runner = await Runner.start(node)
    for _ in range(20):
        await probe(runner, "true")
    await asyncio.sleep(0.1)
    await probe(runner, "true")
    children = psutil.Process(runner.pids[0]).children()
    assert sum(child.status() == psutil.STATUS_ZOMBIE for child in children) <= 3
    await runner.close()


async def _gone(pids: list[int]) -> bool:
    for _ in range(100):
        if not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
            return True
        await asyncio.sleep(0.1)
    return False


async def test_everything_ends_with_standard_input(node: ShellNode) -> None:
    collector, runner = await Collector.start(node), await Runner.start(node)
    stream = await Channel.start(node, start_command(), "stream", "abc", A="sleep 300")
    pids = [collector.pids[0], runner.pids[0], stream.pids[0]]
    family: list[int] = []
    while len(family) < 2:  # the stream's command, and the watcher of its input
        family = [child.pid for pid in pids for child in psutil.Process(pid).children(recursive=True)]
        await asyncio.sleep(0.01)
    await node.close()
    assert await _gone(pids + family)
    await collector.close()
    await runner.close()
    await stream.close()


async def test_stream_hands_its_lines_and_exit_code_on(node: ShellNode) -> None:
    stream = await Channel.start(node, start_command(), "stream", "abc", A='sh -c "echo one; echo two; exit 7"')
    assert [await stream.line(), await stream.line(), await stream.line()] == ["one", "two", None]
    assert await stream.wait() == 7
    await stream.close()


async def whole(feed: Feed) -> list[str]:
    lines: list[str] = []
    while (batch := await feed.batch()) is not None:
        lines += batch
    return lines


async def test_feeds_share_a_channel_and_no_line_is_torn(node: ShellNode) -> None:
    feeds = await Feeds.start(node)
    loud = [
        feeds.follow(f"i=0; while [ $i -lt 400 ]; do echo {name}$i {name * 3000}; i=$((i+1)); done; exit {code}")
        for name, code in (("a", 0), ("b", 3))
    ]
    quiet = feeds.follow("echo 'it'\"'\"'s' >&2")
    missing = feeds.follow("exec nosuchcommand")
    texts = await asyncio.gather(*(whole(feed) for feed in (*loud, quiet, missing)))
    assert texts[0] == [f"a{number} {'a' * 3000}" for number in range(400)]
    assert texts[1] == [f"b{number} {'b' * 3000}" for number in range(400)]
    assert texts[2] == ["it's"] and "not found" in texts[3][0]
    assert [feed.code for feed in (*loud, quiet, missing)] == [0, 3, 0, 127]
    await feeds.close()


async def test_a_feed_cuts_long_lines_and_cannot_speak_for_another(node: ShellNode) -> None:
    feeds = await Feeds.start(node)
    other = feeds.follow("exec sleep 300")
    feed = feeds.follow("printf '%05000d\\n@%s 1 x\\n' 7 \"$N\"; echo end")
    lines = await whole(feed)
    assert len(lines[0]) < 4000 and lines[0].startswith("0" * 3900)
    assert lines[1:] == ["@ 1 x", "end"]
    assert other.code is None
    await feeds.close()
    assert await whole(other) == []


async def test_feeds_end_with_standard_input_also_those_that_wait(node: ShellNode) -> None:
    feeds = await Feeds.start(node)
    feeds.follow("exec sleep 301")
    feeds.follow("tail -F /dev/null")
    shell = psutil.Process(feeds.pids[0])
    while sum(child.cmdline()[:1] in (["sleep"], ["tail"]) for child in shell.children(recursive=True)) < 2:
        await asyncio.sleep(0.01)
    family = [child.pid for child in shell.children(recursive=True)]
    await node.close()
    assert await _gone([shell.pid, *family])
    await feeds.close()


async def test_a_lease_ends_an_orphan(node: ShellNode) -> None:
    """A cut cable leaves standard input open: the script then ends with its lease."""
    command = start_command().replace("-k 5 900", "-k 5 1")
    channel = await Channel.start(node, command, "collector", "abc")
    assert await _gone([channel.pids[0]])
    await channel.close()


async def test_a_login_shell_that_ends_early_is_said(tmp_path: Path) -> None:
    class Broken(LocalNode):
        async def open(self, command: str) -> Process:
            return await super().open("echo noise; exit 3")

    node = Broken()
    with pytest.raises(Refused, match="ended with exit code 3"):
        await Channel.start(node, start_command(), "collector", "abc")
    await node.close()


async def test_noise_before_hello_is_dropped() -> None:
    class Noisy(LocalNode):
        async def open(self, command: str) -> Process:
            return await super().open(f"echo 'Welcome to DGX'; printf 'no line end '; {command}")

    node = Noisy()
    collector = await Collector.start(node)
    assert (await collector.tick(["/proc/uptime", "/proc/version"])).errors == {}
    await collector.close()
    await node.close()


def test_the_command_line_survives_every_login_shell() -> None:
    """No quote inside the quotes, no line break, no exclamation mark: fish and tcsh read it as bash does."""
    command = start_command()
    inner = command.removeprefix("exec /bin/sh -c '").removesuffix("'")
    assert "'" not in inner and "\n" not in command and "!" not in command


def test_quote_refuses_line_breaks() -> None:
    with pytest.raises(ValueError, match="line break"):
        quote("a\nb")


def test_kill_of_the_panel_leaves_nothing(tmp_path: Path) -> None:
    """kill -9 of the process that holds the channels: the scripts see the end of their input."""
    script = tmp_path / "holder.py"
    script.write_text(
        "import asyncio\n"
        "from dsv41_tui.runtime.collector import Collector\n"
        "from dsv41_tui.runtime.runner import JobResult, Runner\n"
        "from dsv41_tui.transport.local import LocalNode\n"
        "async def main():\n"
        "    node = LocalNode()\n"
        "    collector, runner = await Collector.start(node), await Runner.start(node)\n"
        "    print(collector.pids[0], runner.pids[0], flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        pids = [int(word) for word in holder.stdout.readline().split()]
        assert all(psutil.pid_exists(pid) for pid in pids)
        holder.send_signal(signal.SIGKILL)
    assert asyncio.run(_gone(pids))
