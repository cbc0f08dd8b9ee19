"""Harmless texts raise no alarm: healthy boots, wanted stops, retries that succeed, settings, quotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsv41_tui.core.book import scan
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.decide_report import findings
from dsv41_tui.core.finding import Finding
from dsv41_tui.parsers.pasted import parse_pasted
from dsv41_tui.runtime.failures import load_book

TEXTS = sorted((Path(__file__).parents[2] / "data/failures/benign").glob("*.txt"))
BOOK = load_book().book
COMPILED = CompiledBook(BOOK)


def alarms(text: str) -> list[Finding]:
    return [item for item in findings(BOOK, scan(COMPILED, text), parse_pasted(text)) if item.severity != "info"]


@pytest.mark.parametrize("file", TEXTS, ids=[file.stem for file in TEXTS])
def test_a_harmless_text_is_quiet(file: Path) -> None:
    assert [(item.id, item.first_line) for item in alarms(file.read_text("utf-8"))] == []


def test_there_are_texts_of_every_kind() -> None:
    assert len(TEXTS) >= 60
