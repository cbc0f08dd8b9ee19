"""Thresholds: built in, then the recipe's published ones, then the operator's, and the value says whose they are."""

from __future__ import annotations

import pytest

from dsv41_tui.config import ThresholdConfig
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.readings import GIB
from dsv41_tui.core.recipe import recipe_limits
from dsv41_tui.runtime.configuration import limits_of, parse_config
from dsv41_tui.runtime.recipes import load_recipes

NODE = '[[node]]\nname = "a"\nlocal = true\n'
RECIPE = load_recipes()["exl3-2x"]


def test_without_anything_the_built_in_ones_hold() -> None:
    assert limits_of(parse_config(NODE, "f")) == Limits()


def test_the_recipe_publishes_its_own() -> None:
    limits = limits_of(parse_config(NODE, "f"), RECIPE)
    assert limits == recipe_limits(RECIPE)
    assert (limits.available_warn, limits.available_error) == (5 * GIB // 2, 3 * GIB // 2)
    assert limits.source == "exl3-2x"
    assert limits.free_warn == Limits().free_warn, "what a recipe does not publish stays built in"


def test_the_operator_has_the_last_word() -> None:
    config = parse_config(
        NODE + '[nas]\nserver = "qnap"\nlink_mbit = 10000\n[thresholds]\navailable_warn_gib = 8\n', "f"
    )
    limits = limits_of(config, RECIPE)
    assert limits.available_warn == 8 * GIB and limits.available_error == 3 * GIB // 2
    assert limits.nas_link_mbit == 10_000
    assert limits.source == "exl3-2x; from the configuration: available_warn, nas_link_mbit"


def test_a_warning_below_the_error_of_the_recipe_is_said() -> None:
    config = parse_config(NODE + "[thresholds]\navailable_warn_gib = 1\n", "f")
    with pytest.raises(ConfigError, match=r"error level \(1.5 GiB\) is above the warning level \(1 GiB\)"):
        limits_of(config, RECIPE)


def test_every_threshold_of_the_file_is_a_limit() -> None:
    for name in ThresholdConfig.model_fields:
        config = parse_config(NODE + f"[thresholds]\n{name} = 3\n", "f")
        field = name.removesuffix("_gib")
        assert field in Limits.model_fields
        assert getattr(limits_of(config), field) == (3 * GIB if name.endswith("_gib") else 3)
