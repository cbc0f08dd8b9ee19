"""Which language is spoken: from LC_ALL, LC_MESSAGES and LANG as text, or as chosen."""

from __future__ import annotations

import locale
from collections.abc import Iterator

import pytest

from dsv41_tui.core import messages
from dsv41_tui.core.messages import language_of, t
from dsv41_tui.runtime.language import load_language


@pytest.fixture(autouse=True)
def english_after() -> Iterator[None]:
    yield
    load_language("en")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": ""}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_TW.UTF-8"}, "zh-Hant"),
        ({"LANG": "zh_HK"}, "zh-Hant"),
        ({"LANG": "zh_MO.UTF-8"}, "zh-Hant"),
        ({"LANG": "zh-Hant-TW"}, "zh-Hant"),
        ({"LANG": "zh_Hant"}, "zh-Hant"),
        ({"LANG": "zh_TW.UTF-8@radical"}, "zh-Hant"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-Hans"),
        ({"LANG": "zh_SG"}, "zh-Hans"),
        ({"LANG": "zh"}, "zh-Hans"),
        ({"LANG": "ZH_cn.gb18030"}, "zh-Hans"),
        ({"LANG": "zh_Hans_HK.UTF-8"}, "zh-Hans"),
        ({"LANG": "zh_Hans_MO"}, "zh-Hans"),
        ({"LC_ALL": "C", "LANG": "zh_TW"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN", "LANG": "en_US"}, "zh-Hans"),
        ({"LC_ALL": "zh_TW", "LC_MESSAGES": "zh_CN"}, "zh-Hant"),
    ],
)
def test_language_of(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_language_speaks(language: str) -> None:
    assert load_language(language) == language
    assert t("init.line", line=7) != "init.line" and "7" in t("init.line", line=7)


def test_the_environment_chooses_and_the_locale_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = locale.setlocale(locale.LC_ALL)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_TW.UTF-8")
    assert load_language() == "zh-Hant" and messages.language() == "zh-Hant"
    assert locale.setlocale(locale.LC_ALL) == before and f"{1.5:n}" == "1.5"


def test_an_unknown_language_is_english() -> None:
    assert load_language("tlh") == "en"


def test_values_are_not_taken_for_places() -> None:
    load_language("en")
    assert "{x} {" in t("config.error.no_file", file="{x} {")


def test_an_unknown_key_shows_itself() -> None:
    assert t("nowhere.key") == "nowhere.key"
