"""Blocks of bytes to whole, cleaned lines of bounded length, with the wrapping of docker and journald taken off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from dsv41_tui.core.text import clean
from dsv41_tui.parsers.stamp import parse_stamp

LINE_LIMIT = 64 << 10
"""Longest line that is kept whole, in bytes: four of docker's pieces of 16 KiB."""
_KEEP = 16 << 10
_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_PLAIN_OR_HIGH = bytes([9, 10, *range(32, 127), *range(128, 256)])


class LineTimes(Sequence["float | None"]):
    """The time of each line, looked up when somebody asks: nearly nobody does, and a stamp costs 2 us."""

    def __init__(self, lines: Sequence[str], known: Sequence[float | None] | None, year: int) -> None:
        self._lines, self._known, self._year = lines, known, year

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> float | None: ...
    @overload
    def __getitem__(self, at: slice) -> LineTimes: ...
    def __getitem__(self, at: int | slice) -> float | LineTimes | None:
        if isinstance(at, slice):
            return LineTimes(self._lines[at], None if self._known is None else self._known[at], self._year)
        known = None if self._known is None else self._known[at]
        return parse_stamp(self._lines[at], self._year) if known is None else known


class Batch(NamedTuple):
    """Consecutive lines of one input."""

    lines: list[str]
    at: Sequence[float | None]


class Cutter:
    """Cuts blocks into chunks of whole lines. Of a line beyond `LINE_LIMIT` its head and its tail are kept."""

    def __init__(self) -> None:
        self.cut_lines = 0
        self.longest = 0
        self._head = b""
        self._tail = b""
        self._lost = 0

    def chunks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            cut = block.rfind(b"\n") + 1
            if not cut:
                self._grow(block)
                continue
            first = block.find(b"\n")
            if self._lost:
                self._grow(block[:first])
                yield self._take() + b"\n"
                if first + 1 < cut:
                    yield self._bounded(block[first + 1 : cut])
            else:
                yield self._bounded(self._take() + block[:cut])
            self._grow(block[cut:])
        if rest := self._take():
            yield rest

    def _grow(self, piece: bytes) -> None:
        """Add to the line that is not whole yet; of a progress bar only the last state is kept."""
        if self._lost:
            self._tail += piece
        else:
            self._head += piece
            if len(self._head) > LINE_LIMIT:
                self._head = _last_state(self._head)
            if len(self._head) <= LINE_LIMIT:
                return
            self._head, self._tail = self._head[:_KEEP], self._head[_KEEP:]
        over = len(self._tail) - _KEEP
        if over > 0:
            self._lost += over
            self._tail = self._tail[over:]

    def _take(self) -> bytes:
        line = self._head
        if self._lost:
            self.cut_lines += 1
            self.longest = max(self.longest, len(self._head) + self._lost + len(self._tail))
            line += b" [... %d bytes ...] " % self._lost + self._tail
        self._head, self._tail, self._lost = b"", b"", 0
        return line

    def _bounded(self, chunk: bytes) -> bytes:
        """The chunk with its own long lines cut. Where each half of the limit holds a line end, no line is too long."""
        half = LINE_LIMIT // 2
        if all(chunk.find(b"\n", at, at + half) >= 0 for at in range(0, len(chunk) - half, half)):
            return chunk
        return b"\n".join(self._cut(line) for line in chunk.split(b"\n"))

    def _cut(self, line: bytes) -> bytes:
        if len(line) <= LINE_LIMIT:
            return line
        line = _last_state(line)
        self._grow(line)
        return self._take()


def _last_state(line: bytes) -> bytes:
    """What a terminal would show of a line with carriage returns, and the stamp before it."""
    *before, last = [piece for piece in line.split(b"\r") if piece] or [b""]
    if before and last[:4] != before[0][:4] and before[0][:2] == b"20" and before[0][10:11] == b"T":
        return before[0].split(b" ", 1)[0] + b" " + last
    return last


