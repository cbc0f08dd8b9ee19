"""What the documents say is what the code does: fields, facts, conditions, commands and their output."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from dsv41_tui.core.book import Scanner
from dsv41_tui.core.conditions import parse
from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.facts import FACTS
from dsv41_tui.core.failure import CauseFile, CauseRule, Example, FailureRule, Match
from dsv41_tui.core.value import Value
from dsv41_tui.parsers.pasted import PastedReader
from dsv41_tui.runtime.failures import LoadedBook, load_book
from tests.project.house import ROOT, run

FAILURES = (ROOT / "docs/failures.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
MODELS: dict[str, type[Value]] = {
    "## A failure file": FailureRule, "### match": Match, "### cause in a failure file": CauseRule,
    "### example and counter": Example, "## A cause file": CauseFile,
}  # fmt: skip


def section(text: str, heading: str) -> str:
    """From a heading to the next one of any level."""
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def table(text: str) -> list[list[str]]:
    """The rows under the rule of a table, with the first cell in backquotes."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:3] == "| `"]
    return [[row[0].strip("` "), *row[1:]] for row in rows]


def fences(text: str, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("heading", MODELS)
def test_every_key_of_a_file_is_described(heading: str) -> None:
    assert [row[0] for row in table(section(FAILURES, heading))] == list(MODELS[heading].model_fields)


def test_the_table_of_facts_is_that_of_the_code() -> None:
    rows = table(section(FAILURES, "## Facts"))
    assert [(row[0], row[1]) for row in rows] == list(FACTS.items())
    assert all(len(row) == 3 and row[2] for row in rows)


def test_the_conditions_that_are_shown_can_be_read() -> None:
    for line in fences(section(FAILURES, "## Conditions"))[0].splitlines():
        parse(line)
    assert parse("kv_usage > 90 %")[0].value == 0.9


def write(folder: Path, text: str) -> None:
    """A file of the document into the operator's folder."""
    made = tomllib.loads(text)
    inner = folder / ("failures" if "match" in made else "causes")
    inner.mkdir()
    (inner / f"{made['id']}.toml").write_text(text, "utf-8")


@pytest.fixture
def own(tmp_path: Path) -> LoadedBook:
    """The book with the files of the document as the operator's own."""
    for text in fences(FAILURES, "toml"):
        write(tmp_path, text)
    return load_book(own=tmp_path)


def test_the_files_that_are_shown_work(own: LoadedBook) -> None:
    assert own.notes == ()
    rule = next(rule for rule in own.book.failures if rule.id == "exporter-stuck")
    for item in (*rule.example, *rule.counter):
        scanner, reader = Scanner(own.book), PastedReader()
        scanner.feed(item.text.splitlines(), "log", 1)
        reader.feed(item.context.splitlines())
        found = findings(own.book, scanner.close(), reader.facts())
        expected = [("exporter-stuck", item.cause)] if item in rule.example else []
        assert [(one.id, one.cause_id) for one in found] == expected


def test_the_broken_file_is_said_as_shown(tmp_path: Path) -> None:
    (shown,) = fences(section(FAILURES, "## A broken file"))
    failure, cause = fences(FAILURES, "toml")
    write(tmp_path, failure.replace(".{0,40}", ".*"))
    write(tmp_path, cause)
    (note,) = load_book(own=tmp_path).notes
    assert shown.split("exporter-stuck.toml")[1].strip() == note.split("exporter-stuck.toml")[1].strip()


@pytest.mark.parametrize("block", [text for text in fences(README) if text.startswith("$ dsv41-tui diagnose")])
def test_the_readme_shows_what_diagnose_prints(block: str) -> None:
    command, _, shown = block.partition("\n")
    done = run(sys.executable, "-m", *command.removeprefix("$ ").replace("-tui", "_tui").split(), LANG="C.UTF-8")
    assert done.stdout.strip() == shown.strip(), done.stderr


def test_links_lead_to_files_that_are_there() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_names_every_scenario_and_verb() -> None:
    scenarios = sorted(file.stem for file in (ROOT / "dsv41_tui/sandbox/scenarios").glob("*.toml"))
    assert [name for name in scenarios if f"`{name}`" not in README and f"={name}" not in README] == []
    help_text = run(sys.executable, "-m", "dsv41_tui", "--help", LANG="C.UTF-8").stdout
    verbs = re.findall(r"^    ([a-z]+) ", help_text, re.MULTILINE)
    assert verbs and all(f"dsv41-tui {verb}" in README for verb in verbs)
