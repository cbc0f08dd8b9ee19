"""The stand-in for docker tells what is defined, in docker's forms, and says what it does not play."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dsv41_tui.parsers.docker_volumes import parse_docker_volumes
from dsv41_tui.sandbox.docker_cli import main
from dsv41_tui.sandbox.docker_state import container_id, docker_state
from dsv41_tui.sandbox.scenario import load_scenario


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".sandbox").mkdir()
    state = docker_state(load_scenario("healthy"), 2, "/home/dsv", datetime.now(UTC), 0.0)
    (tmp_path / ".sandbox/docker.json").write_text(json.dumps(state))
    monkeypatch.setenv("DSV41_SANDBOX_ROOT", str(tmp_path))


def test_volumes_are_listed_and_inspected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["volume", "ls", "-q", "--filter", "driver=local"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed == ["dsv41-exl3-engram", "dsv41-exl3-weights"]
    assert main(["volume", "inspect", *listed]) == 0
    (volume,) = parse_docker_volumes(capsys.readouterr().out)
    assert volume.name == "dsv41-exl3-weights" and volume.source == "192.168.50.20:/models"
    assert volume.options["nconnect"] == "8" and volume.mount_point.endswith("dsv41-exl3-weights/_data")


def test_an_unknown_object_fails_after_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["volume", "inspect", "dsv41-exl3-weights", "nosuch"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)[0]["Name"] == "dsv41-exl3-weights" and "nosuch" in said.err
    assert main(["inspect", "nosuch"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("[]\n", "Error: No such object: nosuch\n")


def test_containers_by_template(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ps", "-a", "--no-trunc", "--format", "{{json .}}"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["Names"], row["State"], len(row["ID"])) == ("dsv41-exl3-worker", "running", 64)
    assert main(["inspect", "-f", "{{.State.Status}}\\t{{json .State.OOMKilled}}", "dsv41-exl3-worker"]) == 0
    assert capsys.readouterr().out == "running\tfalse\n"
    assert main(["ps", "--filter", "name=^/dsv41-exl3-head$", "--format", "{{.Names}}"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["ps"]) == 0
    assert capsys.readouterr().out.startswith("ID ")


@pytest.mark.parametrize(
    "words",
    [
        ["rm", "-f", "dsv41-exl3-worker"],
        ["volume", "rm", "x"],
        ["ps", "--size"],
        ["ps", "--format", "{{if .ID}}x{{end}}"],
        ["volume", "ls", "--filter", "dangling=true"],
        [],
    ],
)
def test_what_is_not_simulated_says_so(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == "" and "not simulated" in said.err and said.err.count("\n") == 1


def test_a_field_that_docker_has_not_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ps", "--format", "{{.Nosuch}}"]) == 1
    assert "Nosuch" in capsys.readouterr().err


LINES = [f"2026-11-30T12:00:0{second}.500000000Z line {second}" for second in range(4)]


def write_log(root: Path, scenario: str, t: float) -> None:
    """The worker's log and docker's word of it `t` seconds after the scenario's zero."""
    loaded = load_scenario(scenario)
    state = docker_state(loaded, 2, "/home/dsv", datetime(2026, 11, 30, 12, tzinfo=UTC), t)
    (root / ".sandbox/docker.json").write_text(json.dumps(state))
    (root / ".sandbox/logs").mkdir()
    (root / ".sandbox/logs" / container_id(loaded, 2)).write_text("".join(f"{line}\n" for line in LINES))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--timestamps"], LINES),
        ([], [line[31:] for line in LINES]),
        (["-t", "--tail", "1"], LINES[3:]),
        (["-t", "--since", "2026-11-30T12:00:01.5Z"], LINES[1:]),
        (["-t", "--since", "2026-11-30T12:00:02Z", "--until", "2026-11-30T12:00:02.6Z"], LINES[2:3]),
        (["-t", "--tail", "2", "--since", "2026-11-30T12:00:01Z"], LINES[2:]),
    ],
)
def test_a_log_is_cut_as_docker_cuts_it(
    words: list[str], shown: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path, "healthy", 0.0)
    assert main(["logs", *words, "dsv41-exl3-worker"]) == 0
    assert capsys.readouterr().out.splitlines() == shown


def test_a_followed_log_of_a_container_that_ended_ends_with_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path, "rank-dead", 9.0)
    assert main(["logs", "--timestamps", "--follow", "dsv41-exl3-worker"]) == 0
    assert capsys.readouterr().out.splitlines() == LINES
    assert main(["logs", "nosuch"]) == 1
    assert capsys.readouterr().err == "Error response from daemon: No such container: nosuch\n"


def test_an_end_is_told_as_an_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path, "oom", 14.0)
    words = ["events", "--filter", "type=container", "--filter", "event=die", "--filter", "event=oom"]
    template = "{{.Action}} {{json .Actor.Attributes.exitCode}} {{.Actor.Attributes.name}}"
    assert main([*words, "--since", "1000", "--until", "0s", "--format", template]) == 0
    assert capsys.readouterr().out.splitlines() == ["oom null dsv41-exl3-worker", 'die "1" dsv41-exl3-worker']
