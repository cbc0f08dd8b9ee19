"""What `diagnose` costs: time for an engine's log beside a bare loop over its lines; memory of a long stream."""

from __future__ import annotations

import os
import random
import statistics
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dsv41_tui.core.book_index import CompiledBook
from dsv41_tui.core.book_pattern import Pattern
from dsv41_tui.core.pattern import requirements
from dsv41_tui.runtime.failures import load_book
from tests.bench.report import Row

SAMPLES = Path(__file__).parents[1] / "data" / "log" / "vllm"
HEALTHY = ("vllm-0.32.0-cpu-start-deepseek_v41-parsers.log", "gb10-vllm-boot-0.33-style.log")
DIAGNOSE = [sys.executable, "-m", "dsv41_tui", "diagnose", "--json", "-"]
LOOP = [sys.executable, "-c", "import sys\nfor line in sys.stdin.buffer: len(line)"]
MIB = 1 << 20
SERVED = 40
"""Lines that an engine writes every ten seconds, for each line of its start."""


def healthy_log(mib: int) -> Iterator[bytes]:
    """A start and long service, again and again, with numbers that vary; blocks of about a MiB."""
    lines = [line for name in HEALTHY for line in (SAMPLES / name).read_text("utf-8").splitlines()]
    steady = [line for line in lines if "throughput" in line or "GET /health" in line]
    chance = random.Random(1)
    size = 0
    while size < mib * MIB:
        text = "\n".join([*lines, *steady * (SERVED * len(lines) // max(1, len(steady)))]) + "\n"
        digits = "".join(chance.sample(string.digits, 10))
        block = text.translate(str.maketrans(string.digits, digits)).encode()
        size += len(block)
        yield block


def diagnose_cost(mib: int, rounds: int) -> list[Row]:
    """CPU seconds for 50 MiB, where a second is the budget, and the greatest resident memory of six times as much."""
    whole = b"".join(healthy_log(mib))
    ours, floor = [], []
    for _ in range(rounds):
        floor.append(_seconds(LOOP, whole))
        ours.append(_seconds(DIAGNOSE, whole))
    scale = 50 * MIB / len(whole)
    return [
        Row.floor(
            "diagnose: 50 MiB of log", "s", statistics.median(ours) * scale, statistics.median(floor) * scale,
            "a loop over the lines", 1.0,
        ),
        Row("diagnose: memory of a stream six times as long", "MiB", _memory_mib(healthy_log(mib * 6)), limit=160.0),
    ]  # fmt: skip


def linear(rounds: int) -> Row:
    """The worst pattern of the book: seconds for 256 KiB of text made of its own literals, beside 64 KiB of it."""
    chance = random.Random(5)
    known = CompiledBook(load_book().book).patterns
    for pattern in known:
        pattern.search("")
    tried = {pattern: _searched(pattern, _of_literals(pattern, chance, 1 << 12)) for pattern in known}
    costs = []
    for pattern in sorted(known, key=tried.__getitem__)[-10:]:
        text = _of_literals(pattern, chance, 1 << 18)
        whole = min(_searched(pattern, text) for _ in range(rounds))
        part = min(_searched(pattern, text[: 1 << 16]) for _ in range(rounds))
        costs.append((whole, part))
    whole, part = max(costs, key=lambda cost: cost[0] / cost[1])
    return Row.ratio("failure book: 256 KiB of hostile text", "s", whole, part, "the same pattern, 64 KiB", 6.0)


def _of_literals(pattern: Pattern, chance: random.Random, size: int) -> str:
    """Text that a pattern does not match and that makes it try most often."""
    pieces = [text for texts in requirements(pattern.text) for text in texts[:1]][:-1] or [pattern.keys[0][:-1]]
    made = "".join(chance.choice([*pieces, pieces[0], " ", "a", "0"]) for _ in range(size // 2))[:size]
    return made.ljust(size, "a")


def _searched(pattern: Pattern, text: str) -> float:
    began = time.process_time()
    pattern.search(text)
    return max(time.process_time() - began, 1e-6)


def _seconds(argv: list[str], data: bytes) -> float:
    """CPU time, which a busy machine does not stretch."""
    return _run(argv, iter((data,)))[0]


def _memory_mib(blocks: Iterator[bytes]) -> float:
    return _run(DIAGNOSE, blocks)[1]


def _run(argv: list[str], blocks: Iterator[bytes]) -> tuple[float, float]:
    """CPU seconds and the greatest resident memory in MiB of one process that reads `blocks`."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        for block in blocks:
            process.stdin.write(block)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
