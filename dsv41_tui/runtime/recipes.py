"""Recipes are files: those that the package ships and the operator's own in the config folder."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from dsv41_tui import paths
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.core.recipe import Recipe
from dsv41_tui.core.text import clean_line
from dsv41_tui.runtime.configuration import read_text


def load_recipes(report: Callable[[str], None] | None = None) -> dict[str, Recipe]:
    """All recipes by id. The operator's file beats a shipped one of the same id.

    A file of the operator's that is not a recipe is skipped, and `report` gets one line about it; a shipped one raises.
    """
    found = {recipe.id: recipe for recipe in map(load_recipe, _files(paths.DATA / "recipes"))}
    for file in _files(paths.config_dir() / "recipes"):
        try:
            recipe = load_recipe(file)
        except ConfigError as error:
            if report is not None:
                report(error.message)
        else:
            found[recipe.id] = recipe
    return found


def load_recipe(file: Path) -> Recipe:
    """Read one file; its name without `.toml` is the recipe's id. Raises ConfigError with one line."""
    name = clean_line(str(file))
    try:
        recipe = Recipe.model_validate(tomllib.loads(read_text(file)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "-"
        why = clean_line(f"{where}: {first['msg']}", 200)
        raise ConfigError(t("recipe.error.skipped", file=name, why=why)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(t("recipe.error.skipped", file=name, why=clean_line(str(error), 200))) from error
    if recipe.id != file.stem:
        raise ConfigError(t("recipe.error.id", file=name, id=recipe.id))
    return recipe


def _files(folder: Path) -> list[Path]:
    """The TOML files of a folder; none where there is no folder, or none that we can enter."""
    try:
        return sorted(folder.glob("*.toml"))
    except OSError:
        return []
