"""Errors, drawn once; foreign errors are mapped to these at the edge.

PanelError                 one line for the operator: what, where, what to do
├── ConfigError            our own configuration or call is wrong (exit 2)
├── ParseError             a source said something that its grammar does not allow
└── LinkError              a node cannot be worked with
    ├── Unreachable        no connection: refused, no route, name unknown, closed before login
    ├── TimedOut           something answered too late, or nothing did
    └── Refused            the node or our own checks said no: login, host key, a missing command
"""

from __future__ import annotations

from typing import Literal

LinkErrorKind = Literal["unreachable", "timed-out", "refused"]
LinkReason = Literal["", "key-unknown", "key-changed", "no-key", "passphrase", "port-closed", "no-name"]
"""What is known for certain of a failed login, for the verdict; "" where only the message tells."""


class PanelError(Exception):
    """One line that says what is wrong, where, and what to do."""

    def __init__(self, message: str, *, fix: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        """Exact commands that mend it, to be run by the operator on their own machine."""


class ConfigError(PanelError):
    """The configuration or the command line is wrong."""


class ParseError(PanelError):
    """Text that does not follow the grammar of its source."""


class LinkError(PanelError):
    """A node cannot be worked with; the kind decides the pace of the retries."""

    kind: LinkErrorKind = "unreachable"

    def __init__(self, message: str, *, fix: tuple[str, ...] = (), reason: LinkReason = "") -> None:
        super().__init__(message, fix=fix)
        self.reason: LinkReason = reason


class Unreachable(LinkError):
    """No connection came about."""


class TimedOut(LinkError):
    """Nothing, or not enough, was said in time."""

    kind: LinkErrorKind = "timed-out"


class Refused(LinkError):
    """Said no; waiting alone does not mend it."""

    kind: LinkErrorKind = "refused"
