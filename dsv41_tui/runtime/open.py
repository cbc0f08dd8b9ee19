"""From a configuration file to a cluster, for every front end."""

from __future__ import annotations

from pathlib import Path

from dsv41_tui.runtime.cluster import Cluster
from dsv41_tui.runtime.configuration import check_choice, limits_of, load_config
from dsv41_tui.runtime.recipes import load_recipes


def open_config(path: Path) -> Cluster:
    """A cluster for a configuration file, not started. ConfigError when the file or what it names is wrong."""
    config = load_config(path)
    recipes = load_recipes()
    name = config.cluster.recipe
    check_choice(path, "cluster.recipe", name, recipes)
    return Cluster(config, limits_of(config, recipes[name]))
