"""The operator's own files: they beat shipped ones, and a broken one is one line and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui import paths
from dsv41_tui.core.text import clean_line
from dsv41_tui.runtime.failures import load_book

GOOD = """
id = "mine"
layer = "disk"
severity = "low"
title = { en = "Mine" }
[match]
any = ['my own trouble']
"""
CAUSE = 'id = "my_cause"\ntitle = { en = "mine" }\nfix = { en = "mend" }\n'


def write(folder: str, name: str, text: str | bytes) -> Path:
    file = paths.config_dir() / folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_an_own_file_is_read_and_beats_a_shipped_one() -> None:
    shipped = load_book().book
    write("failures", "mine.toml", GOOD)
    first = shipped.failures[0].id
    write("failures", f"{first}.toml", GOOD.replace('"mine"', f'"{first}"'))
    write("causes", "my_cause.toml", CAUSE)
    book, notes = load_book()
    rules = {rule.id: rule for rule in book.failures}
    assert notes == () and len(book.failures) == len(shipped.failures) + 1
    assert rules["mine"].title["en"] == rules[first].title["en"] == "Mine"
    assert "my_cause" in book.causes


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("id = ", "line 1"),
        (GOOD + "\n[match]\n", "line"),
        (b"\xff\xfe", "UTF-8"),
        (GOOD.replace("layer", "layr"), "layer"),
        (GOOD.replace('"low"', '"awful"'), "line 4, severity"),
        (GOOD.replace('"mine"', '"other"'), "other"),
        (GOOD.replace("'my own trouble'", "'(a+)+trouble'"), "line 7, match.any[0]"),
        (GOOD.replace("'my own trouble'", "'trouble.*'"), ".{0,120}"),
        (GOOD.replace("'my own trouble'", "'(my own'"), "match.any[0]"),
        (GOOD.replace("'my own trouble'", "'a'"), "literal"),
        (GOOD + "when = 'no_such > 3'\n", "match.when"),
        (GOOD + "when = 'seen /(x+)+long/'\n", "match.when"),
        (GOOD.replace('{ en = "Mine" }', '{ fr = "Mienne" }'), "title"),
        (GOOD + '[[cause]]\nid = "unheard_of"\n', "unheard_of"),
        (GOOD + '[[cause]]\nid = "memlock_ulimit"\nconfirmed_by = ["memlock <"]\n', "cause[0].confirmed_by[0]"),
        ("x = " + "[" * 4000, ""),
    ],
)
def test_a_broken_file_is_one_line_that_says_where(text: str | bytes, part: str) -> None:
    count = len(load_book().book.failures)
    file = write("failures", "mine.toml", text)
    book, (note,) = load_book()
    assert str(file) in note and part in note and note == clean_line(note, 2000)
    assert len(book.failures) == count


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (CAUSE.replace("mend", ""), "fix"),
        (CAUSE + 'confirmed_by = ["memlock <"]\n', "confirmed_by[0]"),
        (CAUSE.replace('"my_cause"', '"My Cause"'), "id"),
    ],
)
def test_a_broken_cause_is_one_line_too(text: str, part: str) -> None:
    file = write("causes", "my_cause.toml", text)
    book, (note,) = load_book()
    assert str(file) in note and part in note
    assert "my_cause" not in book.causes


def test_no_folder_and_a_file_in_its_place_are_no_trouble() -> None:
    assert load_book().notes == ()
    write(".", "failures", "a file")
    assert load_book().notes == ()
