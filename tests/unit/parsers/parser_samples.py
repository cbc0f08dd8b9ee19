"""Access to tests/data, and the variants that a bad link or a bad peer makes of a sample."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from dsv41_tui.core.errors import ParseError

DATA = Path(__file__).parents[2] / "data"


def sample(name: str) -> str:
    """The text of a sample, line ends untouched."""
    return (DATA / name).read_bytes().decode()


def blocks(name: str, mark: str = "== ") -> dict[str, str]:
    """A sample of several files, each headed by a line that begins with `mark`."""
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in sample(name).splitlines(keepends=True):
        if line.startswith(mark):
            body = found.setdefault(line[len(mark) :].split(" (")[0].strip(), [])
        else:
            body.append(line)
    return {head: "".join(lines) for head, lines in found.items()}


def cuts(text: str) -> Iterator[str]:
    """The text, cut at every place."""
    return (text[:at] for at in range(len(text)))


def flips(text: str, count: int, seed: int = 1) -> Iterator[str]:
    """The text with one bit of one character turned, `count` times."""
    chance = random.Random(seed)
    for _ in range(count):
        at = chance.randrange(len(text))
        yield text[:at] + chr(ord(text[at]) ^ (1 << chance.randrange(7))) + text[at + 1 :]


def survives(parse: Callable[[str], object], texts: Iterator[str]) -> int:
    """Parse each text; anything but a value or a one-line ParseError fails the test. Returns how many were refused."""
    refused = 0
    for text in texts:
        try:
            parse(text)
        except ParseError as error:
            assert error.message and "\n" not in error.message and len(error.message) < 400
            refused += 1
    return refused
