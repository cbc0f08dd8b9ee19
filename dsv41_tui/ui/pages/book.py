"""What the state knows of a finding beside the finding: its rule in the failure book, and when logs showed it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dsv41_tui.core.messages import language
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.failure import FailureRule
    from dsv41_tui.core.finding import Finding
    from dsv41_tui.core.log import Occurrence


def said(text: Mapping[str, str]) -> str:
    """In the language of the panel, else in English."""
    return text.get(language()) or text.get("en", "")


def rule(view: View, finding: Finding) -> FailureRule | None:
    """The rule of the failure book that raised it; None for a finding of readings."""
    rules = view.state.book.failures if view.state else ()
    return next((rule for rule in rules if rule.id == finding.id), None)


def cause_title(view: View, cause_id: str) -> str:
    """The title of a cause; empty where the book does not have it."""
    cause = view.state.book.causes.get(cause_id) if view.state else None
    return said(cause.title) if cause else ""


def occurrence(view: View, finding: Finding) -> Occurrence | None:
    """When and where the logs showed it."""
    for node in view.nodes:
        if finding.node in (None, node.name):
            for seen in node.failures:
                if seen.rule == finding.id:
                    return seen
    return None
