"""The stand-in for `docker` on a sandbox node: reads what is defined there, changes nothing, says what it cannot do.

Imported alone by `bin/docker` with `python -I -S`, hence the standard library only. Simulated: `ps`, `inspect`,
`container inspect|ls`, `volume ls|inspect`, `events` (nothing happens: it waits), `info`, `version`, `--version`;
`--format` with `{{.A.B}}` and `{{json .A}}`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_VERSION = "28.2.2"
_PLACE = re.compile(r"\{\{\s*(json\s+)?\.([A-Za-z0-9_.]*)\s*\}\}")
_RANGE = re.compile(r"\{\{range \.([A-Za-z0-9_.]*)\}\}(.*?)\{\{end\}\}", re.DOTALL)
_TAKES_VALUE = frozenset({"--format", "-f", "--filter", "--since", "--until", "-n", "--last"})
_Row = dict[str, Any]


class NotSimulated(Exception):
    """The sandbox does not play this; the message says what."""


class Failed(Exception):
    """What docker itself would refuse, in its words."""


class Call:
    """Options and arguments after the verb."""

    def __init__(self, words: Sequence[str], format_letter: str = "") -> None:
        self.options: dict[str, list[str]] = {}
        self.arguments: list[str] = []
        todo = list(words)
        while todo:
            word = todo.pop(0)
            if not word.startswith("-") or word == "-":
                self.arguments.append(word)
                continue
            name, equals, value = word.partition("=")
            if not equals and name in _TAKES_VALUE:
                if not todo:
                    raise Failed(f"flag needs an argument: {name}")
                value = todo.pop(0)
            if name == "-f":
                name = "--format" if format_letter == "f" else "--filter"
            self.options.setdefault(name, []).append(value)

    def allow(self, *names: str) -> None:
        """Refuse options that the sandbox does not play, rather than to ignore them."""
        for name in self.options:
            if name not in names:
                raise NotSimulated(f"option {name}")

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)

    def format(self) -> str | None:
        return self.options.get("--format", [None])[-1]

    def filters(self) -> list[tuple[str, str]]:
        pairs = [item.partition("=") for item in self.options.get("--filter", [])]
        return [(name, value) for name, _, value in pairs]


def render(template: str, row: Any) -> str:
    """The part of Go's templates that monitors use."""
    if template == "json":
        return json.dumps(row, separators=(",", ":"))

    def at(path: str) -> Any:
        here: Any = row
        for part in filter(None, path.split(".")):
            if not isinstance(here, dict) or part not in here:
                raise Failed(f"template: :1: can't evaluate field {part} in {path}")
            here = here[part]
        return here

    def value(match: re.Match[str]) -> str:
        here = at(match[2])
        return json.dumps(here, separators=(",", ":")) if match[1] or not isinstance(here, str) else here

    def each(match: re.Match[str]) -> str:
        return "".join(render(match[2], item) for item in at(match[1]) or ())

    template = template.replace("\\t", "\t").replace("\\n", "\n").replace("{{println}}", "\n")
    if "{{" in _PLACE.sub("", _RANGE.sub("", template)):
        raise NotSimulated(f"the template {template}")
    return _PLACE.sub(value, _RANGE.sub(each, template))


