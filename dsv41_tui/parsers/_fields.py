"""What several parsers share: mount options, the kernel's octal escapes, words for errors. No source of its own."""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.text import clean, clean_line

NFS_TYPES = frozenset({"nfs", "nfs4"})
"""`nfs` is v2 and v3, `nfs4` every v4.x; the minor version stands in the options only."""

_QUOTED_OPTION = re.compile(r'(?:[^,"]|"[^"]*"?)+')
_ESCAPE = re.compile(r"\\(040|011|043|134)")
_COMPLAINT = re.compile(
    r"(?:\S{0,99}/)?(?:head|cat|sh|bash|ash|dash|stat|find|ls|timeout|sudo|busctl|loginctl)\b[^:\n]{0,99}: "
)


def options(text: str) -> dict[str, str]:
    """Split `rw,vers=3,hard` into a mapping; an option without a value maps to ''.

    A comma inside double quotes belongs to the value (`context="u:r:t:s0:c1,c2"`).
    """
    parts = _QUOTED_OPTION.findall(text) if '"' in text else text.split(",")
    pairs = (part.partition("=") for part in parts if part)
    return {name: value for name, _, value in pairs}


def unescape(text: str) -> str:
    r"""Undo the escapes of mount tables for space, tab, `#` and backslash.

    Any other escape stays as text: the kernel writes none but `\012`, and decoding those would bring line breaks and
    terminal escapes back into text that was cleaned before.
    """
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text) if "\\" in text else text


def one_line(text: str) -> str:
    """A decoded string made safe again: JSON escapes can hide control characters from the cleaning at the edge."""
    return clean(text).replace("\n", " ")


def source_of(device: str, mount_options: dict[str, str]) -> str:
    """`server:/path`; docker mounts with the device `:/path` alone and names the server in `addr=`."""
    address = mount_options.get("addr", "")
    if not device.startswith(":") or not address:
        return device
    bracketed = f"[{address}]" if ":" in address and not address.startswith("[") else address
    return bracketed + device


def is_complaint(text: str) -> bool:
    """Whether the text is the error line of a command that was to print a file, such as `cat: X: Permission denied`."""
    return _COMPLAINT.match(text.lstrip()) is not None


def readable(text: str | None) -> str | None:
    """The stripped content of a small file; None when it is absent, empty, or an error line instead."""
    stripped = (text or "").strip()
    return None if not stripped or is_complaint(stripped) else stripped


def wrong(source: str, line: str, expected: str, number: int | None = None) -> ParseError:
    """One clear line: which source, where, what stands there, and what its grammar asks for."""
    where = source if number is None else f"{source}, line {number}"
    return ParseError(f"{where}: {expected} expected, found «{clean_line(line, 80)}»")


def empty(source: str, hint: str = "") -> ParseError:
    """The source gave nothing at all."""
    return ParseError(f"{source} is empty" + (f": {hint}" if hint else ""))
