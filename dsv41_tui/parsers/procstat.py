"""`/proc/PID/stat`: CPU time of a process and of its children that ended.

Source: proc_pid_stat(5). The command name stands in parentheses and holds anything, so fields are counted from the
last closing parenthesis; numbers 14 to 17 are utime, stime, cutime, cstime in clock ticks, 100 a second on Linux.
"""

from __future__ import annotations

from dsv41_tui.core.errors import ParseError

TICKS_PER_S = 100


def parse_cpu_s(text: str) -> float:
    """CPU seconds, user and system, children included."""
    fields = text.rpartition(")")[2].split()
    try:
        return sum(int(field) for field in fields[11:15]) / TICKS_PER_S
    except ValueError:
        raise ParseError("/proc/PID/stat does not hold numbers where CPU times stand") from None
