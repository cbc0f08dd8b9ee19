"""The time of a log line, from the stamp that stands near its beginning.

Sources: `docker logs -t` and `journalctl -o short-iso` (ISO 8601), syslog and `journalctl` (`Aug 27 00:39:44`),
`dmesg -T` (`[Thu Aug 27 00:39:44 2026]`), `dmesg` (`[  123.456789]`, seconds since boot), vLLM (`INFO 11-30 17:40:02`),
glog (`E1130 17:40:02.123456`), Python's logging (`2026-11-30 17:40:02,123`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_LOOK = 160
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: at for at, name in enumerate(_NAMES, 1)}
_CLOCK = r"(?P<{0}h>[0-2]\d):(?P<{0}m>[0-5]\d):(?P<{0}s>[0-6]\d)(?:[.,](?P<{0}f>\d{{1,9}}))?"
_MONTH = "|".join(_MONTHS)
_STAMP = re.compile(
    rf"(?<![\d-])(?P<iy>20\d\d)[-/](?P<io>[01]\d)[-/](?P<id>[0-3]\d)[T ]{_CLOCK.format('i')}"
    rf"(?P<zone>Z|[+-]\d\d:?\d\d)?"
    rf"|\b(?P<ymon>{_MONTH}) {{1,2}}(?P<yd>[0-3]?\d) {_CLOCK.format('y')}(?: (?P<yy>20\d\d)\b)?"
    rf"|(?<![\d-])(?P<vo>[01]\d)-(?P<vd>[0-3]\d) {_CLOCK.format('v')}"
    rf"|\b[IWEFD](?P<go>[01]\d)(?P<gd>[0-3]\d) {_CLOCK.format('g')}"
    r"|\[ {0,8}(?P<boot>\d{1,9}\.\d{3,9})\]"
)


def parse_stamp(line: str, year: int = 1970) -> float | None:
    """Seconds: Unix time, or since boot for a line of `dmesg`. None without a stamp.

    `year` stands in where the stamp has none. A stamp without a zone is taken for UTC, as containers keep it.
    """
    found = _STAMP.search(line[:_LOOK])
    if found is None:
        return None
    if found["boot"]:
        return float(found["boot"])
    kind = next(mark for mark in "iyvg" if found[f"{mark}d"])
    month = _MONTHS[found["ymon"]] if kind == "y" else int(found[f"{kind}o"])
    named = found[f"{kind}y"] if kind in "iy" else None
    hour, minute, second = (int(found[f"{kind}{part}"]) for part in "hms")
    try:
        at = datetime(int(named or year), month, int(found[f"{kind}d"]), hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    fraction = float(f"0.{found[f'{kind}f']}") if found[f"{kind}f"] else 0.0
    return (at - _offset(found["zone"])).timestamp() + fraction


def _offset(zone: str | None) -> timedelta:
    if not zone or zone == "Z":
        return timedelta()
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return timedelta(minutes=-minutes if zone[0] == "-" else minutes)
