"""From a configuration file to a cluster, for every front end."""

from __future__ import annotations

from pathlib import Path

from dsv41_tui import paths
from dsv41_tui.runtime.cluster import Cluster
from dsv41_tui.runtime.configuration import check_choice, limits_of, load_config
from dsv41_tui.runtime.recipes import load_recipes


def open_config(path: Path, *, record: bool = False) -> Cluster:
    """A cluster for a configuration file, not started. ConfigError when the file or what it names is wrong.

    `record`: keep every log line of this run in the state folder.
    """
    config = load_config(path)
    recipes = load_recipes()
    name = config.cluster.recipe
    check_choice(path, "cluster.recipe", name, recipes)
    wanted = dict.fromkeys([name, *(item.name for item in config.recipe)])
    followed = tuple(recipes[item] for item in wanted if item in recipes)
    folder = paths.state_dir() / "logs" if record else None
    return Cluster(config, limits_of(config, recipes[name]), recipes=followed, record=folder)
