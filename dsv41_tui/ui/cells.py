"""Text measured in terminal cells: cut and wrapped so that no wide character is ever split.

CJK text wraps between ideographs, with none of the closing marks at a line's start and no opening one at its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from dsv41_tui.core.text import clean

NO_START = frozenset("。，、；：？！）」』】〉》〕］｝”’…‥・ー％°.,;:?!)]}%")
"""Never the first character of a line."""
NO_END = frozenset("（「『【〈《〔［｛“‘([{")
"""Never the last one."""
MEASURE = 96
"""The widest line of running text."""


def safe(text: str) -> str:
    """One line without anything that acts on a terminal; free of charge for ordinary text."""
    if text.isprintable():
        return text
    return " ".join(clean(text).replace("\t", " ").split("\n"))


def take(text: str, cells: int) -> str:
    """The longest beginning of `text` that fits in `cells`."""
    if cell_len(text) <= cells:
        return text
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:index]
    return text


def take_end(text: str, cells: int) -> str:
    """The longest end of `text` that fits in `cells`."""
    return take(text[::-1], cells)[::-1]


def cut(text: str, cells: int, mark: str = "…") -> str:
    """`text` if it fits, else its beginning with `mark` at the end."""
    if cell_len(text) <= cells:
        return text
    return take(text, max(0, cells - cell_len(mark))) + mark if cells >= cell_len(mark) else take(text, cells)


def cut_front(text: str, cells: int, mark: str = "…") -> str:
    """`text` if it fits, else its end with `mark` before it: the end tells names and paths apart."""
    if cell_len(text) <= cells:
        return text
    return mark + take_end(text, max(0, cells - cell_len(mark))) if cells >= cell_len(mark) else take_end(text, cells)


def cut_word(text: str, cells: int, mark: str = "…") -> str:
    """Cut at a word, so that a number is never shown without its last digits."""
    room = cells - cell_len(mark)
    if cell_len(text) <= cells or room < 0:
        return take(text, cells)
    head = ""
    for piece in _pieces(text):
        if cell_len(head + piece.rstrip()) > room:
            break
        head += piece
    return head.rstrip(" ,;:") + mark if head.strip() else cut(text, cells, mark)


def pad(text: str, cells: int) -> str:
    """`text` filled with spaces to `cells`; longer text stays."""
    return text + " " * max(0, cells - cell_len(text))


def wrap(text: str, cells: int, *, commas: bool = True) -> list[str]:
    """Lines of at most `cells`; a word longer than a line is broken, nothing is lost but spaces at line ends.

    `commas` lets a list of options break behind its commas; never inside a number.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _pieces(paragraph, commas=commas):
            if cell_len(line + piece.rstrip()) <= cells:
                line += piece
                continue
            if line.strip():
                lines.append(line.rstrip())
            line = piece
            while cell_len(line.rstrip()) > cells:
                head = _head(line, cells)
                lines.append(head)
                line = line[len(head) :]
        lines.append(line.rstrip())
    return lines


def _head(word: str, cells: int) -> str:
    """The part of a too long word that goes on this line; a closing mark takes a character with it to the next."""
    head = take(word, cells) or word[:1]
    while len(head) > 1 and word[len(head) : len(head) + 1] in NO_START:
        head = head[:-1]
    return head


def wrap_command(command: str, cells: int) -> list[str]:
    """A shell command over several lines, whole; continuation lines are indented by three cells."""
    lines = wrap(command, cells, commas=False)
    if len(lines) == 1:
        return lines
    rest = wrap(command[len(lines[0]) :].lstrip(), max(1, cells - 3), commas=False)
    return [lines[0], *("   " + line for line in rest)]


def _pieces(text: str, *, commas: bool = False) -> Iterator[str]:
    """Unbreakable pieces with the spaces that follow them."""
    piece = ""
    for index, character in enumerate(text):
        piece += character
        following = text[index + 1 : index + 2]
        comma = commas and character == "," and not following.isdigit()
        if following and (comma or _may_break(character, following)):
            yield piece
            piece = ""
    if piece:
        yield piece


def _may_break(before: str, after: str) -> bool:
    if after in NO_START or before in NO_END or after == " ":
        return False
    return before == " " or cell_len(before) == 2 or cell_len(after) == 2
