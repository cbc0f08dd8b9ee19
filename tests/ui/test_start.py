"""What the panel opens: a configuration file with its themes, keys and language; what the welcome writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui import paths
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import language
from dsv41_tui.ui.start import Opener, Welcome

LOCAL = """
[cluster]
name = "one"

[[node]]
name = "box"
role = "head"
local = true
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "dsv41.toml"
    file.write_text(text, "utf-8")
    return file


async def test_a_file_becomes_a_cluster_that_is_not_started(tmp_path: Path) -> None:
    cluster = await Opener(None, written(tmp_path, LOCAL)).open(None)
    assert [node.name for node in cluster.store.state.nodes] == ["box"]
    assert cluster.store.state.nodes[0].link.phase == "idle"
    await cluster.stop()


async def test_another_file_than_the_first_can_be_opened(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(LOCAL.replace("one", "two"), "utf-8")
    cluster = await Opener(None, written(tmp_path, LOCAL)).open(other)
    assert cluster.store.state.name == "two"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[keys]\npause = "n"\n', "keys.pause and keys.finding-next would both be on n"),
        ('[keys]\npuase = "x"\n', "puase"),
    ],
)
async def test_keys_that_cannot_be_are_refused(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        await Opener(None, written(tmp_path, LOCAL + more)).open(None)


async def test_an_unknown_theme_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    text = LOCAL.replace('name = "one"', 'name = "one"\ntheme = "inky"')
    with pytest.raises(ConfigError, match='"ink", "paper", "sixteen"'):
        await Opener(None, written(tmp_path, text)).open(None)


@pytest.mark.parametrize(("asked", "spoken"), [(None, "zh-Hant"), ("en", "en")])
async def test_the_language_of_the_file_is_spoken_unless_another_was_asked_for(
    tmp_path: Path, asked: str | None, spoken: str
) -> None:
    text = LOCAL.replace('name = "one"', 'name = "one"\nlanguage = "zh-Hant"')
    await Opener(None, written(tmp_path, text), asked).open(None)
    assert language() == spoken


async def test_the_welcome_writes_a_file_that_can_be_opened() -> None:
    opener = Opener(None)
    path = await Welcome(opener).this_machine()
    assert path == paths.config_dir() / "dsv41.toml"
    cluster = await opener.open(path)
    assert len(cluster.store.state.nodes) == 1


async def test_hosts_become_nodes_and_nothing_is_contacted() -> None:
    opener = Opener(None)
    path = await Welcome(opener).hosts(["spark1", "me@spark2:2222"])
    assert isinstance(path, Path)
    cluster = await opener.open(path)
    assert [node.target for node in cluster.store.state.nodes] == ["spark1", "me@spark2:2222"]
    assert {node.link.phase for node in cluster.store.state.nodes} == {"idle"}


async def test_what_cannot_be_is_said_in_words() -> None:
    welcome = Welcome(Opener(None))
    assert isinstance(await welcome.hosts(["-oProxyCommand=x"]), str)
    said = await welcome.env_file("/nonexistent/.env")
    assert isinstance(said, str)
    assert "/nonexistent/.env" in said
    assert not paths.config_dir().exists()


async def test_an_existing_file_is_not_overwritten() -> None:
    welcome = Welcome(Opener(None))
    first = await welcome.this_machine()
    assert isinstance(first, Path)
    before = first.read_text("utf-8")
    again = await welcome.hosts(["spark1"])
    assert isinstance(again, str)
    assert str(first) in again
    assert first.read_text("utf-8") == before


async def test_a_theme_whose_file_is_invalid_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = paths.config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / "badcol.toml").write_text('name = "badcol"\n[colours]\nbackground = "red"\n', "utf-8")
    text = LOCAL.replace('name = "one"', 'name = "one"\ntheme = "badcol"')
    with pytest.raises(ConfigError, match=r"badcol\.toml skipped: background is 'red'"):
        await Opener(None, written(tmp_path, text)).open(None)