def show(rows: Sequence[_Row], call: Call, key: str, columns: Sequence[str]) -> None:
    """A listing: `-q` names only, a template, or a table."""
    template = call.format()
    if call.has("-q", "--quiet"):
        lines = [str(row[key]) for row in rows]
    elif template is not None and not template.startswith("table"):
        lines = [render(template, row) for row in rows]
    else:
        table = [[name.upper() for name in columns], *([str(row[name]) for name in columns] for row in rows)]
        widths = [max(len(line[index]) for line in table) + 3 for index in range(len(columns))]
        lines = [
            "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
        ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def inspect(objects: Sequence[_Row], call: Call, kind: str) -> None:
    """Objects by name or id, as an array or by a template; a name that nobody has fails after the rest."""
    call.allow("--format", "--type", "-s", "--size")
    if not call.arguments:
        raise Failed(f'"docker {kind}inspect" requires at least 1 argument.')
    found, missing = [], []
    for name in call.arguments:
        hit = next((item for item in objects if _is(item, name)), None)
        if hit is None:
            missing.append(name)
        else:
            found.append(hit)
    template = call.format()
    if template is None or template == "json":
        sys.stdout.write(json.dumps(found, indent=4) + "\n")
    else:
        sys.stdout.write("".join(render(template, item) + "\n" for item in found))
    if missing:
        word = {"volume ": "get {0}: no such volume", "": "No such object: {0}"}.get(kind, "No such container: {0}")
        raise Failed("Error: " + word.format(missing[0]) if not kind else word.format(missing[0]))


def _is(item: _Row, name: str) -> bool:
    identity = str(item.get("Id", ""))
    return str(item["Name"]).lstrip("/") == name.lstrip("/") or (len(name) >= 4 and identity.startswith(name))


def volumes(state: _Row, words: Sequence[str]) -> None:
    """`docker volume ls|inspect`."""
    verb, rest = (words[0] if words else ""), words[1:]
    if verb == "inspect":
        inspect(state["volumes"], Call(rest, "f"), "volume ")
    elif verb in ("ls", "list"):
        call = Call(rest)
        call.allow("-q", "--quiet", "--format", "--filter")
        rows = [{**volume, "Links": "N/A", "Size": "N/A"} for volume in state["volumes"]]
        for name, value in call.filters():
            if name not in ("driver", "name"):
                raise NotSimulated(f"the filter {name}")
            rows = [row for row in rows if value in str(row[name.capitalize()])]
        show(rows, call, "Name", ("Driver", "Name"))
    else:
        raise NotSimulated(f"volume {verb}")


def containers(state: _Row, words: Sequence[str]) -> None:
    """`docker ps`, with the fields of its templates."""
    call = Call(words)
    call.allow("-a", "--all", "-q", "--quiet", "--no-trunc", "--format", "--filter")
    rows = [_listed(item, whole=call.has("--no-trunc")) for item in state["containers"]]
    if not call.has("-a", "--all"):
        rows = [row for row in rows if row["State"] == "running"]
    for name, value in call.filters():
        if name == "name":
            rows = [row for row in rows if re.search(value, f"/{row['Names']}")]
        elif name == "status":
            rows = [row for row in rows if row["State"] == value]
        else:
            raise NotSimulated(f"the filter {name}")
    show(rows, call, "ID", ("ID", "Image", "Command", "Status", "Names"))


def _listed(item: _Row, *, whole: bool) -> _Row:
    state = item["State"]
    now = datetime.now(UTC)
    up = state["Status"] == "running"
    since = _ago(now, state["StartedAt"] if up else state["FinishedAt"])
    return {
        "Command": json.dumps(" ".join([item["Path"], *item["Args"]])),
        "CreatedAt": item["Created"][:19].replace("T", " ") + " +0000 UTC",
        "ID": item["Id"] if whole else item["Id"][:12],
        "Image": item["Config"]["Image"],
        "Labels": "",
        "LocalVolumes": "0",
        "Mounts": "",
        "Names": item["Name"].lstrip("/"),
        "Networks": item["HostConfig"]["NetworkMode"],
        "Ports": "",
        "RunningFor": f"{_ago(now, item['Created'])} ago",
        "Size": "0B",
        "State": state["Status"],
        "Status": f"Up {since}" if up else f"Exited ({state['ExitCode']}) {since} ago",
    }


def _ago(now: datetime, stamp: str) -> str:
    seconds = int((now - datetime.fromisoformat(stamp[:19] + "+00:00")).total_seconds())
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{max(0, seconds)} seconds"


def container(state: _Row, words: Sequence[str]) -> None:
    """`docker container inspect|ls`."""
    verb, rest = (words[0] if words else ""), words[1:]
    if verb == "inspect":
        inspect(state["containers"], Call(rest, "f"), "container ")
    elif verb in ("ls", "ps", "list"):
        containers(state, rest)
    else:
        raise NotSimulated(f"container {verb}")


def events(_: _Row, words: Sequence[str]) -> None:
    """Nothing happens to the containers of the sandbox: wait until killed, or return where an end was asked for."""
    call = Call(words)
    call.allow("--format", "--filter", "--since", "--until")
    while not call.has("--until"):
        signal.pause()


def info(_: _Row, words: Sequence[str]) -> None:
    """The few fields that tell which docker this is."""
    call = Call(words, "f")
    call.allow("--format")
    row = {
        "ServerVersion": _VERSION,
        "CgroupVersion": "2",
        "CgroupDriver": "systemd",
        "LoggingDriver": "json-file",
        "Architecture": "aarch64",
        "Driver": "overlay2",
    }
    template = call.format() or "\n".join(f" {name}: {{{{.{name}}}}}" for name in row)
    sys.stdout.write(render(template, row) + "\n")


def version(_: _Row, words: Sequence[str]) -> None:
    """Client and server are of one version."""
    call = Call(words, "f")
    call.allow("--format")
    side = {"Version": _VERSION, "Os": "linux", "Arch": "arm64"}
    template = call.format() or "Client: {{.Client.Version}}\nServer: {{.Server.Version}}"
    sys.stdout.write(render(template, {"Client": side, "Server": side}) + "\n")


_VERBS: dict[str, Callable[[_Row, Sequence[str]], None]] = {
    "ps": containers,
    "inspect": lambda state, words: inspect([*state["containers"], *state["volumes"]], Call(words, "f"), ""),
    "container": container,
    "volume": volumes,
    "events": events,
    "info": info,
    "version": version,
}


def main(words: Sequence[str]) -> int:
    """Play one call; the exit code is docker's, or 1 for what the sandbox does not play."""
    if words[:1] in (["--version"], ["-v"]):
        sys.stdout.write(f"Docker version {_VERSION}, build sandbox\n")
        return 0
    state = json.loads(Path(os.environ["DSV41_SANDBOX_ROOT"], ".sandbox", "docker.json").read_text("utf-8"))
    try:
        if not words or words[0] not in _VERBS:
            raise NotSimulated(" ".join(words[:2]) or "a call without a verb")
        _VERBS[words[0]](state, words[1:])
    except NotSimulated as what:
        sys.stderr.write(f"docker: {what} is not simulated in the sandbox\n")
        return 1
    except Failed as why:
        sys.stderr.write(f"{why}\n")
        return 1
    return 0


def run(words: Sequence[str]) -> None:
    """As the program `docker`: dies of signals without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(words))
