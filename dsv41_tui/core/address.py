"""Login targets as people write them: `spark1`, `me@10.0.0.2`, `me@spark2:2222`, `me@[fe80::1]:22`.

A host or user never begins with `-` and holds no white space: such a word would become an option of ssh.
"""

from __future__ import annotations

import ipaddress
import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.core.value import Value

_NAME = re.compile(r"[0-9A-Za-z_](?:[0-9A-Za-z._-]*[0-9A-Za-z_.])?")
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.$@\\-]{0,63}")
_DIGITS = re.compile(r"[0-9]{1,5}")
MAX_HOST = 253


class Target(Value):
    """Where to log in; what is None is left to ssh_config and its defaults."""

    host: str
    user: str | None = None
    port: int | None = None


def is_address(text: str) -> bool:
    """An IPv4 or IPv6 address, with a zone or without."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_host(text: str) -> bool:
    """A name or an address that can stand in a connection."""
    if ":" in text:
        return is_address(text) and not re.search(r"[^0-9A-Za-z:.%_-]", text)
    return len(text) <= MAX_HOST and _NAME.fullmatch(text) is not None


def is_user(text: str) -> bool:
    """A login name; domain accounts (`DOMAIN\\me`, `me@domain`) are ones too."""
    return _USER.fullmatch(text) is not None


def parse_target(text: str) -> Target:
    """Split `[user@]host[:port]`; a bare IPv6 address stands without a port, or in brackets with one.

    Raises ParseError with one word for what is wrong: `empty`, `user`, `port` or `host`.
    """
    text = text.strip()
    if not text:
        raise ParseError("empty")
    user, at, rest = text.rpartition("@")
    host, port = _split_port(rest)
    if at and not is_user(user):
        raise ParseError("user")
    if not is_host(host):
        raise ParseError("host")
    return Target(host=host, user=user or None, port=port)


def _split_port(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        host, closed, tail = text[1:].partition("]")
        if not closed or not is_address(host) or (tail and not tail.startswith(":")):
            raise ParseError("host")
        return host, _port(tail[1:]) if tail else None
    if text.count(":") == 1:
        host, _, tail = text.partition(":")
        return host, _port(tail)
    return text, None


def _port(text: str) -> int:
    if not _DIGITS.fullmatch(text) or not 1 <= int(text) <= 65535:
        raise ParseError("port")
    return int(text)
