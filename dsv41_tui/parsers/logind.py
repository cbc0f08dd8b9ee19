"""What decides whether a job or a `/dev/shm` segment survives a logout: settings of systemd-logind.

Source: `busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager
KillUserProcesses RemoveIPC` (two lines `b true` or `b false`, in that order; busctl stops at the first it cannot
read), then `loginctl show-user USER -p Linger` (`Linger=yes`), then our own `user=NAME` and `uid=N`.
"""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.readings import Logind
from dsv41_tui.parsers._fields import empty, wrong

_SOURCE = "logind"
_FLAG = re.compile(r"b (true|false)")
_SETTING = re.compile(r"(Linger|user|uid)=(\S{1,255})")


def parse_logind(text: str) -> Logind:
    """Any line can be missing, and error lines between are passed over; what was not said is None.

    Raises ParseError when nothing at all was understood.
    """
    flags: list[bool] = []
    settings: dict[str, str] = {}
    for line in text.split("\n"):
        stripped = line.strip()
        if flag := _FLAG.fullmatch(stripped):
            flags.append(flag[1] == "true")
        elif setting := _SETTING.fullmatch(stripped):
            settings[setting[1]] = setting[2]
    if not flags and not settings:
        raise wrong(_SOURCE, text, "b true, b false or Linger=yes") if text.strip() else empty(_SOURCE)
    if len(flags) > 2:
        raise ParseError(f"{_SOURCE}: {len(flags)} lines of true or false, where two were asked for")
    uid = settings.get("uid", "")
    return Logind(
        kill_user_processes=flags[0] if flags else None,
        remove_ipc=flags[1] if len(flags) == 2 else None,
        linger={"yes": True, "no": False}.get(settings.get("Linger", "")),
        user=settings.get("user"),
        uid=int(uid) if re.fullmatch("[0-9]{1,10}", uid) else None,
    )
