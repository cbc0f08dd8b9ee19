"""How many cells this terminal takes for an ambiguous glyph: asked by the cursor's position while Textual loads.

The question is written before the import and the answer read after it, so it costs no time. An answer that comes too
late is read by Textual, which knows that sequence.
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
from collections.abc import Mapping
from typing import Any

from dsv41_tui.ui.glyphs import UNICODE, locale_is_utf8

_ANSWER = re.compile(rb"\x1b\[\d+;(\d+)R")
LONGEST = 4096


class WidthProbe:
    """Ask when it is made, `cells` when the answer is wanted; None where there is none."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._before: list[Any] | None = None
        usable = locale_is_utf8(environment) and environment.get("TERM", "dumb") not in ("dumb", "linux")
        if not usable or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return
        self._input, output = sys.stdin.fileno(), sys.stdout.fileno()
        try:
            self._before = termios.tcgetattr(self._input)
            quiet = termios.tcgetattr(self._input)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._input, termios.TCSANOW, quiet)
            os.write(output, b"\r" + UNICODE.ok.encode() + b"\x1b[6n\r\x1b[K")
        except (OSError, termios.error):
            self._before = None

    def cells(self) -> int | None:
        """The width of one glyph, without waiting for it; the terminal is as it was before."""
        if self._before is None:
            return None
        data = b""
        try:
            while len(data) < LONGEST and select.select([self._input], [], [], 0)[0]:
                part = os.read(self._input, 256)
                if not part:
                    break
                data += part
            termios.tcsetattr(self._input, termios.TCSANOW, self._before)
        except (OSError, termios.error):
            return None
        found = _ANSWER.search(data)
        return int(found.group(1)) - 1 if found else None
