"""`docker volume inspect NAME...` (or podman's): the NFS volumes that containers can mount.

Grammar: a JSON array of objects with `Name`, `Driver`, `Mountpoint` and `Options`; an NFS volume of the local driver
has `type` nfs or nfs4, `o` as mount options with `addr=`, and `device` `:/path` or `server:/path`. Messages of the
client can stand before and after the array.
"""

from __future__ import annotations

import json

from dsv41_tui.core.readings import DockerVolume
from dsv41_tui.parsers._docker import refusal
from dsv41_tui.parsers._fields import NFS_TYPES, one_line, options, source_of, wrong

_SOURCE = "docker volume inspect"
_HARMLESS = ("no such volume", "requires at least 1 argument")


def parse_docker_volumes(text: str) -> tuple[DockerVolume, ...]:
    """NFS volumes only, in docker's order; no output at all means that there is no volume.

    Raises ParseError with docker's reason where it refused or is not there, and for JSON of another shape.
    """
    start = text.find("[") if text.startswith("[") else text.find("\n[") + 1
    if not text.startswith("[") and start == 0:
        return _without_array(text)
    try:
        volumes, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        raise wrong(_SOURCE, text[start:], "a whole JSON array") from None
    return tuple(found for volume in volumes if (found := _volume(volume)) is not None)


def _without_array(text: str) -> tuple[DockerVolume, ...]:
    lowered = text.lower()
    if not text.strip() or any(phrase in lowered for phrase in _HARMLESS):
        return ()
    raise refusal(text) or wrong(_SOURCE, text, "a JSON array")


def _volume(volume: object) -> DockerVolume | None:
    if not isinstance(volume, dict):
        raise wrong(_SOURCE, str(volume), "an object per volume")
    given = volume.get("Options")
    if volume.get("Driver", "local") != "local" or not isinstance(given, dict):
        return None
    if not isinstance(given.get("type"), str) or given["type"] not in NFS_TYPES:
        return None
    name, mount_point = _text(volume, "Name"), _text(volume, "Mountpoint")
    mount_options = options(_text(given, "o") if "o" in given else "")
    return DockerVolume(
        name=name,
        mount_point=mount_point,
        source=source_of(_text(given, "device"), mount_options),
        fstype=given["type"],
        options=mount_options,
    )


def _text(table: dict[str, object], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise wrong(_SOURCE, str(value), f"{key} as text")
    return one_line(value)
