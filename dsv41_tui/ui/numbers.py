"""Numbers for people, rounded until they are still. None is never 0: it gives the glyph for unknown."""

from __future__ import annotations

GIB = 1 << 30
MIB = 1 << 20


def gib(value: float | None, none: str = "—") -> str:
    """Bytes as GiB with one decimal; from 1000 on without."""
    if value is None:
        return none
    number = value / GIB
    return f"{number:,.0f}" if abs(number) >= 999.95 else f"{number:.1f}"


def binary_size(value: float | None, none: str = "—") -> str:
    """Bytes with their unit: GiB from 1 GiB on, else MiB, below that KiB, so that little is never a zero."""
    if value is None:
        return none
    if value >= GIB:
        return f"{gib(value)} GiB"
    return f"{value / MIB:.0f} MiB" if value >= MIB or not value else f"{value / 1024:.1f} KiB"


def mib_rate(value: float | None, none: str = "—") -> str:
    """Bytes per second as MiB/s, whole from 10 on."""
    if value is None:
        return none
    number = value / MIB
    return f"{number:.1f}" if 0.05 <= number < 9.95 else f"{number:,.0f}"


def size_option(text: str | None) -> str:
    """A byte count of a mount option in K or M where it is round: 1048576 is 1M."""
    if text is None or not text.isdigit():
        return text or "?"
    number = int(text)
    for unit, factor in (("M", MIB), ("K", 1024)):
        if number and number % factor == 0:
            return f"{number // factor}{unit}"
    return text


def milliseconds(value: float | None, none: str = "—") -> str:
    if value is None:
        return none
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def link_speed(mbit: int | None, none: str = "—") -> str:
    """10000 is 10G, 2500 is 2.5G, 100 is 100M."""
    if mbit is None:
        return none
    return f"{mbit / 1000:g}G" if mbit >= 1000 else f"{mbit}M"


def mbit_bytes(mbit: int) -> float:
    """A link's speed in bytes per second, before any protocol's share."""
    return mbit * 1_000_000 / 8


def short_age(seconds: float) -> str:
    """14 s, 3 min, 2 h, 5 d."""
    if seconds < 100:
        return f"{int(seconds)} s"
    if seconds < 5940:
        return f"{int(seconds / 60)} min"
    if seconds < 172_800:
        return f"{int(seconds / 3600)} h"
    return f"{int(seconds / 86_400)} d"


def clock_span(seconds: float) -> str:
    """0:46, 12:05, 1:02:03."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{secs:02d}" if hours else f"{minutes}:{secs:02d}"


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}" if whole else "0"
