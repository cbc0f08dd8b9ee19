"""What happens to a node's containers, logs and ports over time, as a scenario file tells it.

Times are seconds since the sandbox began; those before it are negative. A script is text: a line `+SECONDS TEXT` is
written so long after the script begins, a line without a time together with the one before it. `$host`, `$peer` and
the other names of `logs.names` stand for what differs between nodes; `$clock` and `$stamp` for the time of the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from math import ceil, floor
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from dsv41_tui.core.value import Value

SCRIPTS = Path(__file__).resolve().parent / "scenarios" / "logs"
_TIMED = re.compile(r"\+(\d{1,6}(?:\.\d{1,6})?) ?(.*)")
_NAME = re.compile(r"[a-z0-9-]{1,40}")
BEFORE_S = 1500.0
"""The containers of a pair that serves were started so long before the sandbox."""


class ContainerTurn(Value):
    """The rank's container starts or ends."""

    at_s: float
    what: Literal["starts", "dies"]
    exit_code: int = Field(default=0, ge=0, le=255)
    oom_killed: bool = False


class ContainerScene(Value):
    """How the rank's container was started."""

    devices: tuple[str, ...] = ("/dev/infiniband",)
    memlock_bytes: int = -1
    env: dict[str, str] = {}
    """Over what the launcher sets; an empty value is passed on."""
    unset: tuple[str, ...] = ()
    turn: tuple[ContainerTurn, ...] = (ContainerTurn(at_s=-BEFORE_S, what="starts"),)

    @model_validator(mode="after")
    def _turns_alternate(self) -> Self:
        due = ("starts", "dies")
        times = [turn.at_s for turn in self.turn]
        if [turn.what for turn in self.turn] != [due[place % 2] for place in range(len(times))] or not times:
            raise ValueError("turns are starts and dies in turn")
        if sorted(set(times)) != times:
            raise ValueError("at_s of each turn is larger than the one before")
        return self

    def past(self, t: float) -> tuple[ContainerTurn, ...]:
        """What has happened to it; its creation counts even where it is still to come."""
        return tuple(turn for turn in self.turn if turn.at_s <= t)

    def running(self, t: float) -> bool:
        past = self.past(t)
        return bool(past) and past[-1].what == "starts"

    def runs(self, t: float) -> list[tuple[float, float]]:
        """Begin and end of each run up to now."""
        times = [turn.at_s for turn in self.past(t)]
        return list(zip(times[::2], [*times[1::2], t], strict=False))


class HcaTurn(Value):
    """One port of the fabric becomes another; what is not named stays as it was."""

    device: str
    at_s: float = -BEFORE_S
    up: bool | None = None
    cable: bool | None = None
    index: int | None = Field(default=None, ge=2, le=13)
    """Where the GID table holds its address as RoCE v1; v2 follows."""
    mtu: int | None = Field(default=None, ge=256, le=9978)
    rate: str | None = None

    def changes(self) -> dict[str, object]:
        return self.model_dump(exclude={"device", "at_s"}, exclude_none=True)


class LogPart(Value):
    """Lines of a log: a script of the folder `scenarios/logs`, or its own; once or again and again."""

    at_s: float
    file: str | None = None
    lines: str = ""
    every_s: float | None = Field(default=None, gt=0)
    until_s: float | None = None

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        if self.file is not None and (self.lines or not _NAME.fullmatch(self.file)):
            raise ValueError("file is the name of a script, and stands without lines")
        if not self.script:
            raise ValueError("a log part has lines")
        return self

    @cached_property
    def script(self) -> tuple[tuple[float, str], ...]:
        """Each line with its time after the begin of the script."""
        text = self.lines
        if self.file is not None:
            try:
                text = (SCRIPTS / f"{self.file}.log").read_text("utf-8")
            except OSError as error:
                raise ValueError(f"{self.file}: {error.strerror}") from None
        return tuple(_read(text))

    @property
    def last_s(self) -> float:
        """When its last line is written, or the first time where it is written again and again."""
        return self.at_s + max(after for after, _ in self.script)


def _read(text: str) -> Iterator[tuple[float, str]]:
    after = 0.0
    for line in text.strip("\n").split("\n"):
        timed = _TIMED.fullmatch(line)
        if timed is None:
            yield after, line
        else:
            after = float(timed[1])
            yield after, timed[2]


class Written(NamedTuple):
    """A line of a log and when it is written."""

    t: float
    text: str


def written(parts: tuple[LogPart, ...], after: float, until: float) -> list[Written]:
    """Lines written later than `after` and not later than `until`, in the order of their times."""
    found = [line for part in parts for line in _of_part(part, after, until)]
    return sorted(found, key=lambda line: line.t)


def _of_part(part: LogPart, after: float, until: float) -> Iterator[Written]:
    for begin in _begins(part, after, until):
        for offset, text in part.script:
            if after < begin + offset <= until:
                yield Written(begin + offset, text)


def _begins(part: LogPart, after: float, until: float) -> list[float]:
    """Begins of the repetitions that can have a line in this time."""
    if part.every_s is None:
        return [part.at_s]
    last = until if part.until_s is None else min(until, part.until_s)
    length = part.last_s - part.at_s
    first = max(0, ceil((after - length - part.at_s) / part.every_s)) if after > part.at_s else 0
    return [part.at_s + number * part.every_s for number in range(first, floor((last - part.at_s) / part.every_s) + 1)]
