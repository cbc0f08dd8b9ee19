"""Keys are data: every one has its words in every language, none clashes, none needs what terminals keep."""

from __future__ import annotations

import re
import tomllib

import pytest

from dsv41_tui import paths
from dsv41_tui.core.messages import LANGUAGES, flatten
from dsv41_tui.ui import keys

CATALOGUES = {
    language: flatten(tomllib.loads((paths.DATA / "messages" / language / "ui.toml").read_text("utf-8")))
    for language in LANGUAGES
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_has_a_word_and_a_sentence(language: str) -> None:
    catalogue = CATALOGUES[language]
    for key in keys.KEYS:
        assert f"ui.keys.{key.label}" in catalogue
        assert f"ui.keys.{key.id}-tip" in catalogue


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_the_languages_say_the_same_with_the_same_values(language: str) -> None:
    english, other = CATALOGUES["en"], CATALOGUES[language]
    assert set(english) == set(other)
    for key, text in english.items():
        places = re.compile(r"\{(\w+)\}")
        assert set(places.findall(text)) == set(places.findall(other[key])), key


def test_the_default_keys_do_not_clash() -> None:
    assert keys.clashes({}) == []


def test_ids_are_unique() -> None:
    ids = [key.id for key in keys.KEYS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("changed", [{"pause": "n"}, {"pause": "?"}, {"help": "j"}, {"copy": "y,q"}])
def test_a_key_map_that_hides_an_action_is_found(changed: dict[str, str]) -> None:
    found = keys.clashes(changed)
    assert found
    assert any(next(iter(changed)) in pair for pair in found)


def test_keys_of_different_places_can_be_the_same() -> None:
    assert keys.clashes({"zoom": "x", "page-copy": "x"}) == []


def test_nothing_needs_keys_that_terminals_and_multiplexers_keep() -> None:
    kept = {"ctrl+a", "ctrl+b", "ctrl+s", "ctrl+q", *(f"f{number}" for number in range(1, 13))}
    for key in keys.KEYS:
        assert not kept & set(key.keys.split(","))


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("？", "?"),
        ("：", ":"),
        ("／", "/"),
        ("ｑ", "q"),
        ("Ｇ", "G"),
        ("１", "1"),
        ("　", " "),
        ("、", "/"),
        ("【", "["),
    ],
)
def test_full_width_characters_are_their_ascii_keys(typed: str, key: str) -> None:
    assert keys.ascii_of(typed) == key


@pytest.mark.parametrize("typed", ["", "a", "?", "記", "\x1b", "ab"])
def test_other_characters_are_themselves(typed: str) -> None:
    assert keys.ascii_of(typed) is None
