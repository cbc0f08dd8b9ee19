"""Blocks of bytes to blocks of UTF-8: gzip, bzip2, xz, zstd and UTF-16 are known by their first bytes, never by a name.

Packed data that ends early or is damaged gives what could be read of it, and a line that says so. What unpacks to a
thousand times its size comes out in bounded blocks.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import importlib
import lzma
import shutil
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line

Report = Callable[[str], None]
_PIECE = 1 << 18
_LOOK = 4096
_PATIENCE_S = 0.5
"""For the feeder, which can be held by an input that says nothing; it ends with the process."""
_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _Gzip:
    """zlib's object with the manners of the other decompressors."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def unpacked(blocks: Iterator[bytes], shown: str, report: Report) -> Iterator[bytes]:
    """`blocks` as UTF-8, whatever they were. ConfigError where zstd is needed and nothing here can read it."""
    head, blocks = _peek(blocks, 6)
    if head.startswith(b"\x1f\x8b"):
        blocks = _members(blocks, _Gzip, b"\x1f\x8b", "gzip", shown, report)
    elif head.startswith(b"BZh"):
        blocks = _members(blocks, bz2.BZ2Decompressor, b"BZh", "bzip2", shown, report)
    elif head.startswith(b"\xfd7zXZ\x00"):
        blocks = _members(blocks, lzma.LZMADecompressor, b"\xfd7zXZ\x00", "xz", shown, report)
    elif head.startswith(b"\x28\xb5\x2f\xfd"):
        blocks = _zstd(blocks, shown, report)
    return _as_utf8(blocks)


def _peek(blocks: Iterator[bytes], least: int) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, at least `least` where there are so many, and the same blocks from the start."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= least:
            break
    return head, _chain(head, blocks)


def _chain(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from blocks


def _members(
    blocks: Iterator[bytes], new: Callable[[], _Decompressor], magic: bytes, kind: str, shown: str, report: Report
) -> Iterator[bytes]:
    """Members that stand one behind the other; zeros and other rubbish behind the last are passed over."""
    inner = new()
    try:
        for block in blocks:
            data = block
            while True:
                if inner.eof:
                    data = inner.unused_data + data
                    if not data:
                        break
                    if not data.startswith(magic[: len(data)]):
                        return
                    inner = new()
                piece = inner.decompress(data, _PIECE)
                if piece:
                    yield piece
                data = b""
                if not inner.eof and len(piece) < _PIECE:
                    break
        if not inner.eof:
            report(t("diagnose.input.cut", file=shown, kind=kind))
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
        report(t("diagnose.input.damaged", file=shown, kind=kind, why=clean_line(str(error), 120)))


def _zstd(blocks: Iterator[bytes], shown: str, report: Report) -> Iterator[bytes]:
    """By the standard library where it has zstd (3.14), else by the program."""
    with contextlib.suppress(ImportError):
        module: Any = importlib.import_module("compression.zstd")
        return _members(blocks, module.ZstdDecompressor, b"\x28\xb5\x2f\xfd", "zstd", shown, report)
    program = shutil.which("zstd")
    if program is None:
        raise ConfigError(t("diagnose.error.zstd", file=shown), fix=("sudo apt install zstd",))
    return _through(program, blocks, shown, report)


def _through(program: str, blocks: Iterator[bytes], shown: str, report: Report) -> Iterator[bytes]:
    """The program's output; a thread feeds it, since it writes while it reads."""
    child = subprocess.Popen([program, "-dcq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    feeder = threading.Thread(target=_feed, args=(child, blocks), daemon=True)
    feeder.start()
    assert child.stdout is not None and child.stderr is not None
    try:
        while piece := child.stdout.read(_PIECE):
            yield piece
        said = clean_line(child.stderr.read(4096).decode("utf-8", "replace"), 120)
        if child.wait() != 0:
            report(t("diagnose.input.damaged", file=shown, kind="zstd", why=said))
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        feeder.join(_PATIENCE_S)
        child.stdout.close()
        child.stderr.close()


def _feed(child: subprocess.Popen[bytes], blocks: Iterable[bytes]) -> None:
    assert child.stdin is not None
    with contextlib.suppress(OSError, ValueError), contextlib.closing(child.stdin):
        for block in blocks:
            child.stdin.write(block)


def _as_utf8(blocks: Iterator[bytes]) -> Iterator[bytes]:
    head, blocks = _peek(blocks, 4)
    for mark, encoding in _BOMS:
        # Two damaged bytes look like a mark of UTF-16; its blanks and line feeds have a NUL each.
        if head.startswith(mark) and (encoding == "utf-8" or b"\0" in head):
            return _recoded(_without(len(mark), blocks), encoding)
    encoding = _wide(head)
    return _recoded(blocks, encoding) if encoding else blocks


def _without(count: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(blocks, b"")
    yield first[count:]
    yield from blocks


def _wide(head: bytes) -> str:
    """UTF-16 without its mark: nearly every second byte is NUL, and the others are not."""
    look = head[:_LOOK]
    pairs = len(look) // 2
    if pairs < 2:
        return ""
    even, odd = look[0 : pairs * 2 : 2].count(0), look[1 : pairs * 2 : 2].count(0)
    if odd >= 0.6 * pairs and even <= 0.05 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even >= 0.6 * pairs and odd <= 0.05 * pairs else ""


def _recoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
