"""The message catalogue: every string of the interface is a key in `data/messages/<language>/*.toml`.

`t("key", name=value)` gives the text in the chosen language, else in English. Commands, log lines and the field's
terms are not translated. LANG is read as text and `setlocale` is never called, since number formats must not move.
"""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "zh-Hant", "zh-Hans")

_catalogues: dict[str, dict[str, str]] = {}
_language = "en"


def flatten(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Turn nested tables into dotted keys."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat


def install(language: str, catalogues: Mapping[str, Mapping[str, object]]) -> None:
    """Make `language` the one that `t` speaks; `catalogues` holds parsed TOML by language, English among them."""
    global _language
    for name, table in catalogues.items():
        _catalogues[name] = flatten(table)
    _language = language if language in _catalogues else "en"


def language() -> str:
    """The language that `t` speaks now."""
    return _language


def t(key: str, /, **values: object) -> str:
    """The text of `key` in the chosen language, with `{name}` places filled; the key itself if nobody knows it."""
    template = _catalogues.get(_language, {}).get(key) or _catalogues.get("en", {}).get(key)
    if template is None:
        return key
    return template.format(**values) if values else template


def language_of(environment: Mapping[str, str]) -> str:
    """Choose from LC_ALL, LC_MESSAGES, LANG as text: zh_TW, zh_HK, zh_Hant give zh-Hant, other zh zh-Hans, else en."""
    value = environment.get("LC_ALL") or environment.get("LC_MESSAGES") or environment.get("LANG") or ""
    name = value.split(".")[0].split("@")[0].replace("_", "-").lower()
    if not name.startswith("zh"):
        return "en"
    parts = name.split("-")
    traditional = "hant" in parts or ("hans" not in parts and not {"tw", "hk", "mo"}.isdisjoint(parts))
    return "zh-Hant" if traditional else "zh-Hans"
