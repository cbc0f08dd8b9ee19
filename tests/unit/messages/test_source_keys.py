"""The source and the catalogues agree: every key that is asked for is there with its values, and none lies unused."""

from __future__ import annotations

import ast
import re

from dsv41_tui import paths
from dsv41_tui.core.messages import LANGUAGES
from tests.unit.messages.catalogue import SOURCES, asked, catalogue, places, written

KEYS = catalogue("en")


def test_the_scan_sees_calls() -> None:
    assert len(asked()) > 50
    assert any(use.key == "init.error.connect" and use.where.startswith("cli/init.py:") for use in asked())
    assert any(use.pattern and re.fullmatch(use.key, "init.use.head") for use in asked())


def test_every_key_that_is_asked_for_exists() -> None:
    missing = {
        (use.where, use.key)
        for use in asked()
        if (use.key not in KEYS if not use.pattern else not any(re.fullmatch(use.key, key) for key in KEYS))
    }
    assert not missing


def test_every_place_gets_its_value() -> None:
    """A place without a value would be a KeyError before the operator's eyes."""
    wrong = set()
    for use in asked():
        keys = [key for key in KEYS if re.fullmatch(use.key, key)] if use.pattern else [use.key]
        for language in LANGUAGES:
            for key in keys:
                needed = places(catalogue(language).get(key, ""))
                if use.values is not None and not use.pattern and needed - use.values:
                    wrong.add((use.where, key, language, *sorted(needed - use.values)))
    assert not wrong


def test_a_pattern_gives_values_to_the_keys_that_it_reaches_alone() -> None:
    """Where one f-string alone can reach a key, its values are the ones that this key gets."""
    by_key: dict[str, list[frozenset[str] | None]] = {}
    for use in asked():
        for key in KEYS:
            if use.pattern and re.fullmatch(use.key, key):
                by_key.setdefault(key, []).append(use.values)
    whole, _ = written()
    wrong = {
        key: sorted(places(KEYS[key]) - values[0])
        for key, values in by_key.items()
        if len(values) == 1 and values[0] is not None and key not in whole and places(KEYS[key]) - values[0]
    }
    assert not wrong


def test_every_key_is_used() -> None:
    whole, patterns = written()
    unused = {key for key in KEYS if key not in whole and not any(re.fullmatch(part, key) for part in patterns)}
    assert not unused


def test_setlocale_is_never_called() -> None:
    """Number formats must not move with the operator's locale."""
    found = {
        f"{file.relative_to(paths.PACKAGE)}:{node.lineno}"
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == "setlocale")
        or (isinstance(node, ast.Name) and node.id == "setlocale")
        or (isinstance(node, ast.alias) and node.name in ("setlocale", "locale"))
    }
    assert not found
