"""The time of a log line, from the stamp that stands near its beginning.

Sources: `docker logs -t` and `journalctl -o short-iso` (ISO 8601), syslog and `journalctl` (`Aug 27 00:39:44`),
`dmesg -T` (`[Thu Aug 27 00:39:44 2026]`), `dmesg` (`[  123.456789]`, seconds since boot), vLLM (`INFO 11-30 17:40:02`),
glog (`E1130 17:40:02.123456`), Python's logging (`2026-11-30 17:40:02,123`).
"""

from __future__ import annotations

import functools
import itertools
import re
from datetime import UTC, datetime

_LOOK = 160
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: at for at, name in enumerate(_NAMES, 1)}
_CLOCK = re.compile(r"([0-2]\d):([0-5]\d):([0-6]\d)(?:[.,](\d{1,9}))?(?: (20\d\d)\b|(Z|[+-]\d\d:?\d\d)?)", re.ASCII)
_DATE = re.compile(
    r"(?:(?<![\d-])(?P<iy>20\d\d)[-/](?P<io>[01]\d)[-/](?P<id>[0-3]\d)[T ]"
    rf"|\b(?P<mon>{'|'.join(_MONTHS)}) {{1,2}}(?P<md>[0-3]?\d) "
    r"|(?<![\d-])(?P<vo>[01]\d)-(?P<vd>[0-3]\d) "
    r"|\b[IWEFD](?P<go>[01]\d)(?P<gd>[0-3]\d) )$",
    re.ASCII,
)
_BOOT = re.compile(r"\[ {0,8}(\d{1,9}\.\d{3,9})\]", re.ASCII)
_BEFORE = 12
"""Characters of the longest date and what must stand before it."""


def parse_stamp(line: str, year: int = 1970) -> float | None:
    """Seconds: Unix time, or since boot for a line of `dmesg`. None without a stamp.

    `year` stands in where the stamp has none. A stamp without a zone is taken for UTC, as containers keep it.
    """
    for clock in itertools.islice(_CLOCK.finditer(line, 0, _LOOK), 3):
        hour, minute, second, fraction, named, zone = clock.groups()
        start = clock.start()
        date = _DATE.search(line[max(0, start - _BEFORE) : start])
        if date is not None:
            day = _day(date, int(named or year))
            if day is None:
                return None
            at = day + int(hour) * 3600 + int(minute) * 60 + min(int(second), 59)
            return at - _offset(zone) + (float(f"0.{fraction}") if fraction else 0.0)
    boot = _BOOT.search(line, 0, _LOOK)
    return float(boot[1]) if boot else None


def _day(date: re.Match[str], year: int) -> float | None:
    """Unix time of the midnight; None for a day that no calendar has."""
    _, iso_month, iso_day, name, day, month, other, glog, last = date.groups()
    if date["iy"]:
        year = int(date["iy"])
    return _midnight(
        year, _MONTHS[name] if name else int(iso_month or month or glog), int(iso_day or day or other or last)
    )


@functools.lru_cache(maxsize=64)
def _midnight(year: int, month: int, day: int) -> float | None:
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _offset(zone: str | None) -> int:
    """Seconds east of Greenwich."""
    if not zone or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds
