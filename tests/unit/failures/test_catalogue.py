"""Failures as they were reported: each is found, its cause is named with its readings, harmless lines are quiet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsv41_tui.core.book import scan
from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.decide_report import findings
from dsv41_tui.parsers.pasted import parse_pasted
from dsv41_tui.runtime.failures import load_book

DATA = Path(__file__).parents[2] / "data/failures/failures-open.json"
ENTRIES: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
BOOK = load_book().book
COMPILED = CompiledBook(BOOK)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])
def test_a_reported_failure(entry: dict[str, Any]) -> None:
    text, context = entry["example"], entry.get("context") or ""
    found = findings(BOOK, scan(COMPILED, text, context), parse_pasted(f"{context}\n{text}"))
    if entry["benign"]:
        assert [item.id for item in found if item.severity != "info"] == []
        return
    assert found, "nothing is found"
    first = found[0]
    assert first.causes[0].cause_id == entry["expected_cause_id"]
    assert first.cause_id == entry["expected_cause_id"]
    if context:
        assert first.causes[0].likelihood == "confirmed"
