r"""Shell words without a shell, for `envfile.py`: a file becomes logical lines of words, assignments and operators.

Words follow POSIX and bash: `#` begins a comment only at the start of a word; single quotes are literal; double quotes
know `\" \\ \$` and the backquote; a backslash outside takes the next character; a backslash before the line's end joins
the lines; pieces that touch are one word. Of expansions only `$NAME ${NAME} ${NAME:-word} ${NAME-word}` and `~` are
understood; all others become `Unreadable` and are skipped whole, nested quotes and parentheses included.
"""

from __future__ import annotations

import re
from bisect import bisect_right

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

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]\s]*\])?(\+?)=")
_PLAIN = re.compile(r"[^\s\\'\"$`~;&|<>()*?\[{}]+")
_QUOTED_PLAIN = re.compile(r"[^\\\"$`}]+")
_NAMED = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:\}|(:?-)))")
_SETTING = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?=")
_OPERATOR = re.compile(r"&&|\|\||;;|<<<|<<-?|>>|[<>]\(|[<>]&|&>|[;&|<>()]")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_ENDS = frozenset(" \t\n;&|<>()")
_PATTERNS = frozenset("*?[{")
_PARAMETERS = frozenset("0123456789@*#?$!-")
_JOINING = frozenset({"&&", "||", "|"})
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_DEEPEST = 20


class _Unclosed(Exception):
    """The text ends inside a quote or a parenthesis."""


