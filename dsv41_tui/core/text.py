"""Remote text is hostile: it is cleaned here, once, at the transport's edge.

Removed: escape sequences (CSI, OSC, DCS, SOS, PM, APC and two-byte ones), C0 and C1 controls but tab and line feed,
bidirectional overrides, zero-width and other format characters that could fake what a line says, surrogates.
Kept: everything printable in any script, the joiners of real scripts included only where letters need them.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"""
    (?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?       # OSC, also cut off
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?   # DCS, SOS, PM, APC
    | (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?                            # CSI, also cut off
    | \x1b[ -/]*[0-~]?                                               # two-byte and charset sequences
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """Return `text` without anything that could act on a terminal or disguise a line; LF and tab stay."""
    if not _SUSPECT.search(text):
        return text
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def clean_line(text: str, limit: int = 400) -> str:
    """One cleaned line for a message: white space folded, cut at `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def clean_bytes(data: bytes) -> str:
    """Decode UTF-8 with replacement characters for what is not, then clean."""
    return clean(data.decode("utf-8", "replace"))
