"""The stand-in for `docker` on a sandbox node: reads what is defined there, changes nothing, says what it cannot do.

Imported alone by `bin/docker` with `python -I -S`, hence the standard library only. Simulated: `ps`, `inspect`,
`container inspect|ls`, `logs`, `volume ls|inspect`, `events`, `info`, `version`, `--version`; `--format` with
`{{.A.B}}`, `{{json .A}}` and `{{range .A}}`. What waits is told the seconds through a pipe by the sandbox.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_VERSION = "28.2.2"
_PLACE = re.compile(r"\{\{\s*(json\s+)?\.([A-Za-z0-9_.]*)\s*\}\}")
_RANGE = re.compile(r"\{\{range \.([A-Za-z0-9_.]*)\}\}(.*?)\{\{end\}\}", re.DOTALL)
_TAKES_VALUE = frozenset({"--format", "-f", "--filter", "--since", "--until", "-n", "--last", "--tail"})
_SWITCHES = frozenset({"-f", "-t"})
"""Of `logs`."""
_MAPS = ("Attributes", "Labels")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z")
_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_Row = dict[str, Any]


class NotSimulated(Exception):
    """The sandbox does not play this; the message says what."""


class Failed(Exception):
    """What docker itself would refuse, in its words."""


class Call:
    """Options and arguments after the verb."""

    def __init__(self, words: Sequence[str], format_letter: str = "", switches: Collection[str] = ()) -> None:
        self.options: dict[str, list[str]] = {}
        self.arguments: list[str] = []
        todo = list(words)
        while todo:
            word = todo.pop(0)
            if not word.startswith("-") or word == "-":
                self.arguments.append(word)
                continue
            name, equals, value = word.partition("=")
            if not equals and name in _TAKES_VALUE and name not in switches:
                if not todo:
                    raise Failed(f"flag needs an argument: {name}")
                value = todo.pop(0)
            if name == "-f" and name not in switches:
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
        above = ""
        for part in filter(None, path.split(".")):
            if above in _MAPS and part not in here:
                return None  # a map, of which Go's templates take what is not there for nil
            above = part
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
    ended = "Created" if state["Status"] == "created" else f"Exited ({state['ExitCode']}) {since} ago"
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
        "Status": f"Up {since}" if up else ended,
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


def events(state: _Row, words: Sequence[str]) -> None:
    """What happens to containers from now on, or since a moment; until one, where an end was asked for."""
    call = Call(words)
    call.allow("--format", "--filter", "--since", "--until")
    begin = call.options.get("--since", [""])[-1]
    known = len(state["events"]) if not begin else sum(_at(event) < _moment(begin) for event in state["events"])
    for now in _states(wait=not call.has("--until")):
        for event in now["events"][known:]:
            if _wanted(event, call.filters()):
                sys.stdout.write(render(call.format() or _EVENT, event) + "\n")
        known = len(now["events"])
        sys.stdout.flush()


_EVENT = (
    "{{.time}} {{.Type}} {{.Action}} {{.Actor.ID}} (image={{.Actor.Attributes.image}}, name={{.Actor.Attributes.name}})"
)


def _at(event: _Row) -> str:
    return _stamp(event["timeNano"] / 1e9)


def _wanted(event: _Row, filters: Sequence[tuple[str, str]]) -> bool:
    """Values of one filter are alternatives; all filters have to hold."""
    asked: dict[str, set[str]] = {}
    for name, value in filters:
        asked.setdefault(name, set()).add(value)
    own = {"type": event["Type"], "event": event["Action"], "container": event["Actor"]["Attributes"]["name"]}
    for name in asked:
        if name not in own:
            raise NotSimulated(f"the filter {name}")
    return all(own[name] in values for name, values in asked.items())


def logs(state: _Row, words: Sequence[str]) -> None:
    """The log of a container, as json-file keeps it: `--since` is inclusive, `-f` ends with the container."""
    call = Call(words, switches=_SWITCHES)
    call.allow("-f", "--follow", "-t", "--timestamps", "-n", "--tail", "--since", "--until")
    if len(call.arguments) != 1:
        raise Failed('"docker logs" requires exactly 1 argument.')
    item = next((item for item in state["containers"] if _is(item, call.arguments[0])), None)
    if item is None:
        raise Failed(f"Error response from daemon: No such container: {call.arguments[0]}")
    try:
        file = (_control() / "logs" / item["Id"]).open(encoding="utf-8")
    except FileNotFoundError:
        return  # it never ran
    with file:
        _print(_asked(file.read().splitlines(), call), call)
        if not call.has("-f", "--follow"):
            return
        for now in _states(wait=True):
            mine = next(row["State"] for row in now["containers"] if row["Id"] == item["Id"])
            _print(file.read().splitlines(), call)
            if not mine["Running"] or mine["StartedAt"] != item["State"]["StartedAt"]:
                return


def _asked(lines: list[str], call: Call) -> list[str]:
    """Those since and until a moment, and of these the last."""
    since, until = (call.options.get(name, [""])[-1] for name in ("--since", "--until"))
    if since:
        begin = _moment(since)
        lines = [line for line in lines if line[:30] >= begin]
    if until:
        end = _moment(until)
        lines = [line for line in lines if line[:30] <= end]
    tail = next((call.options[name][-1] for name in ("--tail", "-n") if call.has(name)), "all")
    if not tail.isdecimal():
        return lines
    return lines[-int(tail) :] if int(tail) else []


def _print(lines: Sequence[str], call: Call) -> None:
    if lines:
        cut = 0 if call.has("-t", "--timestamps") else 31
        sys.stdout.write("".join(f"{line[cut:]}\n" for line in lines))
        sys.stdout.flush()


def _moment(text: str) -> str:
    """RFC 3339 in UTC, Unix seconds, or a span before now, as the stamps of a log are written."""
    if (match := _MOMENT.fullmatch(text)) is not None:
        return f"{match[1]}.{(match[2] or '.')[1:]:0<9}Z"
    try:
        return _stamp(float(text))
    except ValueError:
        pass
    span = _SPAN.fullmatch(text)
    if span is None or not text:
        raise Failed(f'invalid value for "since": failed to parse value as time or duration: "{text}"')
    hours, minutes, seconds = (int(part or 0) for part in span.groups())
    return _stamp(time.time() - 3600 * hours - 60 * minutes - seconds)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"


def _control() -> Path:
    return Path(os.environ["DSV41_SANDBOX_ROOT"], ".sandbox")


def _state() -> _Row:
    return json.loads((_control() / "docker.json").read_text("utf-8"))  # type: ignore[no-any-return]


def _states(*, wait: bool) -> Iterator[_Row]:
    """What docker knows, now and each second, until the sandbox ends."""
    yield _state()
    if not wait:
        return
    pipe = _control() / "ticks" / str(os.getpid())
    os.mkfifo(pipe)
    with pipe.open("rb", buffering=0) as ticks:
        while ticks.read(64):
            yield _state()


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
    "logs": logs,
    "info": info,
    "version": version,
}


def main(words: Sequence[str]) -> int:
    """Play one call; the exit code is docker's, or 1 for what the sandbox does not play."""
    if words[:1] in (["--version"], ["-v"]):
        sys.stdout.write(f"Docker version {_VERSION}, build sandbox\n")
        return 0
    state = _state()
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
