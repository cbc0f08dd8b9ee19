"""What happens to a batch of lines of one source: understood, redacted, numbered, recorded, and looked through."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from dsv41_tui.core.events import Event, LogSourceOpened, RankLogChanged
from dsv41_tui.core.log import Level, LogFact, LogLine, LogSource
from dsv41_tui.core.redact import redact
from dsv41_tui.parsers.log_facts import parse_log_facts
from dsv41_tui.parsers.log_interest import split_interesting
from dsv41_tui.parsers.logline import parse_logline
from dsv41_tui.runtime.logs.failures import SLACK_S, FailureWatch
from dsv41_tui.runtime.logs.hub import LogHub

TELL_S = 1.0
"""A log that says nothing of the engine's state still tells so often that it goes on."""


class LogReader:
    """One source; `take` is called with each batch, in order."""

    def __init__(self, source: LogSource, hub: LogHub, watch: FailureWatch, dispatch: Callable[[Event], None]) -> None:
        self.source = source
        self.started_at: float | None = None
        """StartedAt of the container whose log it is; older lines are of another run."""
        self._hub = hub
        self._watch = watch
        self._dispatch = dispatch
        self._told_at = 0.0
        self._last_line_at: float | None = None
        self._told_line_at: float | None = None

    def open(self, started_at: float | None = None) -> None:
        """Make the source known, also before its first line; of a container, the run that is read from now on."""
        self.started_at = started_at
        self._hub.open(self.source)
        self._dispatch(LogSourceOpened(at=time.monotonic(), source=self.source))
        if self.source.kind == "rank":
            self._tell([])

    def take(self, texts: Sequence[str], times: Sequence[float | None] | None = None, *, scan: bool = True) -> None:
        """Cleaned lines without docker's stamps; `times` in Unix seconds where the source gave them."""
        if not texts:
            return
        kind = self.source.kind
        parsed = [parse_logline(text, kind) for text in texts]
        if kind in ("kernel", "events"):
            shown = [line.text for line in parsed]
        else:  # of JSON the message; otherwise the whole line, with the name of the process
            shown = [line.text if text[:1] == "{" else text for text, line in zip(texts, parsed, strict=True)]
        at = [line.at for line in parsed]
        if times is not None:
            at = [own if own is not None else found for own, found in zip(times, at, strict=True)]
        levels: list[Level] = [line.level for line in parsed]
        batch = self._hub.add(self.source, at, _redacted(shown), levels)
        for lines, facts in self._steps(batch):
            if kind == "rank":
                self._look(lines, facts)
            if scan and kind != "events":
                self._watch.scan(self.source, self.started_at, lines)

    def tick(self) -> None:
        """Once a second: tell of lines that came since."""
        if self.source.kind == "rank" and self._last_line_at != self._told_line_at:
            self._tell([])

    def _steps(self, batch: Sequence[LogLine]) -> Iterator[tuple[Sequence[LogLine], Sequence[LogFact]]]:
        """A batch with what it says of the engine; apart from where the engine begins to serve.

        The same line is a long load before that, and a hang after it.
        """
        if self.source.kind != "rank":
            yield batch, ()
            return
        begin, facts = 0, list[LogFact]()
        for place, fact in self._facts_of(batch):
            if fact.served and place > begin:
                yield batch[begin:place], facts
                begin, facts = place, []
            facts.append(fact)
        yield batch[begin:], facts

    def _facts_of(self, batch: Sequence[LogLine]) -> Iterator[tuple[int, LogFact]]:
        """Lines of an earlier run say nothing of this one."""
        started = (self.started_at or 0.0) - SLACK_S
        for place, text in split_interesting([line.text for line in batch]):
            at = batch[place].at
            if at is not None and at >= started and (fact := parse_log_facts(text, at)) is not None:
                yield place, fact

    def _look(self, batch: Sequence[LogLine], facts: Sequence[LogFact]) -> None:
        started = (self.started_at or 0.0) - SLACK_S
        newest = max((line.at for line in batch if line.at is not None and line.at >= started), default=None)
        if newest is None:
            return
        self._last_line_at = max(self._last_line_at or 0.0, newest)
        if facts or time.monotonic() - self._told_at > TELL_S:
            self._tell(facts)

    def _tell(self, facts: Sequence[LogFact]) -> None:
        self._told_at = time.monotonic()
        self._told_line_at = self._last_line_at
        self._dispatch(
            RankLogChanged(
                at=self._told_at,
                node=self.source.node,
                container=self.source.name,
                rank=self.source.rank,
                started_at=self.started_at,
                line_at=self._last_line_at,
                facts=facts,
            )
        )


def _redacted(texts: list[str]) -> list[str]:
    """A batch at once, because most have no sign of a secret; a line feed that went is looked for line by line."""
    masked = redact("\n".join(texts)).split("\n")
    return masked if len(masked) == len(texts) else [redact(text) for text in texts]
