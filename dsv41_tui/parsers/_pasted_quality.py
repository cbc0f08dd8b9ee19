"""Answers of a model that somebody pasted: scripts that do not belong into one sentence.

A Chinese sentence with Cyrillic, Thai, Hangul or Arabic letters between its characters, or with kana and Cyrillic
together, is written by a damaged model. Kana beside Han alone is Japanese and says nothing.
"""

from __future__ import annotations

from dsv41_tui.parsers._pasted_rules import CJK, Rule, rule

_FOREIGN = "\u0400-\u04ff\u0e00-\u0e7f\uac00-\ud7a3\u0621-\u064a"
_MIXED = (
    rf"[\u4e00-\u9fff][{_FOREIGN}]{{2,40}}[\u4e00-\u9fff]"
    r"|[\u3041-\u30fa][^\n]{0,80}[\u0400-\u04ff]|[\u0400-\u04ff][^\n]{0,80}[\u3041-\u30fa]"
)

RULES: tuple[Rule, ...] = (rule(CJK, _MIXED, lambda match, notes: notes.put("mixed_scripts", True), every=True),)
