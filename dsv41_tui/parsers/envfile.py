"""The operator's recipe `.env`, a file that launchers source with `set -a; . ./.env`, read without running anything.

Grammar: shell words as in `_shell.py`. Plain assignments give values, with expansions from earlier lines and from a
whitelist; whatever only a shell could tell (commands, arithmetic, other expansions, `;`, pipes, redirections, the
inside of `if`, loops and functions) marks its key as computed. Traps: the later assignment wins; `K = v` assigns
nothing; in a file with CR LF the shell's values end in a carriage return.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from dsv41_tui.core.envfile import EnvCommand, EnvEntry, EnvFile, secret_name
from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers._shell import Scanner
from dsv41_tui.parsers._shell_words import (
    BEFORE_COMMANDS,
    DECLARERS,
    Assignment,
    Line,
    Operator,
    Part,
    Text,
    Token,
    Unreadable,
    Variable,
    Word,
)

_LARGEST = 1 << 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_ASSIGNMENT = re.compile(r"([^\s=\"'$`]+?)\+?=")
# What can be shown of a line that is no plain assignment: a command or a key, never a piece of a pasted key or token.
_SHOWABLE = re.compile(
    r"\[|[a-z0-9_.~/-]{1,24}|\.{0,2}/[a-z0-9_./-]{1,48}|[A-Z0-9]{1,12}|[A-Z0-9]*[_-][A-Z0-9_-]{0,40}"
)
_SPLITS = re.compile(r"[\s*?\[]")
_OPENERS = frozenset({"if", "while", "until", "for", "select", "case", "{", "("})
_CLOSERS = frozenset({"fi", "done", "esac", "}", ")"})
_KEEPS_VALUES = frozenset({"-x", "-g", "-r", "-rx", "-xr", "-gx", "-xg", "--"})
_HARMLESS = frozenset({"set", ":", "true", "shopt", *DECLARERS, *_OPENERS, *_CLOSERS})


def parse_env(text: str, known: Mapping[str, str] | None = None) -> EnvFile:
    """Read the file; `known` gives variables that it can use without setting them, such as HOME and USER.

    Never executes anything. Raises ParseError only for what is no such file: larger than 1 MiB, or with NUL bytes.
    """
    if len(text) > _LARGEST:
        raise ParseError(f"the env file is larger than {_LARGEST >> 10} KiB; name the recipe's .env")
    if "\0" in text:
        raise ParseError("the env file holds NUL bytes; name the recipe's .env")
    return _Reader(text, known or {}).read()


class _Computed(Exception):
    """Only a shell could tell the value; the text is the reason."""


class _Reader:
    """Walks the logical lines once and keeps what each name stands for so far."""

    def __init__(self, text: str, known: Mapping[str, str]) -> None:
        self._returns = {number for number, line in enumerate(text.split("\n"), start=1) if line.endswith("\r")}
        self._scanner = Scanner(re.sub(r"\r$", "", text, flags=re.MULTILINE))
        self._known = dict(known)
        self._set: dict[str, EnvEntry] = {}
        self._arrays: set[str] = set()
        self._entries: list[EnvEntry] = []
        self._commands: list[EnvCommand] = []
        self._open: list[str] = []

    def read(self) -> EnvFile:
        while (line := self._scanner.next_line()) is not None:
            self._line(line)
        counts = Counter(entry.key for entry in self._entries if not entry.error)
        entries = (
            entry.model_copy(update={"duplicate": True}) if counts[entry.key] > 1 else entry for entry in self._entries
        )
        return EnvFile(entries=tuple(entries), commands=tuple(self._commands))

    # Lines and commands

    def _line(self, line: Line) -> None:
        blocks = [*self._open, *self._track_blocks(line.tokens)]
        operator = next((token.text for token in line.tokens if isinstance(token, Operator)), None)
        why = f"stands inside {blocks[0]}" if blocks else f"has {operator} on its line" if operator else None
        for command in _commands(line.tokens):
            self._command(command, line, why)
        if line.broken is not None:
            self._broken(line, line.broken)

    def _track_blocks(self, tokens: Sequence[Token]) -> list[str]:
        """Open and close blocks by their words where a command can start; returns those that this line opened."""
        opened: list[str] = []
        starts, previous = True, ""
        for token in tokens:
            operator = isinstance(token, Operator)
            word = token.text if isinstance(token, Operator) else token.raw if isinstance(token, Word) else ""
            if (operator or starts) and word in _OPENERS:
                self._open.append(word)
                opened.append(word)
            elif (operator or starts) and word in _CLOSERS and self._open and (word != ")" or self._open[-1] == "("):
                # Any other ) ends a pattern of `case` and closes nothing.
                self._open.pop()
            starts = operator or previous == "function" or (starts and word in {*BEFORE_COMMANDS, "function"})
            previous = word
        return opened

    def _command(self, tokens: Sequence[Token], line: Line, why: str | None) -> None:
        words = [token for token in tokens if isinstance(token, Word)]
        assignments = [token for token in tokens if isinstance(token, Assignment)]
        declares = bool(words) and words[0].raw in DECLARERS
        if declares and {word.raw for word in words if word.raw[0] in "-+"} - _KEEPS_VALUES:
            why = why or "is declared with flags"
        if words and assignments and not declares:
            self._prefix(assignments, line)
            return
        for assignment in assignments:
            self._assign(assignment, line, why)
        for word in words:
            self._note_settings(word.parts, word.line)
        if words:
            self._words(words, line, why)

    def _words(self, words: Sequence[Word], line: Line, why: str | None) -> None:
        """A command: a failed assignment, something harmless, or a line that runs something."""
        first = words[0]
        names = words[1:] if first.raw in DECLARERS else words
        like = _LIKE_ASSIGNMENT.match(first.raw)
        if first.raw == "unset":
            self._unset(words[1:], why)
        elif len(names) > 1 and names[1].raw.startswith("=") and _NAME.fullmatch(names[0].raw):
            raw = self._line_at(line, first).partition("=")[2].strip()
            self._fail(names[0].raw, first.line, raw, "blanks around =: the shell assigns nothing")
        elif like is not None:
            mark = "a byte order mark stands before the name" if like[1].startswith("\ufeff") else "not a name"
            self._fail(_showable(like[1]), first.line, first.raw[like.end() :], f"{mark}: the shell assigns nothing")
        elif first.raw not in _HARMLESS:
            self._commands.append(EnvCommand(line=first.line, text=_showable(first.raw)))

    def _prefix(self, assignments: Sequence[Assignment], line: Line) -> None:
        """`A=x y`: the shell runs y, with A set for that command alone. The reason does not show y, a secret's half."""
        reason = "a blank without quotes: the shell runs what follows as a command"
        for assignment in assignments:
            raw = self._scanner.text[assignment.start : line.end].split("\n")[0].strip()
            self._fail(assignment.key, assignment.line, raw, reason)

    def _broken(self, line: Line, what: str) -> None:
        """A quote that is not closed swallows the rest of the file, for the shell too."""
        start = line.broken_at
        like = _LIKE_ASSIGNMENT.match(self._scanner.text, start)
        raw = self._scanner.text[like.end() if like else start :]
        key = _showable(like[1] if like else raw)
        self._fail(key, self._scanner.line_of(start), raw, f"{what}: the rest of the file cannot be read")

    def _line_at(self, line: Line, word: Word) -> str:
        """The text line on which `word` stands."""
        lines = self._scanner.text[line.start : line.end].split("\n")
        return lines[word.line - self._scanner.line_of(line.start)]

    # Entries

    def _fail(self, key: str, line: int, raw: str, reason: str) -> None:
        self._entries.append(EnvEntry(key=key, line=line, raw=raw, error=True, reason=reason))

    def _add(self, entry: EnvEntry) -> None:
        self._entries.append(entry)
        self._set[entry.key] = entry

    def _unset(self, names: Sequence[Word], why: str | None) -> None:
        for name in names:
            if not _NAME.fullmatch(name.raw):
                continue
            self._add(EnvEntry(key=name.raw, line=name.line, computed=True, reason=why or "is unset"))
            if why is None:
                self._set.pop(name.raw)
                self._arrays.discard(name.raw)
                self._known.pop(name.raw, None)

    def _assign(self, assignment: Assignment, line: Line, why: str | None) -> None:
        text = self._scanner.text
        value: str | tuple[str, ...] | None = None
        try:
            value = self._value(assignment, why)
        except _Computed as reason:
            why = str(reason)
        if assignment.items is not None or assignment.subscript:
            self._arrays.add(assignment.key)
        self._note_settings(assignment.parts, assignment.line)
        end = line.end if why is not None and why.startswith("has ") else assignment.end
        self._add(
            EnvEntry(
                key=assignment.key,
                line=assignment.line,
                raw=text[assignment.start : end].strip(),
                value=value if isinstance(value, str) else None,
                items=value if isinstance(value, tuple) else None,
                computed=value is None,
                reason=why,
                tainted=self._tainted(assignment),
                carriage_return=self._has_return(assignment),
            )
        )

    def _tainted(self, assignment: Assignment) -> bool:
        """Whether a secret goes into the value: one that it names, or one that stood there before."""
        parts = [*assignment.parts, *(part for word in assignment.items or () for part in word.parts)]
        before = self._set.get(assignment.key) if assignment.append or assignment.subscript else None
        return self._uses_secret(parts) or (before is not None and before.secret)

    def _uses_secret(self, parts: Sequence[Part]) -> bool:
        for part in parts:
            if isinstance(part, Variable):
                entry = self._set.get(part.name)
                secret = secret_name(part.name) if entry is None else entry.secret
                if secret or self._uses_secret(part.default):
                    return True
        return False

    def _has_return(self, assignment: Assignment) -> bool:
        """Whether a carriage return stands inside the value or right after it, and so belongs to it."""
        last = self._scanner.line_of(assignment.end)
        ends_line = self._scanner.text[assignment.end : assignment.end + 1] in ("", "\n")
        return any(number in self._returns for number in range(assignment.line, last + ends_line))

    def _note_settings(self, parts: Sequence[Part], line: int) -> None:
        """`${NAME:=word}` sets NAME beside what it stands in."""
        for part in parts:
            if isinstance(part, Unreadable) and part.assigns is not None:
                self._add(EnvEntry(key=part.assigns, line=line, computed=True, reason="is set by ${ := }"))

    # Values

    def _value(self, assignment: Assignment, why: str | None) -> str | tuple[str, ...]:
        if why is not None:
            raise _Computed(why)
        if assignment.subscript:
            raise _Computed("sets one element of an array")
        if assignment.items is None and assignment.key in self._arrays:
            raise _Computed("sets one element of an array")
        items = assignment.items
        value = self._expand(assignment.parts) if items is None else tuple(self._item(word) for word in items)
        return self._added(assignment.key, value) if assignment.append else value

    def _added(self, key: str, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        """`KEY+=`: text to text, words to words; a text becomes the first word of an array."""
        before = self._set.get(key)
        old = self._known.get(key, "") if before is None else before.value if before.items is None else before.items
        if old is None:
            raise _Computed(f"adds to {key}, which is computed")
        if isinstance(value, tuple):
            present = old if isinstance(old, tuple) else (old,) if before is not None else ()
            return present + value
        assert isinstance(old, str)
        return old + value

    def _item(self, word: Word) -> str:
        if any(isinstance(part, Text) and part.pattern for part in word.parts):
            raise _Computed("holds a pattern")
        value = self._expand(word.parts)
        bare = any(isinstance(part, Variable) and not part.quoted for part in word.parts)
        if bare and (not value or _SPLITS.search(value)):
            raise _Computed("holds an expansion that the shell splits")
        return value

    def _expand(self, parts: Sequence[Part]) -> str:
        return "".join(part.text if isinstance(part, Text) else self._variable(part) for part in parts)

    def _variable(self, part: Variable | Unreadable) -> str:
        if isinstance(part, Unreadable):
            raise _Computed(part.reason)
        entry = self._set.get(part.name)
        value = self._known.get(part.name) if entry is None else entry.value
        if entry is not None and value is None:
            raise _Computed(f"uses {part.name}, which is {'computed' if entry.computed else 'an array'}")
        if part.operator and (value is None or (part.operator == ":-" and not value)):
            return self._expand(part.default)
        if value is None:
            raise _Computed(f"uses {part.name}, which this file does not set")
        return value


def _showable(word: str) -> str:
    """The first word of a line where it is a plain one, without a colon after it; else `…`."""
    first = clean_line(word, 200).split(" ")[0].rstrip(":")
    return first if _SHOWABLE.fullmatch(first) or (_NAME.fullmatch(first) is not None and len(first) <= 12) else "…"


def _commands(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at operators; targets of redirections, and words such as `if` before a command, are dropped."""
    commands: list[list[Token]] = [[]]
    redirected = False
    for token in tokens:
        if isinstance(token, Operator):
            redirected = token.text[0] in "<>" or token.text == "&>"
            if not redirected:
                commands.append([])
        elif redirected:
            redirected = False
        elif commands[-1] or not (isinstance(token, Word) and token.raw in BEFORE_COMMANDS):
            commands[-1].append(token)
    return [command for command in commands if command]
