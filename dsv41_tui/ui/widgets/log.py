"""The log view on the screen: keys, and when it looks at new lines.

While it is hidden or stands still it takes no line. New lines are painted a few times a second, keys at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, cast

from textual import events
from textual.message import Message
from textual.strip import Strip

from dsv41_tui.ui import navigate
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.cells import safe
from dsv41_tui.ui.logs import brief, export, page
from dsv41_tui.ui.logs.export import COPY_MOST
from dsv41_tui.ui.logs.lines import PAN
from dsv41_tui.ui.logs.model import LogModel
from dsv41_tui.ui.view import Box, Sheet, View
from dsv41_tui.ui.widgets.sheet import SheetWidget

if TYPE_CHECKING:
    from dsv41_tui.ui.app import PanelApp

PAINT_S = 0.5
"""Between two looks for new lines."""
CELLS_PER_S, SLOWEST_S = 700, 2.0
"""A scrolled page costs the terminal all its cells; beside other panes it follows at no more than this."""
MORE_S = 0.02
"""Before the next step while there is more to look at: keys come between."""
STEP_S = 0.008
"""For lines, before a frame is painted."""
SLOW_S = 0.25
"""A step of a regex that takes longer is its last one."""
WHEEL = 3


class LogWidget(SheetWidget):
    """A sheet whose rows are a window on the timeline."""

    BINDINGS = bindings("log")
    own_keys = "log"
    shows_search = True

    class Told(Message):
        """Filter or state changed, and with it which keys have a use."""

    def __init__(self, draw: Callable[[View, Box], Sheet], view: View, *, id: str | None = None) -> None:
        self.model = LogModel()
        super().__init__(draw, view, id=id)
        self.filter_hint = "ui.log.filter"
        self._catching_up = False
        self._next = 0.0

    @property
    def search(self) -> str:
        return self.model.search

    @search.setter
    def search(self, text: str) -> None:
        self.model.type(text)
        self._step()

    def on_mount(self) -> None:
        self.set_interval(PAINT_S, self._look)

    @property
    def _seen(self) -> bool:
        return self.display and self.is_attached and self.screen.is_current

    def _look(self) -> None:
        """New lines, if anybody can see them."""
        if not self._seen or self._catching_up or not self.model.following or self.view.paused_s is not None:
            return
        now = monotonic()
        if now >= self._next and self.model.behind:
            cells = self.size.width * self.size.height
            self._next = now if self.large else now + min(SLOWEST_S, cells / CELLS_PER_S)
            self._catch_up()

    def _step(self) -> bool:
        """As many lines as one frame has time for; a pattern that takes too long is dropped and said."""
        began = perf_counter()
        more = self.model.step()
        if self.model.query is not None and perf_counter() - began > SLOW_S:
            self.model.refuse("ui.log.regex_slow_here")
        while more and perf_counter() - began < STEP_S:
            more = self.model.step()
        return more

    def _catch_up(self) -> None:
        """Step until all is looked at, with room for keys between."""
        self._catching_up = False
        if not self._seen:
            return
        if self._step():
            self._catching_up = True
            self.set_timer(MORE_S, self._catch_up)
        self.renew()

    def show(self, view: View) -> None:
        """A view has no lines in it, so nothing but notes and tints can differ."""
        self.view = view
        self.renew()

    def make(self, width: int, height: int) -> Sequence[Strip]:
        self.model.renew(self.view)
        if not self.model.entries and self.model.step() and not self._catching_up:
            self._catching_up = True
            self.set_timer(MORE_S, self._catch_up)
        box = Box(
            width, height, large=self.large, focused=self.has_focus, titled=self.titled, search=self.search,
        )  # fmt: skip
        self.sheet = page.draw(self.model, self.view, box)
        return self.sheet.rows

    def changed(self) -> None:
        """After a key: paint now; what is not looked at yet follows."""
        if self._catching_up:
            self.renew()
        else:
            self._catch_up()
        self.post_message(self.Told())

    # what the main screen's keys do here

    def move(self, by: int) -> None:
        self.model.move(by)
        self.changed()

    def scroll_rows(self, by: int) -> None:
        self.move(by)

    def scroll_pages(self, by: int) -> None:
        self.move(by * max(1, self.model.room - 1))

    def edge(self, to: int) -> None:
        """The oldest line that is here, or on with the newest."""
        if to < 0:
            self.model.move(-len(self.model.entries))
        else:
            self.model.follow()
        self.changed()

    def jump(self, number: int) -> bool:
        """Stand on a line, all lines around it in sight; whether it is still there."""
        self.model.renew(self.view)
        found = self.model.jump(number)
        self.changed()
        return found

    def select(self, key: str | None) -> None:
        """There is nothing to select by name."""

    def back(self) -> bool:
        """Drop the range, the filter, the levels and scope, the pause: one a press."""
        done = self.model.back()
        if done:
            self.changed()
        return done

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    # its own keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys without a use here go on to the main screen: h and l to the pane beside, n to the next finding."""
        if action == "log_pan":
            return self.large and not self.model.wrap
        if action in ("log_match", "log_only_matches"):
            return self.model.query is not None
        if action == "log_open":
            return not self.model.following
        return True

    def action_log_follow(self) -> None:
        if self.model.following:
            self.model.pause()
        else:
            self.model.follow()
        self.changed()

    def action_log_scope(self, by: int) -> None:
        self.model.choose_scope(by)
        self.changed()

    def action_log_levels(self) -> None:
        self.model.choose_levels()
        self.changed()

    def action_log_wrap(self) -> None:
        self.model.wrap, self.model.pan = not self.model.wrap, 0
        self.changed()

    def action_log_times(self) -> None:
        self.model.times = not self.model.times
        self.changed()

    def action_log_pan(self, by: int) -> None:
        self.model.pan = max(0, min(self.model.longest + PAN // 2, self.model.pan + by * PAN))
        self.changed()

    def action_log_match(self, by: int) -> None:
        if not self.model.match(by):
            self._say("ui.log.no_more_matches")
        self.changed()

    def action_log_only_matches(self) -> None:
        self.model.only_matches = not self.model.only_matches
        self.model.want()
        self.changed()

    def action_log_mark(self) -> None:
        self.model.toggle_mark()
        self.changed()

    def action_log_open(self) -> None:
        """The finding of the chosen line, else the node that it came from."""
        entry = self.model.chosen()
        if entry is None:
            return
        index = brief.finding_of(self.view, entry[1])
        if index is not None:
            navigate.show_finding_at(self._panel, index)
        elif (name := self.model.names.get(entry[2].source)) is not None:
            navigate.show_node(self._panel, name.node)

    def action_log_copy(self) -> None:
        entry = self.model.chosen()
        navigate.copy(self._panel, safe(entry[2].text[:COPY_MOST]) if entry else "")

    def action_log_copy_all(self) -> None:
        text, left = export.clipboard(self.model, self.view)
        navigate.copy(self._panel, text)
        if left:
            self._say("ui.log.copied_part", lines=text.count("\n") + 1, left=left)

    def action_log_dump(self) -> None:
        """Written in a thread: a home folder can hang on NFS."""
        told = export.texts(self.model, self.view)
        self.run_worker(self._dump(told), group="log-dump", exclusive=True, exit_on_error=False)

    async def _dump(self, told: Iterator[str]) -> None:
        from dsv41_tui.runtime.log_dump import write

        try:
            path, count = await asyncio.to_thread(write, told)
        except OSError as error:
            self._say("ui.log.dump_failed", why=error.strerror or str(error), file=str(error.filename or ""))
        else:
            self._say("ui.log.dumped", lines=f"{count:,}", file=short_path(path))

    @property
    def _panel(self) -> PanelApp:
        return cast("PanelApp", self.app)

    def _say(self, key: str, **values: object) -> None:
        navigate.say(self._panel, key, **values)


def short_path(path: Path) -> str:
    """With `~` for the home folder."""
    home = str(Path.home())
    return str(path).replace(home, "~", 1) if str(path).startswith(home + "/") else str(path)