class Scanner:
    """Reads logical lines from a text with line feeds only; the time is linear in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._depth = 0
        self._here: list[str] = []
        self._command: str | None = None

    def line_of(self, position: int) -> int:
        """Number of the line, from 1."""
        return bisect_right(self._starts, position)

    def next_line(self) -> Line | None:
        """The next line that holds anything but blanks and comments; None at the end."""
        tokens: list[Token] = []
        start = begun = self._at
        self._command = None
        try:
            while self._at < len(self.text):
                if self._reach_token():
                    begun = self._at
                    start = start if tokens else begun
                    tokens.append(self._token(tokens))
                elif self._ends_line(tokens):
                    break
        except _Unclosed as unclosed:
            self._at = len(self.text)
            return Line(start, self._at, tuple(tokens), begun, str(unclosed))
        return Line(start, self._at, tuple(tokens)) if tokens else None

    # Lines and tokens

    def _reach_token(self) -> bool:
        """Pass blanks and a comment; False at a line feed or at the end."""
        if blanks := _BLANKS.match(self.text, self._at):
            self._at = blanks.end()
        if self.text.startswith("#", self._at):
            self._at = self._line_feed()
        return self._at < len(self.text) and self.text[self._at] != "\n"

    def _ends_line(self, tokens: list[Token]) -> bool:
        """Take a line feed; after an operator such as `&&` the command goes on below."""
        last = tokens[-1] if tokens else None
        self._at = min(self._at + 1, len(self.text))
        if last is None or (isinstance(last, Operator) and last.text in _JOINING):
            return False
        while self._here:
            self._skip_here_document(self._here.pop(0))
        return True

    def _skip_here_document(self, delimiter: str) -> None:
        while self._at < len(self.text):
            end = self._line_feed()
            line = self.text[self._at : end].lstrip("\t")
            self._at = min(end + 1, len(self.text))
            if line == delimiter:
                return

    def _line_feed(self) -> int:
        found = self.text.find("\n", self._at)
        return len(self.text) if found < 0 else found

    def _token(self, before: list[Token]) -> Token:
        last = before[-1] if before else None
        if operator := _OPERATOR.match(self.text, self._at):
            self._at = operator.end()
            self._command = None
            if operator[0] in ("<(", ">("):
                self._skip(")")
            return Operator(operator[0])
        if self._command is None or self._command in DECLARERS:
            match = _ASSIGNMENT.match(self.text, self._at)
            if match is not None:
                return self._assignment(match)
        word = self._word()
        if self._command is None and word.raw not in BEFORE_COMMANDS:
            self._command = word.raw
        if isinstance(last, Operator) and last.text in ("<<", "<<-"):
            self._here.append(re.sub(r"[\\'\"]", "", word.raw))
        return word

    def _assignment(self, match: re.Match[str]) -> Assignment:
        line = self.line_of(self._at)
        self._at = match.end()
        items: tuple[Word, ...] | None = None
        parts: tuple[Part, ...] = ()
        if self.text.startswith("(", self._at):
            self._at += 1
            items = self._array()
        else:
            parts = self._parts()
        subscript = match[2] is not None
        return Assignment(match[1], line, match.end(), self._at, match[3] == "+", subscript, parts, items)

    def _array(self) -> tuple[Word, ...]:
        items: list[Word] = []
        while True:
            while not self._reach_token():
                if self._at >= len(self.text):
                    raise _Unclosed("an array is not closed by )")
                self._at += 1
            if self.text[self._at] == ")":
                self._at += 1
                return tuple(items)
            if operator := _OPERATOR.match(self.text, self._at):
                items.append(Word((Unreadable(f"holds {operator[0]}"),), operator[0], self.line_of(self._at)))
                self._at = operator.end()
            else:
                items.append(self._word())

    def _word(self) -> Word:
        start = self._at
        parts = self._parts()
        return Word(parts, self.text[start : self._at], self.line_of(start))

    # Inside a word

    def _parts(self) -> tuple[Part, ...]:
        parts: list[Part] = []
        home = True  # a ~ here means home: at the start, or after a colon that is not quoted
        while self._at < len(self.text) and self.text[self._at] not in _ENDS:
            if self.text.startswith("\\\n", self._at):
                self._at += 2
                continue
            if home and self.text[self._at] == "~":
                parts.append(self._tilde())
                home = False
                continue
            plain = _PLAIN.match(self.text, self._at)
            parts += self._piece()
            home = plain is not None and plain[0].endswith(":")
        return tuple(parts)

    def _tilde(self) -> Part:
        self._at += 1
        following = self.text[self._at : self._at + 1]
        if not following or following in _ENDS or following in "/:":
            return Variable("HOME", quoted=True)
        return Unreadable("uses the home of another user")

    def _piece(self) -> tuple[Part, ...]:
        """One piece outside of double quotes; a blank or an operator gets here only inside `${NAME:-word}`."""
        char = self.text[self._at]
        if plain := _PLAIN.match(self.text, self._at):
            self._at = plain.end()
            return (Text(plain[0]),)
        if char in "$`":
            return (self._expansion(quoted=False),)
        self._at += 1
        if char == "\\":
            return self._escaped("")
        if char == "'":
            return (Text(self._until("'", "a ' is not closed")),)
        if char == '"':
            return self._quoted('"')
        return (Text(char, pattern=char in _PATTERNS),)

    def _until(self, mark: str, reason: str) -> str:
        end = self.text.find(mark, self._at)
        if end < 0:
            raise _Unclosed(reason)
        piece, self._at = self.text[self._at : end], end + 1
        return piece

    def _escaped(self, only: str) -> tuple[Part, ...]:
        """After a backslash: it takes the next character, in double quotes only one of `only`."""
        following = self.text[self._at : self._at + 1]
        if following == "\n":
            self._at += 1
            return ()
        if not following or (only and following not in only):
            return (Text("\\"),)
        self._at += 1
        return (Text(following),)

    def _quoted(self, end: str) -> tuple[Part, ...]:
        """Pieces of double quotes up to `end`: the closing quote, or `}` of a `${NAME:-word}` inside of them."""
        parts: list[Part] = []
        while self._at < len(self.text):
            char = self.text[self._at]
            if char == end:
                self._at += 1
                return tuple(parts)
            if plain := _QUOTED_PLAIN.match(self.text, self._at):
                self._at = plain.end()
                parts.append(Text(plain[0]))
            elif char in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                self._at += 1
                if char == "\\":
                    parts += self._escaped('"\\$`' + end)
                elif char == '"':
                    parts += self._quoted('"')
                else:
                    parts.append(Text(char))
        raise _Unclosed(f"a {end} is missing")

    def _expansion(self, *, quoted: bool) -> Part:
        """What `$` or a backquote begins."""
        if self.text[self._at] == "`":
            self._at += 1
            self._skip("`")
            return Unreadable("runs a command")
        if named := _NAMED.match(self.text, self._at):
            if named[3] is None:
                self._at = named.end()
                if named[1] and self.text.startswith("\\\n", self._at):
                    return Unreadable("breaks a line inside of a name")
                return Variable(named[1] or named[2], quoted=quoted)
            if self._depth < _DEEPEST:
                self._at = named.end()
                return Variable(named[2], named[3], self._default(quoted), quoted)
        following = self.text[self._at + 1 : self._at + 2]
        if following and following in _CLOSING:
            return self._unreadable(following)
        if not quoted and following and following in "'\"":
            return self._dollar_quote(following)
        self._at += 1
        if self.text.startswith("\\\n", self._at):
            return Unreadable("breaks a line inside of a name")
        if following and following in _PARAMETERS:
            self._at += 1
            return Unreadable("uses an argument of the script")
        return Text("$")

    def _default(self, quoted: bool) -> tuple[Part, ...]:
        self._depth += 1
        try:
            if quoted:
                return self._quoted("}")
            parts: list[Part] = []
            while not self.text.startswith("}", self._at):
                if self._at >= len(self.text):
                    raise _Unclosed("a ${ is not closed by }")
                parts += self._piece()
            self._at += 1
            return tuple(parts)
        finally:
            self._depth -= 1

    def _unreadable(self, opening: str) -> Unreadable:
        setting = _SETTING.match(self.text, self._at)
        arithmetic = opening == "[" or self.text.startswith("$((", self._at)
        self._at += 2
        self._skip(_CLOSING[opening])
        if opening == "{":
            return Unreadable("uses a form of ${ } that is not read", setting[1] if setting else None)
        return Unreadable("calculates" if arithmetic else "runs a command")

    def _dollar_quote(self, mark: str) -> Unreadable:
        self._at += 2
        while self._at < len(self.text) and self.text[self._at] != mark:
            self._at += 2 if self.text[self._at] == "\\" else 1
        if self._at >= len(self.text):
            raise _Unclosed(f"a {mark} is not closed")
        self._at += 1
        return Unreadable(f"uses ${mark} quotes")

    def _skip(self, closing: str) -> None:
        """Pass everything up to `closing`, over nested quotes, parentheses and braces, without recursion."""
        stack = [closing]
        while self._at < len(self.text):
            char = self.text[self._at]
            self._at += 1
            if char == stack[-1]:
                stack.pop()
                if not stack:
                    return
            elif char == "\\":
                self._at += 1
            elif char == "'" and stack[-1] != '"':
                self._until("'", "a ' is not closed")
            elif char in '"`':
                stack.append(char)
            elif (char == "(" and stack[-1] == ")") or (char in "({" and self.text[self._at - 2] == "$"):
                stack.append(_CLOSING[char])
        raise _Unclosed(f"a {closing} is missing")
