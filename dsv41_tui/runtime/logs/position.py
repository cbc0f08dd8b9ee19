"""Where a followed log stands, so that it goes on after an end without a gap and without a repeat."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence

OVERLAP_S = 1.0
"""A resumed log begins so long before its newest line: lines of two streams come a moment out of order."""
TAIL = 400
"""Lines without stamps are found again by the last ones that were read."""
SURE = 3


class Position:
    """Of a log whose lines carry stamps; `--since` is inclusive, so what is asked for again is dropped here."""

    def __init__(self) -> None:
        self.newest: float | None = None
        """Stamp of the newest line, Unix seconds of the node's clock."""
        self._recent: deque[tuple[float, Sequence[float | None], Sequence[str]]] = deque()
        self._seen: Counter[str] = Counter()
        self._before = float("-inf")

    def resume(self) -> float | None:
        """Call before the log is opened again: the Unix second to begin at, None for a log never read."""
        if self.newest is None:
            return None
        self._before = float(int(self.newest - OVERLAP_S))
        self._seen = Counter(
            line
            for _, times, lines in self._recent
            for at, line in zip(times, lines, strict=True)
            if at is not None and at >= self._before
        )
        return self._before

    def fresh(self, times: Sequence[float | None], lines: Sequence[str]) -> list[int]:
        """Indices of the lines that were not read before the log was opened again. All lines are remembered."""
        if not self._seen and self._before == float("-inf"):
            chosen = list(range(len(lines)))
        else:
            chosen = [place for place, line in enumerate(lines) if self._is_fresh(times[place], line)]
        self._remember(times, lines, chosen)
        return chosen

    def _is_fresh(self, at: float | None, line: str) -> bool:
        if at is not None and at < self._before:
            return False
        if self._seen.get(line, 0) > 0:
            self._seen[line] -= 1
            return False
        return True

    def _remember(self, times: Sequence[float | None], lines: Sequence[str], chosen: Sequence[int]) -> None:
        stamps = [at for place in chosen if (at := times[place]) is not None]
        if not stamps:
            return
        newest = max(stamps)
        self.newest = newest if self.newest is None else max(self.newest, newest)
        self._recent.append((newest, [times[place] for place in chosen], [lines[place] for place in chosen]))
        edge = int(self.newest - OVERLAP_S)
        while self._recent and self._recent[0][0] < edge:
            self._recent.popleft()
        if self._seen and self.newest > self._before + 2 * OVERLAP_S + 1:
            self._seen.clear()


class Tail:
    """Of a file whose lines carry no stamps: a reopened one begins with lines that were read before."""

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=TAIL)
        self._resumed = False

    def resume(self) -> bool:
        """Call before the file is opened again; whether it was read before."""
        self._resumed = bool(self._last)
        return self._resumed

    def fresh(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines after the place where the file was left; all of them where that place is not found."""
        if self._resumed:
            self._resumed = False
            lines = lines[self._known(lines) :]
        self._last.extend(lines)
        return lines

    def _known(self, lines: Sequence[str]) -> int:
        last = list(self._last)
        for end in range(len(lines), 0, -1):
            sure = min(SURE, end, len(last))
            if list(lines[end - sure : end]) == last[-sure:]:
                return end
        return 0


def rfc3339(at: float) -> str:
    """A Unix second as `--since` of docker and podman takes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
