"""The commands on a node that follow its logs. Each is one line of shell; `feeds.sh` and `stream.sh` run them."""

from __future__ import annotations

from dsv41_tui.runtime.logs.position import rfc3339
from dsv41_tui.transport.scripts import quote

RANK_TAIL = 5000
"""Lines from before the panel: a whole boot of the engine fits."""
OTHER_TAIL = 500
KERNEL_TAIL = 2000
LAUNCHER_TAIL = 1000
UNREADABLE = 77
"""Exit code of our own for a kernel log that the login user may not read."""

_EVENTS = [
    "create",
    "start",
    "restart",
    "die",
    "oom",
    "kill",
    "stop",
    "pause",
    "unpause",
    "rename",
    "destroy",
    "health_status",
]
_EVENT = (
    '{"Type":{{json .Type}},"Action":{{json .Action}},"Actor":{"ID":{{json .Actor.ID}},"Attributes":{'
    '"name":{{json .Actor.Attributes.name}},"exitCode":{{json .Actor.Attributes.exitCode}},'
    '"signal":{{json .Actor.Attributes.signal}}}},"timeNano":{{json .TimeNano}}}'
)
"""Of an event only this: labels of an image are kilobytes, and hold what nobody asked for."""


def container_log(engine: str, identity: str, since: float | None, tail: int) -> str:
    """`docker logs -f` by id, so that a new container of the same name is a new log."""
    begin = f"--tail {tail}" if since is None else f"--since {rfc3339(since)}"
    return f"{engine} logs --timestamps --follow {begin} {quote(identity)}"


def events(engine: str) -> str:
    """What happens to containers; podman names fields otherwise and is asked for all of them."""
    if engine == "podman":
        return "exec podman events --filter type=container --format '{{json .}}'"
    filters = " ".join(f"--filter event={name}" for name in _EVENTS)
    return f"exec docker events --filter type=container {filters} --format '{_EVENT}'"


def kernel_log(root: str, since: float | None) -> str:
    """The journal's kernel messages as JSON, else `dmesg`; exit code `UNREADABLE` where neither is allowed.

    Under a path prefix it is a file, because a prefix is not a machine with a kernel of its own.
    """
    if root:
        return f"exec tail -n {KERNEL_TAIL} -F {quote(root)}/var/log/kern.log 2>/dev/null"
    begin = f"-n {KERNEL_TAIL}" if since is None else f"--no-tail --since @{int(since)}"
    return (
        'if [ -n "$(journalctl -k -n 1 -q -o cat 2>/dev/null)" ]; then exec journalctl -k -f -q -a --no-pager -o json '
        f"--output-fields=MESSAGE,PRIORITY {begin}; "
        "elif dmesg >/dev/null 2>&1; then "
        "dmesg --time-format iso -w 2>/dev/null || exec dmesg; "
        f"else exit {UNREADABLE}; fi"
    )


def launcher_files(folder: str) -> str:
    """The newest log file of the launcher: `UNIX_SECOND PATH`, when it was last written."""
    return f'f=$(ls -t {_place(folder)}/logs/*.log 2>/dev/null | head -n 1); [ -z "$f" ] || stat -c "%Y %n" "$f"'


def launcher_log(path: str) -> str:
    """First how many lines stand there already, then those, then what is added."""
    file = quote(path)
    return (
        f"n=$(wc -l < {file}); s=$((n > {LAUNCHER_TAIL} ? n - {LAUNCHER_TAIL} : 0)); echo $((n - s)); "
        f"exec tail -n +$((s + 1)) -F {file} 2>/dev/null"
    )


def _place(folder: str) -> str:
    """A folder on the node; `~` is the home of the login user there."""
    if folder == "~" or folder.startswith("~/"):
        return '"$HOME"' + (quote(folder[1:]) if folder[1:] else "")
    return quote(folder)
