r"""One line of `docker logs --timestamps` or `podman logs -t`: `2026-11-30T16:17:58.043825054Z TEXT`.

Docker writes UTC, podman local time with its offset. A line of more than 16 KiB carries further stamps inside, where
docker joined its pieces. A progress bar is one long line with carriage returns: its last state counts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.parsers._log_rules import split_off_stamp

_PIECE = 16 << 10
_INNER = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ", re.ASCII)


class DockerLine(NamedTuple):
    """The stamp in Unix seconds and as written (for `--since`), and the text."""

    at: float | None
    stamp: str
    """"" where the line has none."""
    text: str


def parse_docker_log(text: str) -> DockerLine:
    """One line with or without a stamp; only a stamp with a zone counts."""
    at, rest = split_off_stamp(text)
    stamp = text[: len(text) - len(rest)].rstrip() if at is not None else ""
    if len(rest) >= _PIECE and stamp:
        rest = _INNER.sub("", rest)
    if "\r" in rest:
        pieces = [piece for piece in rest.split("\r") if piece.strip()]
        rest = pieces[-1] if pieces else ""
    return DockerLine(at, stamp, rest)
