"""The output of `head -n N FILE FILE...` (coreutils and busybox), cut into its files.

Grammar: each file is headed by a line `==> PATH <==`, and every header but the first has one line feed before it.
A single FILE is printed without a header. With standard error on the same stream, what head could not open or read
stands as `head: ...` after the content of the file before.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"(?:\A|\n)==> ([^\n]+) <==\n")
# GNU puts the path in quotes, busybox does not; a content without a last line feed has it on its own last line.
_COMPLAINT = re.compile(r"head: (?:(?:cannot open|error reading) ['\"].{1,4096}|/[^:\n]{0,4096}: [A-Z].{0,200})\n\Z")
COMPLAINTS = ""
"""The key under which the error lines of head are, one a line."""


def split_sections(text: str) -> dict[str, str]:
    """Content by path, byte for byte as head read it; what belongs to no file is under the key "".

    A file that could be opened and not read has an empty content, and its reason is under "". Never raises.
    """
    pieces = _HEADER.split(text)
    complaints = [pieces[0]] if pieces[0] else []
    sections: dict[str, str] = {}
    for path, body in zip(pieces[1::2], pieces[2::2], strict=True):
        sections[path], after = _part_complaints(body)
        complaints += after
    if complaints:
        sections[COMPLAINTS] = "".join(part if part.endswith("\n") else part + "\n" for part in complaints)
    return sections


def _part_complaints(body: str) -> tuple[str, list[str]]:
    """Content and the error lines that head wrote after it."""
    complaints: list[str] = []
    while body.endswith("\n"):
        last = body.rfind("\n", 0, -1) + 1
        match = _COMPLAINT.search(body, last)
        if match is None:
            break
        complaints.insert(0, match[0])
        body = body[: match.start()]
    return body, complaints
