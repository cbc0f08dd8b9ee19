r"""One event of a container, of `docker events --format '{{json .}}'` or `podman events --format '{{json .}}'`.

Docker names it in `Action` with `Actor`, podman in `Status` with `Name` and `ID`. `exec_*` fires at each health check
and says nothing; events of networks, images and volumes are no container's.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.log import Level
from dsv41_tui.parsers._fields import one_line, wrong
from dsv41_tui.parsers._log_rules import split_off_stamp

_PODMAN = {"died": "die", "remove": "destroy"}


class DockerEvent(NamedTuple):
    """Something that happened to one container."""

    at: float | None
    """Unix seconds of the node's clock."""
    action: str
    """create, start, die, oom, kill, stop, destroy, health_status, restart, pause, ..., in docker's words."""
    name: str
    id: str
    exit_code: int | None
    """Of `die`."""
    signal: str | None
    """Of `kill`, as a number or a name."""
    health: str | None
    """Of `health_status`."""

    @property
    def level(self) -> Level:
        """An end that nobody asked for is told by its code: 0, and 143 after SIGTERM, are wanted ones."""
        if self.action == "oom" or (self.action == "die" and self.exit_code not in (0, 143, None)):
            return "E"
        return "W" if self.health == "unhealthy" else "I"

    @property
    def text(self) -> str:
        """The event as one line."""
        parts = [self.action, self.name]
        parts += [f"exitCode={self.exit_code}"] if self.exit_code is not None else []
        parts += [f"signal={self.signal}"] if self.signal else []
        parts += [self.health] if self.health else []
        return " ".join(parts)


def parse_docker_event(text: str) -> DockerEvent | None:
    """One JSON line; None for what is no event of a container. A ParseError for what is no JSON object."""
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong("docker events", text, "one JSON object a line") from None
    if not isinstance(event, dict):
        raise ParseError("docker events: a JSON object a line expected")
    if _text(event, "Type") not in ("container", ""):
        return None
    actor = event.get("Actor")
    actor = actor if isinstance(actor, dict) else {}
    attributes = actor.get("Attributes") or event.get("Attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    action, _, detail = (_text(event, "Action") or _text(event, "Status") or _text(event, "status")).partition(": ")
    if not action or action.startswith("exec"):
        return None
    health = detail or _text(event, "HealthStatus") or _text(event, "health_status")
    return DockerEvent(
        at=_at(event),
        action=_PODMAN.get(action, action),
        name=_text(attributes, "name") or _text(event, "Name"),
        id=_text(actor, "ID") or _text(event, "ID") or _text(event, "id"),
        exit_code=_code(attributes.get("exitCode", event.get("ContainerExitCode"))),
        signal=_text(attributes, "signal") or None,
        health=(health or None) if action == "health_status" else None,
    )


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return one_line(value)[:300] if isinstance(value, str) else ""


def _code(value: Any) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 6:
        return int(value)
    return None


def _at(event: dict[str, Any]) -> float | None:
    nano, whole, written = event.get("timeNano"), event.get("time"), event.get("Time")
    if type(nano) is int and 0 < nano < 1 << 63:
        return nano / 1e9
    if type(whole) is int and 0 < whole < 1 << 40:
        return float(whole)
    return split_off_stamp(written + " ")[0] if isinstance(written, str) and len(written) < 64 else None
