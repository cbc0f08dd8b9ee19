"""One line for each fault of the configuration: file, key with the node's name, the value, what is allowed.

What is allowed is read from the models themselves, so that a new field explains itself.
"""

from __future__ import annotations

import datetime
import difflib
import json
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from dsv41_tui.config import Config
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line

SECRET_WORDS = ("password", "passphrase", "passwd", "secret", "token", "api_key", "apikey", "private_key")
_SHOWN = 60

Location = Sequence[int | str]


def shown(value: object) -> str:
    """A value as TOML writes it, cleaned and cut, for an error line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() if "PRIVATE KEY" in value:
            return t("config.kind.secret")
        case str():
            return clean_line(json.dumps(value, ensure_ascii=False), _SHOWN)
        case Mapping():
            return t("config.kind.table")
        case list() | tuple():
            return t("config.kind.array")
        case datetime.date() | datetime.time():
            return value.isoformat()
    return clean_line(str(value), _SHOWN)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, if any is."""
    folded = {item.lower().replace("-", "_"): item for item in known}
    wanted = name.lower().replace("-", "_")
    swapped = [item for item in folded if sorted(item) == sorted(wanted)]
    hits = swapped or difflib.get_close_matches(wanted, folded, n=1, cutoff=0.6)
    return folded[hits[0]] if hits else None


def dotted(location: Location, raw: Mapping[str, Any]) -> str:
    """`node.spark2.port` for `("node", 1, "port")`: an entry of a list goes by its own name, else by `#number`."""
    parts: list[str] = []
    here: Any = raw
    for part in location:
        if isinstance(part, int):
            parts.append(_entry(here, part))
            here = here[part] if isinstance(here, list | tuple) and part < len(here) else None
        else:
            parts.append(part)
            here = here.get(part) if isinstance(here, Mapping) else None
    return clean_line(".".join(parts), 120)


def _entry(entries: Any, index: int) -> str:
    """The name of an entry where it has one that no other has, else its number."""
    names = [entry.get("name") for entry in entries if isinstance(entry, Mapping)] if entries else []
    name = entries[index].get("name") if len(names) == len(entries or ()) else None
    return name if isinstance(name, str) and name.strip() and names.count(name) == 1 else f"#{index + 1}"


def model_errors(error: ValidationError, raw: Mapping[str, Any]) -> list[str]:
    """One line a fault that pydantic found, without the file's name."""
    return [_line(item["type"], item["loc"], item["input"], raw) for item in error.errors(include_url=False)]


def _line(kind: str, location: Location, value: object, raw: Mapping[str, Any]) -> str:
    key = dotted(location, raw)
    if kind == "extra_forbidden":
        return _unknown_key(key, location)
    if kind == "missing":
        return t("config.error.missing", key=key, allowed=allowed_at(location))
    return bad_value(key, value, allowed_at(location))


def bad_value(key: str, value: object, allowed: str) -> str:
    """The one form of "this value is not allowed here"."""
    return t("config.error.value", key=key, value=shown(value), allowed=allowed)


def _unknown_key(key: str, location: Location) -> str:
    name = str(location[-1])
    if any(word in name.lower().replace("-", "_") for word in SECRET_WORDS):
        return t("config.error.secret", key=key)
    model = _annotation_at(location[:-1])[0]
    known = list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []
    near = nearest(name, known)
    if near is not None:
        return t("config.error.unknown_near", key=key, nearest=near, known=", ".join(known))
    return t("config.error.unknown", key=key, known=", ".join(known))


def allowed_at(location: Location) -> str:
    """What the models allow at a place of the file, in words."""
    annotation, metadata = _annotation_at(location)
    path = ".".join(str(part) for part in location if isinstance(part, str))
    return _describe(annotation, metadata, path)


def _annotation_at(location: Location) -> tuple[Any, Sequence[Any]]:
    """The type and the constraints of a place; `object` where the models know none."""
    annotation: Any = Config
    metadata: Sequence[Any] = ()
    for part in location:
        annotation = _bare(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields.get(str(part))
            if field is None:
                return object, ()
            annotation, metadata = field.annotation, field.metadata
        else:
            arguments = get_args(annotation)
            annotation, metadata = (arguments[1 if get_origin(annotation) is dict else 0] if arguments else object), ()
    return _bare(annotation), metadata


def _bare(annotation: Any) -> Any:
    """`T` for `T | None`."""
    if get_origin(annotation) in (types.UnionType, Union):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation


def _describe(annotation: Any, metadata: Sequence[Any], path: str) -> str:
    if get_origin(annotation) is Literal:
        return t("config.allowed.one_of", values=", ".join(shown(value) for value in get_args(annotation)))
    if get_origin(annotation) is tuple:
        return t("config.allowed.tables", heading=f"[[{path}]]")
    if get_origin(annotation) is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return t("config.allowed.table", heading=f"[{path}]")
    if annotation is bool:
        return t("config.allowed.boolean")
    if annotation in (int, float):
        return t("config.allowed.whole" if annotation is int else "config.allowed.number") + _bounds(metadata)
    return t("config.allowed.text")


def _bounds(metadata: Sequence[Any]) -> str:
    """The limits of a number, in words; empty where there are none."""
    limits = {name: getattr(item, name) for item in metadata for name in ("ge", "gt", "le") if hasattr(item, name)}
    if "ge" in limits and "le" in limits:
        return t("config.allowed.between", low=limits["ge"], high=limits["le"])
    if "ge" in limits:
        return t("config.allowed.from", low=limits["ge"])
    return t("config.allowed.above", low=limits["gt"]) if "gt" in limits else ""
