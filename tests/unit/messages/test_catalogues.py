"""Three languages, the same files, keys and places; each text in its own script and in plain words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dsv41_tui.core.messages import LANGUAGES
from tests.unit.messages.catalogue import AREAS, FILES, FOLDER, catalogue, every_text, places, table

TERMS = {
    line.strip()
    for line in (Path(__file__).parent / "terms.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
}
WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))


def words_of(text: str) -> list[str]:
    """Lower-case English words of a text, without places, quoted commands, and names that carry their own form."""
    text = re.sub(r"\{[^}]*\}|`[^`]*`", " ", text)
    found = re.findall(r"(?<![A-Za-z0-9_./=@:-])[A-Za-z][a-z'-]*(?![A-Za-z0-9_./=@:])", text)
    return [word.lower() for word in found]


def is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff"


def encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def untranslated(key: str, text: str) -> bool:
    """A command that is the same in every language."""
    return all(catalogue(language).get(key) == text for language in LANGUAGES) and key.rpartition(".")[2] == "command"


def test_there_is_something_to_test() -> None:
    assert len(catalogue("en")) > 100 and {"config", "init", "recipe"} <= set(AREAS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_same_files(language: str) -> None:
    assert sorted(file.name for file in (FOLDER / language).iterdir()) == FILES


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("language", LANGUAGES)
class TestEachFile:
    def test_keys_begin_with_the_area(self, language: str, name: str) -> None:
        """Else two files could hold one key, and the loader would drop a whole table without a word."""
        area = name.removesuffix(".toml")
        assert {key.split(".")[0] for key in table(language, name)} == {area}

    def test_same_keys(self, language: str, name: str) -> None:
        english, other = set(table("en", name)), set(table(language, name))
        assert not english - other, "keys are missing"
        assert not other - english, "keys are too many"

    def test_same_places(self, language: str, name: str) -> None:
        wrong = {key for key, text in table(language, name).items() if places(text) != places(table("en", name)[key])}
        assert not wrong

    def test_no_empty_text(self, language: str, name: str) -> None:
        assert not [key for key, text in table(language, name).items() if not text.strip() and text != ""]


def test_no_text_is_a_table_value_of_another_kind() -> None:
    assert all(isinstance(text, str) for _, _, text in every_text())


def test_english_is_plain() -> None:
    wrong = {
        key: text
        for key, text in catalogue("en").items()
        if re.search(r"\b(may|please|maybe|sorry|oops)\b", text, re.IGNORECASE) or re.search(r"!(?![=\w])", text)
    }
    assert not wrong


def test_english_has_no_chinese() -> None:
    assert not {key: text for key, text in catalogue("en").items() if any(map(is_han, text))}


@pytest.mark.parametrize("language", ["zh-Hant", "zh-Hans"])
def test_no_english_is_left(language: str) -> None:
    wrong = {
        key: sorted(set(words_of(text)) - TERMS)
        for key, text in catalogue(language).items()
        if set(words_of(text)) - TERMS and not untranslated(key, text)
    }
    assert not wrong, "translate them, put commands in backquotes, or add a field term to terms.txt"


def test_every_term_is_used() -> None:
    used = {word for language, _, text in every_text() if language != "en" for word in words_of(text)}
    assert not TERMS - used


@pytest.mark.parametrize("language", WORDS)
class TestScript:
    def test_characters(self, language: str) -> None:
        encoding, strangers = WORDS[language]["encoding"], WORDS[language]["strangers"]
        wrong = {
            (key, character)
            for key, text in catalogue(language).items()
            for character in text
            if is_han(character) and (not encodes(character, encoding) or character in strangers)
        }
        assert not wrong

    def test_words(self, language: str) -> None:
        wrong = {
            (key, word, f"use {better}")
            for key, text in catalogue(language).items()
            for word, better in WORDS[language]["instead"].items()
            if re.search(word, text)
        }
        assert not wrong

    def test_the_list_holds_only_what_the_set_cannot_tell(self, language: str) -> None:
        strangers = WORDS[language]["strangers"].split()
        assert all(encodes(character, WORDS[language]["encoding"]) for character in "".join(strangers))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("記憶體 `cat /proc/meminfo` {value}", []),
        ("MemFree 只剩 3 GiB，nconnect=8，/etc/fstab，kho=off", []),
        ("請檢查 memory", ["memory"]),
        ("Check 記憶體", ["check"]),
    ],
)
def test_the_heuristic_sees_english(text: str, left: list[str]) -> None:
    assert words_of(text) == left


@pytest.mark.parametrize("characters", [("们", "們"), ("设", "設"), ("这", "這"), ("软", "軟")])
def test_the_sets_tell_the_scripts_apart(characters: tuple[str, str]) -> None:
    simplified, traditional = characters
    assert encodes(simplified, "gb2312") and not encodes(simplified, "big5")
    assert encodes(traditional, "big5") and not encodes(traditional, "gb2312")
