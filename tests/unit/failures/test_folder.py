"""Every file of the book: its form, its texts, and its own examples, which are its tests."""

from __future__ import annotations

import random
import time
import tomllib

import pytest

from dsv41_tui import paths
from dsv41_tui.core.book import Scanner, scan
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.book_lookup import choose_keys
from dsv41_tui.core.book_pattern import SHARED, Pattern
from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.failure import Example, FailureRule
from dsv41_tui.core.finding import Finding
from dsv41_tui.core.messages import LANGUAGES
from dsv41_tui.core.pattern import requirements, width
from dsv41_tui.parsers.pasted import parse_pasted
from dsv41_tui.runtime.failures import cause_conditions, check_cause, check_rule, load_book, patterns

BOOK = load_book().book
COMPILED = CompiledBook(BOOK)
FAILURES = sorted((paths.DATA / "failures").glob("*.toml"))
CAUSES = sorted((paths.DATA / "causes").glob("*.toml"))
PLANS = {None, "start", "stop", "restart", "restart-proxy", "drop-cache", "sync", "link"}
EXAMPLES = [(rule, example) for rule in BOOK.failures for example in rule.example]
COUNTERS = [(rule, counter) for rule in BOOK.failures for counter in rule.counter]


def diagnosed(example: Example) -> tuple[Finding, ...]:
    report = scan(COMPILED, example.text, example.context)
    return findings(BOOK, report, parse_pasted(f"{example.context}\n{example.text}"))


def test_every_file_is_sound() -> None:
    assert {file.stem for file in FAILURES} == {rule.id for rule in BOOK.failures}
    assert {file.stem for file in CAUSES} == set(BOOK.causes)
    for rule in BOOK.failures:
        check_rule(rule, paths.DATA / "failures" / f"{rule.id}.toml", frozenset(BOOK.causes))
    for cause in BOOK.causes.values():
        check_cause(cause, paths.DATA / "causes" / f"{cause.id}.toml")
        assert cause.plan in PLANS, cause.id


def test_every_cause_is_used_and_every_fold_exists() -> None:
    used = {cause.id for rule in BOOK.failures for cause in rule.cause}
    assert set(BOOK.causes) - used == set()
    ids = {rule.id for rule in BOOK.failures}
    assert {name for rule in BOOK.failures for name in rule.folds} <= ids


def test_every_text_is_there_in_each_language() -> None:
    texts = [(rule.id, text) for rule in BOOK.failures for text in (rule.title, rule.what) if text]
    texts += [(rule.id, text) for rule in BOOK.failures for c in rule.cause for text in (c.why, c.fix) if text]
    texts += [(cause.id, text) for cause in BOOK.causes.values() for text in (cause.title, cause.fix)]
    for name, text in texts:
        assert set(text) == set(LANGUAGES), name
        assert all(part.strip() for part in text.values()), name


def test_every_failure_has_an_example_and_says_what_shows_it() -> None:
    for rule in BOOK.failures:
        assert rule.match.any or rule.match.reading, rule.id
        assert rule.example or rule.severity == "none", rule.id
        assert rule.cause or rule.severity == "none", rule.id


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=[rule.id for rule, _ in EXAMPLES])
def test_an_example_is_found_with_its_cause(rule: FailureRule, example: Example) -> None:
    found = diagnosed(example)
    if rule.severity == "none":
        assert [item.id for item in found if item.severity != "info"] == []
        assert any(tally.rule == rule.id for tally in scan(COMPILED, example.text).tallies)
        return
    own = next((item for item in found if item.id == rule.id), None)
    if own is None:
        heads = [item for item in found if item.severity == "error"]
        assert heads and (rule.echo or any(rule.id in head.folds for head in BOOK.failures)), found
        return
    assert own.cause_id == example.cause
    if example.confirmed:
        assert own.causes[0].likelihood == "confirmed"


@pytest.mark.parametrize(("rule", "counter"), COUNTERS, ids=[rule.id for rule, _ in COUNTERS])
def test_a_counter_example_is_quiet(rule: FailureRule, counter: Example) -> None:
    assert [item for item in diagnosed(counter) if item.id == rule.id and item.severity != "info"] == []


def test_reading_the_book_makes_only_what_is_written() -> None:
    for file in FAILURES:
        raw = tomllib.loads(file.read_text("utf-8"))
        assert raw["id"] == file.stem
        assert {"any", "reading"} & set(raw["match"]), file.stem


def _hostile(pattern: str, chance: random.Random, size: int) -> str:
    """Text made of a pattern's own literals, which is what makes it go back most."""
    pieces = [text for texts in requirements(pattern) for text in texts] + [" ", "a", "0", "="]
    made: list[str] = []
    length = 0
    while length < size:
        made.append(chance.choice(pieces))
        length += len(made[-1])
    return "".join(made)[:size]


def _cost(pattern: Pattern, lines: list[str]) -> float:
    best = 9e9
    for _ in range(2):
        began = time.process_time()
        for line in lines:
            pattern.search(line)
        best = min(best, time.process_time() - began)
    return best


def test_no_pattern_is_slower_than_linear_on_text_of_its_own_literals() -> None:
    """Each pattern on lines of 1 KB and on one of 4 KB: four times the text costs no more than eight times."""
    chance = random.Random(5)
    texts = {text for rule in BOOK.failures for _, text in patterns(rule)}
    slow: list[str] = []
    known = [Pattern(text) for text in sorted(texts)]
    choose_keys(known)
    for pattern in known:
        line = _hostile(pattern.text, chance, 4000)
        pattern.search("")
        whole = _cost(pattern, [line])
        if whole < 0.002:
            continue
        parts = _cost(pattern, [line[start : start + 1000] for start in range(0, 4000, 1000)])
        if whole > 2 * parts + 0.002:
            slow.append(f"{pattern.text}: {whole:.4f} s whole, {parts:.4f} s in parts")
    assert slow == []


def test_each_match_is_found_wherever_a_long_line_is_cut() -> None:
    assert {one.text: size for one in COMPILED.patterns if (size := width(one.text, 100)) > SHARED} == {}


def test_conditions_of_causes_are_read_once() -> None:
    assert all(text for cause in BOOK.causes.values() for _, text in cause_conditions(cause))


def test_hostile_text_of_all_needles_is_scanned_in_bounded_work() -> None:
    chance = random.Random(6)
    literals = [text for pattern in COMPILED.patterns for texts in requirements(pattern.text) for text in texts]
    line = "".join(chance.choice(literals) for _ in range(4_000))
    scanner = Scanner(COMPILED)
    scanner.feed([line])
    assert scanner.close().lines == 1
