"""What docker and podman tell of containers, as the node's one command hands it over."""

from __future__ import annotations

import pytest
from parser_samples import cuts, flips, sample, survives

from dsv41_tui.core.containers import UNLIMITED, ContainerEngine
from dsv41_tui.core.errors import ParseError
from dsv41_tui.parsers.docker_containers import parse_docker_containers

HEAD = "V Docker version 28.2.2, build e6534b4\n"


def parsed(name: str) -> ContainerEngine:
    return parse_docker_containers(sample(f"docker/{name}"))


def test_docker_of_2020() -> None:
    engine = parsed("containers-20.10.txt")
    assert (engine.engine, engine.version) == ("docker", "28.2.2")
    (one,) = engine.containers
    assert (one.name, one.image, one.state, one.pid) == ("t1", "bed:1", "running", 29650)
    assert one.id.startswith("1809061b91f1") and one.image_digest is not None
    assert one.started_at == pytest.approx(1796073043.353709, abs=1e-3) and one.finished_at is None
    assert (one.memlock_bytes, one.shm_bytes, one.memory_limit_bytes) == (65536, 67108864, 0)
    assert (one.network, one.devices, one.privileged, one.log_driver) == ("none", (), False, "json-file")
    assert one.env == {"NCCL_DEBUG": "INFO", "NCCL_X": "a b", "VLLM_Q": 'a","b'}
    assert one.command is not None and one.command.startswith("sh -c 'echo hi")
    assert (one.oom_killed, one.exit_code, one.error, one.health) == (False, 0, None, None)


def test_podman_names_its_limits_otherwise() -> None:
    engine = parsed("containers-podman-4.3.txt")
    assert (engine.engine, engine.version) == ("podman", "4.3.1")
    (one,) = engine.containers
    assert one.memlock_bytes == UNLIMITED and one.started_at == pytest.approx(1796055488.5)
    assert one.finished_at is None and one.devices == ("/dev/infiniband",)


def test_states_of_ended_containers() -> None:
    one, two = parsed("containers-ended.txt").containers
    assert (one.state, one.exit_code, one.oom_killed, one.pid) == ("exited", 137, True, None)
    assert two.state == "created" and two.error is not None and "error setting rlimit" in two.error
    assert (two.started_at, two.health, one.health) == (None, None, "unhealthy")


def test_no_container_at_all() -> None:
    assert parse_docker_containers(HEAD).containers == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}! permission denied while trying to connect to the Docker daemon socket: dial", "log in again"),
        (f"{HEAD}! Got permission denied while trying to connect to the Docker daemon socket", "usermod -aG docker"),
        (f"{HEAD}! Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?", "not running"),
        ("sh: 1: docker: not found", "not installed"),
        ("", "expected"),
        (f"{HEAD}P abc|Up|x\nError response from daemon: broken", "broken"),
        (f"{HEAD}! panic: oh", "panic"),
    ],
)  # fmt: skip
def test_what_docker_refuses_is_one_line_that_says_what_to_do(text: str, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_docker_containers(text)
    assert words in caught.value.message and "\n" not in caught.value.message


def test_secrets_that_slipped_through_are_dropped() -> None:
    text = HEAD + 'P abc|Up|x\nid "abc"\nname "/a"\n' + "".join(
        f'E "{entry}"\n'
        for entry in (
            "HF_TOKEN=hf_x", "VLLM_API_KEY=k", "NCCL_AUTH=1", "nccl_debug=INFO", "PATH=/bin", "NCCL_P2P_DISABLE=1",
            "VLLM_PROXY=http://u:p@h", "NCCL_SECRET_X=1", "MY_NCCL_DEBUG=1",
        )
    )  # fmt: skip
    (one,) = parse_docker_containers(text).containers
    assert one.env == {"NCCL_P2P_DISABLE": "1"}


def test_cut_and_hostile_values_are_unknown_or_harmless() -> None:
    text = (
        f'{HEAD}P abc|Up (healthy)|x\nid "abc"\nname "/a\\u001b[2Jb"\nlimits [{{"Name":"memlock","Soft\n'
        'pid true\nexit "0"\nshm 1e999\nstarted 5\ndevices [1,{"PathOnHost":7}]\nE {"a":1}\n'
    )
    (one,) = parse_docker_containers(text).containers
    assert one.name == "ab" and one.memlock_bytes is None and one.pid is None and one.exit_code is None
    assert (one.shm_bytes, one.started_at, one.devices, one.env) == (None, None, (), {})
    assert one.health == "healthy"


def test_any_damage_gives_a_value_or_one_clear_line() -> None:
    text = sample("docker/containers-ended.txt")
    survives(parse_docker_containers, cuts(text))
    survives(parse_docker_containers, flips(text, 500))
