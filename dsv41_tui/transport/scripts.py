"""The POSIX sh that runs on a node. Seen working in dash, bash and busybox ash.

Rule 1: nothing is installed and nothing outlives us. Each script ends when its standard input does (the panel quit,
was killed, or sshd noticed the cable) and, since sshd does not notice a cut cable by itself, when its lease does.
Rule 2: arguments are quoted here, by `quote`, and nowhere else.
Rule 3: what comes back is framed by a random word, so that login noise, torn and interleaved text are told apart.

The command line that sshd hands to the login shell holds neither a single quote inside nor a line break nor an
exclamation mark: bash, dash, zsh, ash and fish then read it alike. It reads the script itself from standard input,
line by line, so that the rest of standard input stays for the ticks.
"""

from __future__ import annotations

import shlex
from importlib import resources

LEASE_S = 900
"""A script that nobody feeds for so long is an orphan. Sessions renew earlier."""

GO = "@go"

_BOOTSTRAP = (
    'n=$(printf "\\012."); n=${n%.}; S=; while IFS= read -r l; do case $l in @go) break;; esac; S=$S$l$n; done; '
    "P=$PPID; export S P; "
    f'if timeout 5 true 2>/dev/null; then exec timeout -k 5 {LEASE_S} /bin/sh -c "eval \\"\\$S\\"" dsv41-tui; fi; '
    'eval "$S"'
)


def quote(argument: str) -> str:
    """Quote one argument for a POSIX shell. Line breaks are refused, because requests are lines."""
    if "\n" in argument or "\r" in argument or "\0" in argument:
        raise ValueError("a line break in an argument")
    return shlex.quote(argument)


def start_command() -> str:
    """The command line for the login shell."""
    return f"exec /bin/sh -c '{_BOOTSTRAP}'"


def feed(name: str, nonce: str, **variables: str) -> str:
    """What goes to standard input first: the script `name` with its variables, then `@go`."""
    body = resources.files("dsv41_tui.transport").joinpath(f"{name}.sh").read_text("ascii")
    lines = [line for line in body.splitlines() if line and not line.lstrip().startswith("#")]
    settings = [f"N={quote(nonce)}"] + [f"{key}={quote(value)}" for key, value in variables.items()]
    return "\n".join([*settings, *lines, GO]) + "\n"
