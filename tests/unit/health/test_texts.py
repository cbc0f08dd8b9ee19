"""Every kind speaks three languages, is documented, and says only what the house's style allows."""

from __future__ import annotations

import re
import string
import tomllib
from pathlib import Path

import pytest
from health_builders import NOW
from health_cases import CASES

from dsv41_tui import paths
from dsv41_tui.core import health
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.messages import LANGUAGES, flatten
from dsv41_tui.runtime.language import load_language

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "findings.md").read_text("utf-8")
CATALOGUE_CAUSES = set((ROOT / "tests/data/health/catalogue_causes.txt").read_text("utf-8").split())


def catalogue(language: str) -> dict[str, str]:
    return flatten(tomllib.loads((paths.DATA / "messages" / language / "findings.toml").read_text("utf-8")))


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def all_findings() -> list[Finding]:
    return [found for case in CASES for found in health.findings(case.state, case.limits, NOW)]


def texts(found: Finding) -> list[str]:
    return [found.title, found.fix.text, *(cause.why for cause in found.causes)]


def test_kind_ids_are_unique_and_kebab_case() -> None:
    ids = [kind.id for kind in health.KINDS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", kind) for kind in ids)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_kind_has_a_title_and_a_fix_in_each_language(language: str) -> None:
    keys = catalogue(language)
    for kind in health.KINDS:
        assert any(key.startswith(f"findings.{kind.id}.title") for key in keys), kind.id
        assert any(key.startswith(f"findings.{kind.id}.fix") for key in keys), kind.id


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_the_languages_have_the_same_keys_and_places(language: str) -> None:
    english, other = catalogue("en"), catalogue(language)
    assert english.keys() == other.keys()
    for key, text in english.items():
        missing = places(text) ^ places(other[key])
        assert missing <= {"nodes", "level"}, (key, missing)


def test_no_text_stands_for_nothing() -> None:
    known = {f"findings.{kind.id}" for kind in health.KINDS} | {"findings.why"}
    for key in catalogue("en"):
        assert key.count(".") == 1 or key.rpartition(".")[0] in known, key


def test_each_text_is_used() -> None:
    """A key is named in the code as a whole, by its last part, or by a stem that the code completes."""
    code = "\n".join(file.read_text("utf-8") for file in Path(health.__file__).parent.glob("*.py"))
    for key in catalogue("en"):
        name = key.rpartition(".")[2]
        assert (
            name in ("title", "fix") or re.search(rf"[\"'.]{name}[\"']", code) or name.startswith(("effect-", "order-"))
        ), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_table_is_filled(language: str) -> None:
    load_language(language)
    for found in all_findings():
        for text in texts(found):
            assert text and "{" not in text and "findings." not in text, (found.id, text)
        for evidence in found.evidence:
            assert evidence.source and (evidence.reading or evidence.line), found.id


def test_languages_differ_and_commands_do_not() -> None:
    english = all_findings()
    load_language("zh-Hant")
    traditional = all_findings()
    load_language("zh-Hans")
    simplified = all_findings()
    for one, two, three in zip(english, traditional, simplified, strict=True):
        assert one.fix.commands == two.fix.commands == three.fix.commands
        assert len({one.fix.text, two.fix.text, three.fix.text}) == 3, one.id


def test_english_keeps_to_the_style() -> None:
    for key, text in catalogue("en").items():
        assert not re.search(r"\b(may|please)\b|!", text, re.IGNORECASE), key
        if ".title" in key and ".why." not in key:
            assert ":" in text or "down to" in text or "ago" in text or "flat at" in text, key
            assert not text.endswith("."), key


def test_commands_are_whole() -> None:
    for found in all_findings():
        for command in found.fix.commands:
            assert "…" not in command and "..." not in command and "\n" not in command, found.id


def test_causes_are_those_of_the_catalogue_or_our_own() -> None:
    assert not CATALOGUE_CAUSES & set(health.OWN_CAUSES)
    used = {cause.cause_id for found in all_findings() for cause in found.causes}
    assert used <= CATALOGUE_CAUSES | set(health.OWN_CAUSES)
    code = "\n".join(file.read_text("utf-8") for file in Path(health.__file__).parent.glob("*.py"))
    for name in re.findall(r"cause\(\s*\"([a-z_]+)\"", code):
        assert name in CATALOGUE_CAUSES | set(health.OWN_CAUSES), name
    for name in health.OWN_CAUSES:
        assert code.count(f'"{name}"') >= 2, f"{name} is never given"


def test_the_page_lists_each_kind_once_with_its_severities() -> None:
    sections = re.findall(r"^### ([a-z-]+)\n\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in sections] == [kind.id for kind in health.KINDS]
    for (name, body), kind in zip(sections, health.KINDS, strict=True):
        assert f"- Severity: {', '.join(kind.severities)}." in body, name
        assert re.search(r"^- Means: .+", body, re.MULTILINE), name
        assert re.search(r"^- Fix: .+", body, re.MULTILINE), name


def test_the_page_lists_our_own_causes() -> None:
    assert tuple(re.findall(r"^- `([a-z_]+)`: ", PAGE, re.MULTILINE)) == health.OWN_CAUSES
