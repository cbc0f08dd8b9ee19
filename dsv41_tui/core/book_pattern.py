"""One pattern of the failure book: by which literals its lines are found, and whether it matches one.

Law: what a match must hold (`core.pattern.edged`) is a plain literal. So a pattern is tried only where such a literal
stands, in bounded pieces: time grows with the line and no faster, whatever the line holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dsv41_tui.core.pattern import EDGE, edged, lead, width

PIECE = 4096
"""Characters that are searched at once; longer lines are cut into pieces that share `SHARED` characters."""
SHARED = 1024
"""The longest match that is found wherever a long line is cut. The shipped patterns match 500 characters at most."""
_REPEAT = 200
"""Characters that a repetition without a bound is taken to be long."""
_DIGITS = b"0123456789"
_LOWER = bytes(code + 32 if ord("A") <= code <= ord("Z") else code for code in range(256))
_HEX = re.compile(r"(?:(?<![0-9a-z])|(?<=0x))[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,8}(?![0-9a-z])")
"""Names that make every line new: identifiers of requests and containers, addresses, UUIDs."""
_HEX_AHEAD = re.compile(rf"^[x{EDGE}]{{0,2}}[0-9a-f{EDGE}-]+(?![0-9a-z])")
_HEX_BEHIND = re.compile(rf"(?<![0-9a-wyz])[0-9a-f{EDGE}-]+$")


def folded(line: str) -> str:
    """`line` with ASCII letters in lower case, character by character."""
    if line.isascii():
        return line.lower()
    # Ten times as fast as the translation of text.
    return line.encode("utf-8", "surrogatepass").translate(_LOWER).decode("utf-8", "surrogatepass")


def lowered(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_LOWER)


def without_digits(low: bytes) -> bytes:
    return low.translate(None, _DIGITS)


def template(text: str) -> bytes:
    """`text` in lower case without digits: what repeats in a log is equal then."""
    return text.encode("utf-8", "replace").translate(_LOWER, _DIGITS)


def nameless(text: str) -> bytes:
    """The template of `text` without long hexadecimal names."""
    return template(_HEX.sub("", folded(text)))


def needle(text: str) -> str:
    """What is left of a literal in each line that held it when hexadecimal names are taken out of the line.

    Such a name can begin before the literal or end behind it, so what can belong to one at its ends is not counted on.
    """
    text = _HEX_BEHIND.sub("", _HEX_AHEAD.sub("", text.lower()))
    return "" if _HEX.search(text.replace(EDGE, "")) else text


def pieces(length: int) -> Iterator[tuple[int, int, int]]:
    """Cuts of a long line: start, end, and where a match must begin to be counted to this piece."""
    step = PIECE - SHARED
    for start in range(0, max(1, length - SHARED), step):
        end = start + PIECE
        yield start, end, length + 1 if end >= length else start + step


class Pattern:
    """One pattern, with every use that is made of it. Rules are named by their place in the book."""

    __slots__ = (
        "_exact", "_lead", "_regex", "_width", "any", "clears", "exact", "finders", "keys", "literals", "marks", "near",
        "needles", "seen", "span", "text",
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        self.text = text
        self.literals = edged(text)
        """Of each set a match holds at least one."""
        self.needles: tuple[tuple[bytes, ...], ...] = ()
        """The same as they stand in nameless templates."""
        self.keys: tuple[str, ...] = ()
        """The set by which places in a line are found, in lower case."""
        self.exact: tuple[tuple[bytes, ...], ...] = ()
        """`literals` in lower case."""
        self.marks: tuple[bytes, ...] = ()
        """Those texts of the same set that hold no word: they are looked for as they are."""
        self.finders: tuple[tuple[bytes, bool], ...] = ()
        """By which lines are found: a part of a word of each text of one set, and whether it is that word whole."""
        self.any: list[int] = []
        self.near = False
        self.span = 1
        """Lines that the rules of `near` look back at most."""
        self.clears: list[int] = []
        self.seen = False
        self._exact: tuple[tuple[str, ...], ...] = ()
        self._lead = ""
        self._regex: re.Pattern[str] | None = None
        self._width = 0

    @property
    def wanted(self) -> bool:
        """Whether it must be found wherever it matches; `unless` is asked only where a rule hits."""
        return bool(self.any or self.near or self.clears or self.seen)

    @property
    def only_seen(self) -> bool:
        return self.seen and not (self.any or self.near or self.clears)

    def subject(self, line: str) -> str:
        """What the group `on` of the pattern takes in `line`: of whom it speaks; "" where the pattern has none."""
        if "(?P<on>" not in self.text:
            return ""
        found = (self._regex or self._compiled()).search(line, 0, PIECE)
        return (found["on"] or "") if found is not None else ""

    def holds(self, low: bytes) -> bool:
        """Whether a line in lower case holds what a match must hold."""
        return all(any(text in low for text in texts) for texts in self.exact)

    def fits(self, line: bytes) -> bool:
        """Whether a nameless template holds what a match must hold."""
        for needles in self.needles:  # a loop, since it runs on every new line: generators cost twice as much
            for text in needles:
                if text in line:
                    break
            else:
                return False
        return True

    def search(self, line: str, low: str | None = None) -> bool:
        """Whether the pattern matches in `line`; `low` is the line folded, where it is at hand."""
        regex = self._regex or self._compiled()
        if low is None:
            low = folded(line)
        for texts in self._exact:
            for text in texts:
                if text in low:
                    break
            else:
                return False
        if len(line) <= PIECE:
            return self.within(line, low, 0, len(line), len(line) + 1, regex)
        return any(self.within(line, low, *cut, regex) for cut in pieces(len(line)))

    def within(
        self, line: str, low: str, start: int, end: int, before: int, regex: re.Pattern[str] | None = None
    ) -> bool:
        """Whether a match begins from `start` to `before` and stands before `end`."""
        regex = regex or self._regex or self._compiled()
        first = self._lead
        if not first:
            return self._round(line, low, start, end, before, regex)
        place = low.find(first, start, end)
        while 0 <= place < before:
            if regex.match(line, place, end) is not None:
                return True
            place = low.find(first, place + 1, end)
        return False

    def _round(self, line: str, low: str, start: int, end: int, before: int, regex: re.Pattern[str]) -> bool:
        """The same round the keys only, where that is less than the whole."""
        around = self._width
        if end - start <= 4 * around or not self.keys:
            found = regex.search(line, start, end)
            return found is not None and found.start() < before
        for key in self.keys:
            for left, right in _windows(low, key, start, end, around):
                found = regex.search(line, left, min(end, right))
                if found is not None and found.start() < before and (found.end() < right or right >= end):
                    return True
        return False

    def _compiled(self) -> re.Pattern[str]:
        self._regex = re.compile(self.text, re.IGNORECASE)
        self._width = min(SHARED, width(self.text, _REPEAT)) + 2
        self._lead = folded(lead(self.text))
        texts = [tuple(folded(text.replace(EDGE, "")) for text in texts) for texts in self.literals]
        self._exact = tuple(one for one in texts if self._lead not in one and any(map(_has_digit, one)))
        return self._regex


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _windows(low: str, key: str, start: int, end: int, around: int) -> Iterator[tuple[int, int]]:
    """Stretches within `around` of the places of a key, those that touch joined, and cut where they grow long."""
    left = right = -1
    place = low.find(key, start, end)
    while place >= 0:
        if right < 0 or place - around > right:
            if right >= 0:
                yield left, right
            left = max(start, place - around)
        elif right - left > 8 * around:
            yield left, right
            left = max(start, place - around)
        right = place + len(key) + around
        place = low.find(key, place + 1, end)
    if right >= 0:
        yield left, right
