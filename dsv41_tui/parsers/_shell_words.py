"""What `_shell.py` reads and `envfile.py` interprets: words, assignments, operators, and the pieces of a word."""

from __future__ import annotations

from typing import NamedTuple

DECLARERS = frozenset({"export", "readonly", "declare", "typeset", "local"})
"""Commands whose arguments can be assignments."""
BEFORE_COMMANDS = frozenset({"if", "while", "until", "then", "else", "elif", "do", "{", "!", "time"})
"""Words after which a command starts."""


class Text(NamedTuple):
    """Literal characters; `pattern` marks an unquoted one that the shell expands outside of assignments."""

    text: str
    pattern: bool = False


class Variable(NamedTuple):
    """`$NAME`, with `operator` `-` or `:-` and the word that stands in for an absent value."""

    name: str
    operator: str = ""
    default: tuple[Part, ...] = ()
    quoted: bool = False


class Unreadable(NamedTuple):
    """Something that only a shell could evaluate; `assigns` is the name that it sets, if any."""

    reason: str
    assigns: str | None = None


Part = Text | Variable | Unreadable


class Word(NamedTuple):
    """A word of a command or of an array."""

    parts: tuple[Part, ...]
    raw: str
    line: int


class Assignment(NamedTuple):
    """`NAME=word`, `NAME+=word` or `NAME=(words)`; `start` and `end` bound the value in the text."""

    key: str
    line: int
    start: int
    end: int
    append: bool
    subscript: bool
    parts: tuple[Part, ...] = ()
    items: tuple[Word, ...] | None = None


class Operator(NamedTuple):
    """What ends a command or redirects it."""

    text: str


Token = Word | Assignment | Operator


class Line(NamedTuple):
    """One logical line. `broken` says what is not closed in the token at `broken_at`: nothing after it can be read."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    broken_at: int = 0
    broken: str | None = None
