"""A node of the sandbox: real SSH, a real shell, and stand-ins that behave and end like the real thing."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
import stat
from pathlib import Path

import asyncssh
import psutil
import pytest

from dsv41_tui.parsers.gpu import parse_gpu
from dsv41_tui.parsers.logind import parse_logind
from dsv41_tui.parsers.mountstats import parse_mountstats
from dsv41_tui.parsers.shm import parse_shm
from dsv41_tui.parsers.uptime import parse_uptime
from dsv41_tui.runtime.configuration import load_config
from dsv41_tui.runtime.sources import GPU_COMMAND, JOB_SOURCES, job_command, probe_command
from dsv41_tui.sandbox.launch import SandboxHandle
from tests.sandbox.conftest import Start, belonging_to, login, outage, said, until

pytestmark = pytest.mark.sandbox


async def test_the_configuration_is_a_real_one(start: Start) -> None:
    sandbox = await start("healthy")
    config = load_config(sandbox.config)
    assert [(node.name, node.role, node.rank) for node in config.node] == [
        ("spark1", "head", 0),
        ("spark2", "worker", 1),
        ("nas", "nas", None),
    ]
    assert {node.host for node in config.node} == {"127.0.0.1"} and config.nas is None
    assert all(Path(node.root, "proc/meminfo").is_file() for node in config.node)
    assert stat.S_IMODE(sandbox.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((sandbox.folder / "id_ed25519").stat().st_mode) == 0o600


async def test_without_a_nas_node_the_nas_is_known_by_name(start: Start) -> None:
    config = load_config((await start("healthy", nodes=1, nas=False)).config)
    assert [node.name for node in config.node] == ["spark1"]
    assert config.nas is not None and config.nas.server == "192.168.50.20"


async def test_only_loopback_is_listened_on(start: Start) -> None:
    sandbox = await start("healthy", nodes=3)
    process = psutil.Process(sandbox.pid)
    open_ports = [item.laddr for item in process.net_connections("all") if item.status == psutil.CONN_LISTEN]
    assert {place.ip for place in open_ports} == {"127.0.0.1"}
    assert sorted(place.port for place in open_ports) == sorted(node["port"] for node in sandbox.nodes)


async def test_nobody_else_gets_in(start: Start) -> None:
    sandbox = await start("healthy", nodes=1, nas=False)
    other = asyncssh.generate_private_key("ssh-ed25519")
    for changes in ({"client_keys": [other]}, {"username": "root"}, {"client_keys": None, "password": ""}):
        with pytest.raises(asyncssh.PermissionDenied):
            async with login(sandbox, "spark1", **changes):
                pass
    (sandbox.folder / "known_hosts").write_text("")
    with pytest.raises(asyncssh.HostKeyNotVerifiable):
        async with login(sandbox, "spark1"):
            pass


async def test_no_forwarding_no_pty_no_sftp(shared: SandboxHandle) -> None:
    async with login(shared, "spark1") as node:
        with pytest.raises(asyncssh.ChannelOpenError):
            await node.open_connection("127.0.0.1", shared.nodes[0]["port"])
        with pytest.raises(asyncssh.ChannelOpenError):
            await node.create_process("true", term_type="xterm")
        with pytest.raises((asyncssh.SFTPError, asyncssh.ChannelOpenError)):
            await node.start_sftp_client()


async def test_commands_run_as_sshd_would_run_them(shared: SandboxHandle) -> None:
    async with login(shared, "spark1") as node:
        done = await node.run("echo out; echo err >&2; exit 7")
        assert (done.stdout, done.stderr, done.exit_status) == ("out\n", "err\n", 7)
        assert (await node.run("kill -KILL $$")).exit_signal is not None
        assert await said(node, "pwd") == f"{shared.nodes[0]['root']}/home/dsv\n"
        assert (await node.run(None, input="echo $((6 * 7))\nexit 3\n")).exit_status == 3


async def test_much_data_passes_both_ways_whole(shared: SandboxHandle) -> None:
    data = random.Random(7).randbytes(12 << 20)
    async with login(shared, "spark1") as node:
        back = await node.run("cat", input=data, encoding=None)
        assert hashlib.sha256(bytes(back.stdout or b"")).digest() == hashlib.sha256(data).digest()


async def test_a_reader_that_rests_holds_up_the_command_not_the_sandbox(shared: SandboxHandle) -> None:
    before = psutil.Process(shared.pid).memory_info().rss
    async with login(shared, "spark1") as node:
        endless = await node.create_process("yes", encoding=None)
        await asyncio.sleep(1.5)
        assert await said(node, "echo still here") == "still here\n"
        assert psutil.Process(shared.pid).memory_info().rss - before < 64 << 20
        endless.close()


async def test_time_passes_on_the_nodes(shared: SandboxHandle) -> None:
    async with login(shared, "spark1") as node:
        root = shared.nodes[0]["root"]
        first = parse_uptime(await said(node, f"cat {root}/proc/uptime"))
        await asyncio.sleep(1.1)
        assert 0.4 < parse_uptime(await said(node, f"cat {root}/proc/uptime")) - first < 30


async def test_the_panels_own_commands_are_answered(shared: SandboxHandle) -> None:
    root = shared.nodes[1]["root"]
    async with login(shared, "spark2") as node:
        answers = {source.name: source.parse(await said(node, job_command(source, root))) for source in JOB_SOURCES}
        assert [volume.name for volume in answers["volumes"]] == ["dsv41-exl3-weights"]  # type: ignore[attr-defined]
        shm = parse_shm(await said(node, f"stat -f -c '%S %b %f' {root}/dev/shm"))
        assert shm.size == 127_600_748 * 1024 // 2 // 4096 * 4096 and 0 < (shm.used or 0) < 2 << 30
        logind = parse_logind(await said(node, job_command(JOB_SOURCES[2], root)))
        assert (logind.remove_ipc, logind.kill_user_processes, logind.linger) == (True, False, False)
        assert await said(node, probe_command(root, "/mnt/models")) == "nfs\n"
        assert await said(node, "uname -r; uname -m") == "6.17.0-1014-nvidia\naarch64\n"


async def test_what_is_not_a_nodes_does_not_exist_there(shared: SandboxHandle) -> None:
    async with login(shared, "spark1") as node, login(shared, "nas") as nas:
        for connection, name in ((node, "systemctl"), (node, "sudo"), (node, "reboot"), (nas, "docker")):
            assert (await connection.run(f"command -v {name}")).exit_status != 0
        assert (await nas.run("nvidia-smi")).exit_status == 127
        refused = await node.run("docker rm -f dsv41-exl3-head")
        assert refused.exit_status == 1 and "not simulated" in str(refused.stderr)


async def test_nvidia_smi_prints_in_the_order_asked_for_and_leaves_nothing(shared: SandboxHandle) -> None:
    ticks = Path(shared.nodes[0]["root"], ".sandbox/ticks")
    async with login(shared, "spark1") as node:
        once = GPU_COMMAND.partition(" -l")[0]
        gpu = parse_gpu(await said(node, once))
        assert gpu.name == "NVIDIA GB10" and gpu.memory_used_bytes is None and 55 < (gpu.power_w or 0) < 70
        turned = await said(node, "nvidia-smi --query-gpu=memory.used,driver_version --format=csv,noheader,nounits")
        assert turned == "[N/A], 580.173.02\n"
        wrong = await node.run("nvidia-smi --query-gpu=nosuch --format=csv,noheader,nounits")
        assert (wrong.stdout, wrong.exit_status) == ("", 2)
        stream = await node.create_process(f"echo $$; exec {once} -l 1")
        pid = int(await stream.stdout.readline())
        for _ in range(2):
            assert parse_gpu(await stream.stdout.readline()).sm_clock_mhz
        assert psutil.Process(pid).children() == []
        os.kill(pid, signal.SIGKILL)
        await stream.wait()
        await until(lambda: not list(ticks.iterdir()))


async def test_below_a_lost_nas_stat_waits_until_it_is_killed(start: Start, tmp_path: Path) -> None:
    sandbox = await start(outage(tmp_path, stops=0.5))
    root = sandbox.nodes[1]["root"]
    place = f"{root}/mnt/models/DeepSeek-V4.1-Flash-EXL3"
    async with login(sandbox, "spark2") as node:
        await until(Path(root, ".sandbox/nas-gone").exists)
        commands = (
            f"stat -f -c %T {place}",
            f"stat --file-system {root}/mnt/models",
            f"stat -Lf --format=%T {place}/x",
        )
        hung = await asyncio.gather(*(node.run(f"timeout -k 1 1 {command}") for command in commands))
        assert [done.exit_status for done in hung] == [124, 124, 124]
        assert (await node.run(f"stat -f {root}")).exit_status == 0
        assert (await node.run(f"stat -c %s {place}/config.json")).exit_status == 0
        assert not [pid for pid in belonging_to(sandbox.folder) if psutil.Process(pid).name() == "stat"]


async def test_a_stat_that_waits_goes_on_when_the_nas_returns(start: Start, tmp_path: Path) -> None:
    sandbox = await start(outage(tmp_path, stops=0.5, returns=4))
    root = sandbox.nodes[1]["root"]
    async with login(sandbox, "spark2") as node:
        gone = Path(root, ".sandbox/nas-gone")
        await until(gone.exists)
        waiting = await node.create_process(f"stat -f -c %T {root}/mnt/models")
        await asyncio.sleep(0.5)
        waited = gone.exists() and waiting.exit_status is None
        assert await waiting.stdout.read() == "nfs\n"
        assert waited and not gone.exists()


async def test_a_scenario_can_begin_where_it_is_told(start: Start) -> None:
    sandbox = await start("nas-down", told=True)
    control = Path(sandbox.nodes[1]["root"], ".sandbox")
    assert (control / "nas-gone").is_fifo()
    stats = parse_mountstats(Path(sandbox.nodes[1]["root"], "proc/self/mountstats").read_text())[0]
    assert stats.sends > stats.receives
