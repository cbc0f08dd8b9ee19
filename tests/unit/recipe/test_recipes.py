"""Every recipe in the folder loads, is whole, and says where each figure comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dsv41_tui import paths
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.recipe import Recipe, recipe_limits
from dsv41_tui.runtime.recipes import load_recipe, load_recipes

FILES = sorted((paths.DATA / "recipes").glob("*.toml"))
SHIPPED = [load_recipe(file) for file in FILES]


def test_the_folder_is_not_empty() -> None:
    assert "exl3-2x" in [file.stem for file in FILES]


@pytest.mark.parametrize("recipe", SHIPPED, ids=lambda recipe: recipe.id)
class TestShipped:
    def test_loads_under_its_id(self, recipe: Recipe) -> None:
        assert load_recipes()[recipe.id] == recipe

    def test_source_is_public_and_pinned(self, recipe: Recipe) -> None:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", recipe.source)
        assert re.fullmatch(r"[0-9a-f]{7,40}", recipe.commit)

    def test_ranks_count_from_zero_and_each_has_a_container(self, recipe: Recipe) -> None:
        ranks = sorted(item.rank for item in recipe.rank)
        assert ranks == list(range(len(ranks)))
        assert sorted(item.rank for item in recipe.container if item.rank is not None) == ranks
        roles = {item.rank: item.role for item in recipe.rank}
        assert all(item.role == roles[item.rank] for item in recipe.container if item.rank is not None)

    def test_keys_that_tables_name_are_explained(self, recipe: Recipe) -> None:
        named = {item.env for item in (*recipe.port, *recipe.tree)} | {item.count_env for item in recipe.shards}
        assert all(recipe.env_key(key) is not None for key in named if key)

    def test_defaults_agree_between_tables(self, recipe: Recipe) -> None:
        pairs = [(item.env, str(item.port)) for item in recipe.port]
        pairs += [(item.env, item.default) for item in recipe.tree]
        pairs += [(item.count_env, str(item.count)) for item in recipe.shards]
        for key, value in pairs:
            entry = recipe.env_key(key) if key else None
            assert entry is None or entry.default == value, key

    def test_shard_sizes_add_up(self, recipe: Recipe) -> None:
        for shards in recipe.shards:
            if len(shards.shard) == shards.count:
                assert sum(item.bytes for item in shards.shard) / (1 << 30) == pytest.approx(shards.gib, abs=0.01)
            assert len({item.sha256 for item in shards.shard}) == len(shards.shard)

    def test_memory_fits_a_gb10(self, recipe: Recipe) -> None:
        assert 0 < sum(item.gib_high or item.gib for item in recipe.memory) <= 121.7

    def test_every_figure_has_a_source(self, recipe: Recipe) -> None:
        for item in (*recipe.memory, *recipe.threshold, *recipe.figure, *recipe.shards):
            assert item.source.strip()

    def test_limits_are_ordered(self, recipe: Recipe) -> None:
        limits = recipe_limits(recipe)
        assert isinstance(limits, Limits) and limits.source == recipe.id
        assert 0 < limits.available_error <= limits.available_warn < 121 << 30

    def test_an_upper_end_is_above_the_lower(self, recipe: Recipe) -> None:
        assert all(item.value_high is None or item.value_high > item.value for item in recipe.figure)


def test_the_first_recipe_carries_the_facts_that_panes_need() -> None:
    recipe = load_recipes()["exl3-2x"]
    assert [item.name for item in recipe.container] == ["dsv41-exl3-head", "dsv41-exl3-worker", "dsv41-exl3-nfs"]
    engram = next(item for item in recipe.shards if item.name == "engram")
    assert {item.layer: item.bytes for item in engram.shard} == {1: 101_535_150_936, 14: 101_537_926_640}
    limits = recipe_limits(recipe)
    assert (limits.nconnect, limits.rsize) == (8, 1 << 20)
    entry = recipe.env_key("READY_TIMEOUT")
    assert entry is not None and (entry.default, entry.unit) == ("1500", "s")


def own(name: str, text: str) -> None:
    folder = paths.config_dir() / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_the_operators_recipe_joins_and_wins() -> None:
    text = FILES[0].read_text()
    own("mine.toml", re.sub(r'^id = ".*"$', 'id = "mine"', text, flags=re.MULTILINE))
    own(FILES[0].name, re.sub(r'^title = ".*"$', 'title = "own"', text, flags=re.MULTILINE))
    said: list[str] = []
    recipes = load_recipes(said.append)
    assert not said and "mine" in recipes and recipes[FILES[0].stem].title == "own"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id = ", "not a recipe, skipped: .*line 1|not a recipe, skipped: Invalid value"),
        ("id = 'bad'", "not a recipe, skipped: title: Field required"),
        ("a = " + "[" * 20_000, "not a recipe, skipped"),
        (FILES[0].read_text() + "\nx = 1", "not a recipe, skipped: .*x"),
        (FILES[0].read_text(), 'says id = "exl3-2x"'),
        (FILES[0].read_text().replace('unit = "GiB"', 'unit = "%"', 1), "is in GiB"),
        (FILES[0].read_text().replace('tree = "engram"', 'tree = "elsewhere"', 1), "no tree 'elsewhere'"),
    ],
)
def test_a_bad_file_is_skipped_and_said_in_one_line(text: str, said: str) -> None:
    own("bad.toml", text)
    lines: list[str] = []
    recipes = load_recipes(lines.append)
    assert sorted(recipes) == sorted(file.stem for file in FILES)
    (line,) = lines
    assert "bad.toml" in line and "\n" not in line and re.search(said, line)


def test_a_shipped_file_that_is_bad_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "x.toml").write_text("id = 'x'")
    monkeypatch.setattr(paths, "DATA", tmp_path)
    with pytest.raises(ConfigError):
        load_recipes(lambda line: None)
