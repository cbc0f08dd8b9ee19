"""The state of the log view: which lines, whether it follows, cursor and range; and the steps that keep it up to date.

It follows the ring, or stands on what there was when the operator paused; scrolling up pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dsv41_tui.ui.logs import lines
from dsv41_tui.ui.logs.query import Query, QueryError, parse
from dsv41_tui.ui.logs.scope import ALL, Named, Scope, named, scopes
from dsv41_tui.ui.logs.timeline import LEVELS, Entry, Held, Place, Timeline, Wanted
from dsv41_tui.ui.view import View

if TYPE_CHECKING:
    from dsv41_tui.core.log import LogSource
    from dsv41_tui.ui.source import LogRing


class LogModel:
    """Pure but for what it remembers; knows no widget."""

    def __init__(self) -> None:
        self.scope: Scope = ALL
        self.levels = ""
        self.search = ""
        self.query: Query | None = None
        self.trouble = ""
        """Why the pattern that was typed does not count, as a key of the catalogue."""
        self.only_matches = True
        self.wrap, self.times, self.pan = False, True, 0
        self.held: Held | None = None
        self.cursor: Place | None = None
        self.top: Place | None = None
        self.mark: Place | None = None
        self.room = 1
        """Rows of lines when it was last drawn."""
        self.longest = 0
        """Cells by which the widest line in sight goes beyond the edge."""
        self.names: dict[str, Named] = {}
        self._timeline = Timeline()
        self._sources: tuple[LogSource, ...] = ()
        self._ring: LogRing | None = None
        self._seconds_ahead: tuple[float, ...] = ()

    @property
    def entries(self) -> list[Entry]:
        """All lines that are wanted, oldest first."""
        return self._timeline.entries

    @property
    def following(self) -> bool:
        return self.held is None

    @property
    def missed(self) -> int:
        """How many lines came since the pause."""
        return self._ring.end - self.held.end if self._ring is not None and self.held is not None else 0

    @property
    def behind(self) -> bool:
        """Whether the ring has lines that were not looked at."""
        return self._ring is not None and self._timeline.high != self._ring.end

    def renew(self, view: View) -> None:
        """Take another view; begin anew when sources or their clocks changed."""
        ring, sources = view.logs, view.state.log_sources if view.state else ()
        self.names = named(view)
        ahead = tuple(round(name.offset_s) for name in self.names.values())
        if ring is not self._ring:
            self.held = None
        if ring is not self._ring or sources != self._sources or ahead != self._seconds_ahead:
            self._ring, self._sources, self._seconds_ahead = ring, sources, ahead
            self.want()

    def want(self) -> None:
        """Look at everything anew with what is chosen now, newest first."""
        self.query, self.trouble = None, ""
        try:
            self.query = parse(self.search)
        except QueryError as error:
            self.trouble = str(error)
        offsets = {key: name.offset_s for key, name in self.names.items()}
        query = self.query if self.only_matches else None
        self._timeline.want(Wanted(self.scope.ids(self._sources), self.levels, query, offsets))

    def step(self) -> bool:
        """Look at some more lines; whether there are more."""
        ring = self.held or self._ring
        return ring is not None and self._timeline.step(ring)

    def refuse(self, trouble: str) -> None:
        """Drop the pattern: it takes too long on these lines."""
        self.search = ""
        self.want()
        self.trouble = trouble

    # choices

    def choose_scope(self, by: int) -> None:
        """The next or previous of the scopes that there are."""
        found = scopes(self._sources)
        here = found.index(self.scope) if self.scope in found else 0
        self.scope = found[(here + by) % len(found)]
        self.want()

    def choose_levels(self) -> None:
        """All, warnings and errors, errors."""
        self.levels = LEVELS[(LEVELS.index(self.levels) + 1) % len(LEVELS)]
        self.want()

    def type(self, text: str) -> None:
        """Another filter."""
        if text != self.search:
            self.search = text
            self.want()

    # following and moving

    def pause(self) -> None:
        """Stand still on the last line; what is in sight stays where it is."""
        if self.held is None and self._ring is not None:
            self.held = Held(self._ring)
            self.cursor = self._place(len(self.entries) - 1)

    def follow(self) -> None:
        """Go on at the newest line."""
        self.held = self.cursor = self.top = self.mark = None

    def move(self, by: int) -> None:
        """The cursor, by lines; up pauses, down goes on to the newest line."""
        if self.following:
            if by > 0:
                return
            self.pause()
        here = self.index()
        self.cursor = self._place(max(0, min(len(self.entries) - 1, here + by)))

    def index(self) -> int:
        """Of the line under the cursor, of the last one while it follows; -1 without lines."""
        last = len(self.entries) - 1
        return last if self.cursor is None else min(last, self._timeline.index(self.cursor))

    def chosen(self) -> Entry | None:
        """The line that a key acts on."""
        index = self.index()
        return self.entries[index] if index >= 0 else None

    def _place(self, index: int) -> Place | None:
        return self.entries[index][:2] if 0 <= index < len(self.entries) else None

    def match(self, by: int) -> bool:
        """Go to the next (or previous) line that matches; whether there is one."""
        if self.query is None:
            return False
        self.pause()
        index = self.index() + by
        while 0 <= index < len(self.entries):
            if self.query.test(self.entries[index][2].text):
                self.cursor = self._place(index)
                return True
            index += by
        return False

    def jump(self, number: int) -> bool:
        """Show all lines around this one, with the cursor on it; whether it is still there."""
        ring = self._ring
        found = ring.lines(number, number + 1) if ring is not None else ()
        if ring is None or not found:
            return False
        self.scope, self.levels, self.search, self.mark = ALL, "", "", None
        self.held = Held(ring)
        self.want()
        while self._timeline.low > number or self._timeline.high == 0:
            if not self.step():
                break
        place = next((entry[:2] for entry in reversed(self.entries) if entry[1] == number), None)
        self.cursor = place
        above = self._timeline.index(place) - self.room // 2 if place else 0
        self.top = self._place(max(0, above))
        return place is not None

    def marked(self) -> int:
        """Index of the other end of the range."""
        return -1 if self.mark is None else min(len(self.entries) - 1, self._timeline.index(self.mark))

    def picked(self) -> Sequence[Entry]:
        """The marked range, else all lines that are wanted."""
        if self.mark is None:
            return self.entries
        first, last = sorted((self.marked(), self.index()))
        return self.entries[first : last + 1]

    def toggle_mark(self) -> None:
        """Begin a range at the cursor, or drop it."""
        self.pause()
        self.mark = None if self.mark is not None else self._place(self.index())

    def back(self) -> bool:
        """One level back; whether there was one."""
        if self.mark is not None:
            self.mark = None
        elif self.search or self.trouble:
            self.search, self.only_matches = "", True
            self.want()
        elif self.levels or self.scope != ALL:
            self.levels, self.scope = "", ALL
            self.want()
        elif not self.following:
            self.follow()
        else:
            return False
        return True

    def look(self, width: int) -> lines.Look:
        """How lines are drawn."""
        label = lines.label_cells(self.names, self.scope.ids(self._sources))
        return lines.Look(width, self.wrap, self.times, self.pan, label, self.query)

    def placed(self) -> int:
        """Index of the line at the top while paused."""
        return self._timeline.index(self.top) if self.top is not None else max(0, self.index() - self.room + 1)
