"""The operator's recipe `.env`, read as shell words and never executed. Grammar and traps: `parsers.envfile`."""

from __future__ import annotations

import re

from pydantic import Field

from dsv41_tui.core.value import Value

# Whole words of a name: MAX_NUM_BATCHED_TOKENS and NFS_KEYTAB are no secrets.
_SECRET = re.compile(
    r"(?:^|_)(?:[A-Z]*KEY|TOKEN|PAT|PWD|PASS|AUTH|BEARER)_?[0-9]*$|(?:^|_)API_?KEYS?(?:_|$)|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL",
    re.IGNORECASE,
)
# HF_TOKEN_WRITE is one, LONG_PREFILL_TOKEN_THRESHOLD=1792 is none.
_TOKEN = re.compile(r"(?:^|_)TOKEN_", re.IGNORECASE)


class EnvEntry(Value):
    """One assignment of the file, or a line that looks like one and is none (`error`)."""

    key: str
    line: int
    """Line of the key, from 1."""
    raw: str = Field(default="", repr=False)
    """What stands right of the `=`, as written."""
    value: str | None = Field(default=None, repr=False)
    """What the shell would assign; None for an array, and where only running the file could tell."""
    items: tuple[str, ...] | None = Field(default=None, repr=False)
    """The words of an array."""
    computed: bool = False
    """Only running the file could tell; `reason` says what stands in the way."""
    error: bool = False
    """The shell assigns nothing here; `reason` says why."""
    reason: str | None = None
    duplicate: bool = False
    """The key is assigned more than once in the file; the last one counts."""
    tainted: bool = False
    """The value is made of one that is not to be shown, under whatever name."""
    carriage_return: bool = False
    """The line ends in CR LF, so for the shell the value ends in a carriage return; `value` is without."""

    @property
    def secret(self) -> bool:
        """Whether the value is not to be shown or stored: by its name, or by what it is made of."""
        if self.tainted or _SECRET.search(self.key):
            return True
        shown = self.raw if self.value is None else self.value
        return _TOKEN.search(self.key) is not None and not (shown or "0").isdecimal()


def secret_name(key: str) -> bool:
    """Whether a name alone says that what it stands for is not to be shown."""
    return _SECRET.search(key) is not None or _TOKEN.search(key) is not None


class EnvCommand(Value):
    """A line that runs something when the file is sourced; it is noted and not followed."""

    line: int
    text: str
    """The command's first word, or `…` where that is no plain word; its arguments can hold passwords."""


class EnvFile(Value):
    """The whole file, in its own order."""

    entries: tuple[EnvEntry, ...] = ()
    commands: tuple[EnvCommand, ...] = ()

    def get(self, key: str) -> EnvEntry | None:
        """The assignment that counts: the last one that the shell takes, computed or not."""
        return next((entry for entry in reversed(self.entries) if entry.key == key and not entry.error), None)

    def value(self, key: str) -> str | None:
        """The value that counts; None when the key is absent, computed, secret or an array."""
        entry = self.get(key)
        return None if entry is None or entry.secret else entry.value

    @property
    def errors(self) -> tuple[EnvEntry, ...]:
        """Lines that look like assignments and are none."""
        return tuple(entry for entry in self.entries if entry.error)
