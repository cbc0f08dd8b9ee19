"""Scenarios are files; a wrong one is one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.sandbox.launch import start_sandbox
from dsv41_tui.sandbox.scenario import load_scenario, names
from tests.sandbox.conftest import NODE

GOOD = f"[head]{NODE}[worker]{NODE}"


@pytest.mark.parametrize("name", names())
def test_every_file_of_the_folder_is_a_scenario(name: str) -> None:
    assert load_scenario(name).head.memory


def test_an_unknown_scenario_names_those_that_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario("haelthy")
    assert "haelthy" in caught.value.message
    assert all(name in caught.value.message for name in ("healthy", "nas-down", "page-cache", "kho"))
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["../secret", "", "healthy\n", "\x1b[31mred"])
def test_a_name_is_never_a_path(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario(name)
    assert "\n" not in caught.value.message and "\x1b" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "head"),
        ("[head", "table declaration"),
        (GOOD + "colour = 1", "worker.colour"),
        (GOOD.replace("gpu_gib = 106.2", "gpu_gib = -1"), "head.memory.0.gpu_gib"),
        (GOOD.replace("at_s = 0", "at_s = 5"), "head"),
        (GOOD + '[[event]]\nat_s = 1\nwhat = "nas-explodes"\n', "nas-explodes"),
        (GOOD + '[[event]]\nat_s = 1\nwhat = "nas-returns"\n', "in turn"),
        (GOOD + "[[read]]\nnode = 1\nduration_s = 9\nevery_s = 2\nmib_per_s = 1\n", "every_s"),
    ],
)
def test_a_wrong_file_names_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_scenario(str(file))
    assert str(file) in caught.value.message and said in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_scenario(str(tmp_path / "none.toml"))


async def test_the_launcher_refuses_before_it_starts_anything() -> None:
    with pytest.raises(ConfigError, match="kho"):
        await start_sandbox("nothing-such")
    with pytest.raises(ConfigError, match="1 to 64"):
        await start_sandbox(nodes=65)
