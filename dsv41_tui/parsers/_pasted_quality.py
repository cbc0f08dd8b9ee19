"""Answers of a model that somebody pasted: scripts that do not belong into one sentence.

A Chinese sentence with Cyrillic, Thai, Hangul or Arabic letters between its characters, or with kana and Cyrillic
together, is written by a damaged model. Kana beside Han alone is Japanese and says nothing.
"""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import CJK, Notes, Rule, is_logged, rule

_FOREIGN = "\u0400-\u04ff\u0e00-\u0e7f\uac00-\ud7a3\u0621-\u064a"
_MIXED = (
    rf"[\u4e00-\u9fff][{_FOREIGN}]{{2,40}}[\u4e00-\u9fff]"
    r"|[\u3041-\u30fa][^\n]{0,80}[\u0400-\u04ff]|[\u0400-\u04ff][^\n]{0,80}[\u3041-\u30fa]"
)


def _sum(match: re.Match[str], notes: Notes) -> None:
    """`17*19 answered "the harbour"`: worked out and compared. What only says what has to come is no answer."""
    a, b = int(match["a"]), int(match["b"])
    right = a + b if match["op"] in "+" or match["op"].lower() == "plus" else a * b
    answer = match["answer"].lower()
    if is_logged(notes.line) or re.match(r"(?:must|should|has to|expected|as a|the (?:smoke )?test)\b", answer):
        return
    good = re.search(rf"(?<!\d){right}(?!\d)|^(?:fine|ok|right|correct\w*|well|as expected)\b", answer)
    denied = re.search(rf"\b(?:not|instead of|n't) (?:give )?{right}", answer)
    notes.put("sum_wrong", not good or bool(denied))


_SUM = r"(?<![\w.])(?P<a>\d{1,4}) ?(?P<op>[*x×+]|times|plus) ?(?P<b>\d{1,4})(?![\d.])"
_ANSWERED = r"(?:answered|answers|gives|gave|returned|returns|says|said|yields|prints|printed|came (?:back|out) as|got)"
RULES: tuple[Rule, ...] = (
    rule(CJK, _MIXED, lambda match, notes: notes.put("mixed_scripts", True), every=True),
    rule("answered answers gives gave returned returns says said yields prints printed came got",
         rf"{_SUM},?(?: (?:is|was|question|prompt|already|now|only|it|the model|rank \d)){{0,3}},?"
         rf" {_ANSWERED}[ :]{{1,2}}"
         r"(?P<answer>[^\n;,]{1,60})", _sum),
)  # fmt: skip
