"""One container's log, followed over its ends: a restart, a lost link, a lease; without a gap and without a repeat."""

from __future__ import annotations

from collections.abc import Sequence

from dsv41_tui.core.containers import ContainerEngine
from dsv41_tui.core.text import clean_line
from dsv41_tui.parsers.docker_log import parse_docker_log
from dsv41_tui.runtime.logs.choose import Target
from dsv41_tui.runtime.logs.commands import container_log
from dsv41_tui.runtime.logs.position import Position
from dsv41_tui.runtime.logs.reader import LogReader


class ContainerLog:
    """Of one container by id. `open` gives the command; `take` the lines that came; `said` what the client told."""

    def __init__(self, target: Target, reader: LogReader, tail: int) -> None:
        self.target = target
        self.said = ""
        """The client's own last line: why it cannot read this log."""
        self._reader = reader
        self._tail = tail
        self._position = Position()

    @property
    def newest(self) -> float | None:
        """Stamp of the newest line that was read."""
        return self._position.newest

    def open(self, target: Target, engine: ContainerEngine) -> str:
        """The command that goes on where the log was left; `target` is the container as it is now."""
        self.target = target
        self.said = ""
        self._reader.open(target.container.started_at)
        return container_log(engine.engine, target.container.id, self._position.resume(), self._tail)

    def take(self, lines: Sequence[str]) -> None:
        """A batch as it came. Every line of a container has a stamp; one without is the client's word."""
        parsed = [parse_docker_log(line) for line in lines]
        times = [line.at for line in parsed]
        if None in times:
            self.said = clean_line(lines[times.index(None)], 200)
            kept = [place for place, at in enumerate(times) if at is not None]
            lines, parsed, times = [lines[at] for at in kept], [parsed[at] for at in kept], [times[at] for at in kept]
        fresh = self._position.fresh(times, lines)
        self._reader.take([parsed[place].text for place in fresh], [times[place] for place in fresh])
