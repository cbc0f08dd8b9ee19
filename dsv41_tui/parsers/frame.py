"""One frame of the collector: the text of several files, and why others could not be read.

Source: `head -n N FILE FILE...` of coreutils and busybox. Each file is headed by `==> PATH <==`; errors are lines
`head: cannot open 'PATH' for reading: REASON`, `head: error reading 'PATH': REASON` or `head: PATH: REASON`.
"""

from __future__ import annotations

import re

from dsv41_tui.core.value import Value
from dsv41_tui.parsers.sections import COMPLAINTS, split_sections

_ERROR = re.compile(
    r"head: (?:cannot open |error reading )?['\"\u2018]?(?P<path>/.*?)['\"\u2019]?(?: for reading)?: "
    r"(?P<reason>[^:\n]+)"
)


class Frame(Value):
    """Files by path, and reasons by path for what could not be read."""

    files: dict[str, str]
    errors: dict[str, str]


def parse_frame(text: str) -> Frame:
    """Split a frame. A file with an error after its header (sysfs gives EINVAL on read) counts as unread."""
    sections = split_sections(text)
    complaints = map(_ERROR.fullmatch, sections.pop(COMPLAINTS, "").split("\n"))
    errors = {found["path"]: found["reason"].strip() for found in complaints if found is not None}
    files = {path: body for path, body in sections.items() if path not in errors}
    return Frame.model_construct(files=files, errors=errors)