class Records:
    """Chunks to batches: decoded, cleaned, and freed of docker's and journald's JSON."""

    def __init__(self, year: int | None = None) -> None:
        self._year = year or 1970
        self._pieces: dict[str, str] = {}
        """Of docker's records that did not end in a line feed, by stream."""

    def batch(self, chunk: bytes) -> Batch:
        lines = _lines(chunk)
        if b'{"' in chunk and any(line.startswith('{"') for line in lines):
            return self._unwrapped(lines)
        return Batch(lines, LineTimes(lines, None, self._year))

    def rest(self) -> Batch:
        """What still waits for its line feed at the end."""
        lines = [piece for piece in self._pieces.values() if piece]
        self._pieces.clear()
        return Batch(lines, LineTimes(lines, None, self._year))

    def _unwrapped(self, lines: list[str]) -> Batch:
        texts: list[str] = []
        times: list[float | None] = []
        for line in lines:
            record = _record(line)
            if record is None:
                texts.append(line)
                times.append(None)
                continue
            said, at = self._docker(record) if "log" in record else _journal(record)
            for part in said:
                texts.append(part)
                times.append(at)
        return Batch(texts, LineTimes(texts, times, self._year))

    def _docker(self, record: dict[str, Any]) -> tuple[list[str], float | None]:
        """json-file: a long line is cut into records, and only the last one ends in a line feed."""
        stream, log = str(record.get("stream")), str(record["log"])
        whole = self._pieces.pop(stream, "") + log
        if not log.endswith("\n") and len(whole) < LINE_LIMIT and len(self._pieces) < 8:
            self._pieces[stream] = whole
            return [], None
        return _texts(whole), parse_stamp(str(record.get("time")))


def _record(line: str) -> dict[str, Any] | None:
    """A line of `json-file` or `journalctl -o json`; None for any other."""
    if not line.startswith('{"') or not ('"log":' in line or '"MESSAGE"' in line):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    return record if isinstance(record.get("log"), str) or "MESSAGE" in record else None


def _journal(record: dict[str, Any]) -> tuple[list[str], float | None]:
    """`spark-01 kernel: text`; a message that is no UTF-8 comes as numbers of bytes."""
    message = record["MESSAGE"]
    if isinstance(message, list):
        numbers = [byte for byte in message if isinstance(byte, int) and 0 <= byte < 256]
        message = bytes(numbers).decode("utf-8", "replace")
    head = " ".join(str(record[name]) for name in ("_HOSTNAME", "SYSLOG_IDENTIFIER") if record.get(name))
    head = clean(head).replace("\n", " ")
    stamp = str(record.get("__REALTIME_TIMESTAMP") or record.get("_SOURCE_REALTIME_TIMESTAMP") or "")
    at = int(stamp) / 1e6 if stamp.isascii() and stamp.isdigit() and len(stamp) < 18 else None
    return [f"{head}: {text}" if head else text for text in _texts(str(message or ""))], at


def _texts(text: str) -> list[str]:
    lines = _returns(text).split("\n")
    return [clean(line) for line in (lines[:-1] if lines[-1] == "" and len(lines) > 1 else lines)]


def _lines(chunk: bytes) -> list[str]:
    """Decoded, split, cleaned. Nearly every chunk is plain, and one pass in C tells; of others few lines are not."""
    text = chunk.decode("utf-8", "replace")
    plain = not chunk.translate(None, _PLAIN_OR_HIGH)
    lines = (text if plain else _returns(text)).split("\n")
    if not lines[-1]:
        lines.pop()
    if not plain:
        return [line if line.isascii() and line.isprintable() else _clean_line(line) for line in lines]
    return lines if text.isascii() else [line if line.isascii() else clean(line) for line in lines]


def _clean_line(line: str) -> str:
    """Colours first, which are most of what there is; what that leaves is cleaned as everywhere."""
    if "\x1b[" in line:
        line = _COLOURS.sub("", line)
        if line.isascii() and line.isprintable():
            return line
    return clean(line)


def _returns(text: str) -> str:
    """Line ends as LF, and the last state of lines that a progress bar wrote over."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(_last_state_of(line) if "\r" in line else line for line in text.split("\n"))


def _last_state_of(line: str) -> str:
    return _last_state(line.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
