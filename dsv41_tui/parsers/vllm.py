r"""Lines of vLLM 0.11 to 0.33: `(Worker_TP0 pid=268) INFO 11-30 17:40:02 [file.py:12] TEXT`, and bare ones.

Up to 0.27 the prefix stands before every Python line of a process, from 0.32 before vLLM's own only: progress bars,
uvicorn and warnings are bare. The stamp has no year and no zone, so it is not read. The recipes run development builds,
so a meaning is found by the text and never by the version.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dsv41_tui.core.log import Level
from dsv41_tui.parsers._log_rules import HEAD, LEVELS, meaning, rule

_PREFIX = re.compile(r"\((?P<process>[A-Za-z][\w-]{0,60}) pid=(?P<pid>\d{1,10})\) ?", re.ASCII)
_LEVEL = re.compile(
    r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[(?P<file>[^\]\n]{1,200})\] ?"
)
_RANK = re.compile(r"(?:_(?P<kind>DP|PP|PCP|TP|DCP|EP)(?P<index>\d{1,4}))")

_RULES = (
    rule(
        "stats",
        "Avg generation throughput",
        r"Avg prompt throughput: <prompt:num> tokens/s, Avg generation throughput: <generation:num>"
        r" tokens/s, Running: <running:int> reqs, Waiting: <waiting:int> reqs(?:.{0,200}?KV cache usage:"
        r" <kv:num>%)?",
    ),
    rule(
        "spec-decode",
        "SpecDecoding metrics",
        r"Mean acceptance length: <length:num>(?:.{0,400}?Avg Draft acceptance rate: <rate:num>%)?",
    ),
    rule("silent", "shared memory broadcast block"),
    rule(
        "died",
        "died unexpectedly",
        r"(?:Worker proc |[Pp]rocess )(?P<name>[\w:-]{1,60}) died unexpectedly(?:.{0,20}exit code:"
        r" <code:num>)?",
    ),
    rule("peer-closed", "closed by peer", r"[Cc]onnection closed by peer <address:ip>:<port:int>"),
    rule("fatal", "EngineCore encountered a fatal error"),
    rule("engine-dead", "EngineDeadError"),
    rule("init-failed", "Engine core initialization failed"),
    rule(
        "stopping",
        "[shutdown]",
        r"\[shutdown\] (?:API server: shutdown triggered|EngineCore: trigger received signal=SIG"
        r"(?:TERM|INT))",
    ),
    rule(
        "stopping",
        "Received signal",
        r"\b(?:API server|APIServer|Engine|Worker|EngineCore)\b.{0,60}[Rr]eceived (?:signal )?"
        r"(?:15|2|SIGTERM|SIGINT)\b",
    ),
    rule("headless", "headless", r"Launching vLLM \(v(?P<version>[^\s)]{1,80})\) headless"),
    rule("args", "non-default args:"),
    rule("engine", "Initializing a V", r"Initializing a V\d (?:LLM )?engine \(v(?P<version>[^\s)]{1,80})\)"),
    rule("banner", "version ", r"[█▀▄ ]{3,60} version (?P<version>\d[\w.+-]{0,60})$"),
    rule("world", "world_size=", r"world_size=<size:int> rank=<rank:int> local_rank"),
    rule("world", "in world size", r"rank <rank:int> in world size <size:int> is assigned"),
    rule("collectives", "all-reduce backends"),
    rule("load", "Starting to load model"),
    rule("load", "Loading model from scratch"),
    rule(
        "filesystem",
        "Filesystem type for checkpoints",
        r"Filesystem type for checkpoints: (?P<type>[\w./-]{1,20})\. Checkpoint size: <size:num> GiB\."
        r" Available RAM: <ram:num> GiB",
    ),
    rule("prefetch", "Prefetching checkpoint files"),
    rule(
        "shards",
        "checkpoint shards",
        r"Loading \w{1,30} checkpoint shards(?: \(eager\))?: {0,4}<percent:int>% Completed \|"
        r" <done:int>/<total:int>",
    ),
    rule("weights", "Loading weights took", r"Loading weights took <seconds:num> seconds"),
    rule("loaded", "Model loading took", r"Model loading took <gib:num> GiB (?:memory )?and <seconds:num> seconds"),
    rule("kv-format", "KV cache format"),
    rule("compile", "Starting torch.compile"),
    rule("compile", "Dynamo bytecode transform time"),
    rule("compile", "Compiling a graph for"),
    rule("compile", "Directly load the compiled graph"),
    rule("compiled", "torch.compile t", r"torch\.compile (?:takes|took) <seconds:num> s in total"),
    rule("memory", "Available KV cache memory", r"Available KV cache memory: <gib:num> GiB"),
    rule("kv", "KV cache size:", r"KV cache size: <tokens:num> tokens"),
    rule("kv", "Maximum concurrency for", r"Maximum concurrency for <context:num> tokens per request: <times:num>x"),
    rule("capture", "Capturing CUDA graphs"),
    rule("graphs", "Graph capturing finished", r"Graph capturing finished in <seconds:num> secs?"),
    rule("engine-ready", "init engine (", r"init engine \([^)]{1,80}\) took <seconds:num> s"),
    rule("server", "Starting vLLM "),
    rule("serving", "Application startup complete"),
)


class VllmLine(NamedTuple):
    """One line; process and level are absent on bare ones."""

    process: str | None
    """`APIServer`, `EngineCore`, `Worker_TP0`, `MainProcess`, ..."""
    pid: int | None
    rank: int | None
    """Where the process name alone tells it: `Worker_TP1`, `VllmWorker-1`; None with other parallel groups."""
    level: Level
    file: str | None
    text: str
    says: str
    """Its meaning, "" where it has none that matters: a boot phase, `stats`, `died`, `silent`, `peer-closed`, ..."""
    values: dict[str, str]


def parse_vllm(text: str) -> VllmLine | None:
    """One cleaned line, its docker stamp taken off. None: neither the prefix nor a known text of vLLM stands there."""
    text = text[:HEAD]
    process = pid = file = None
    level: Level = ""
    place = text.find(" pid=", 0, 160)
    prefix = _PREFIX.search(text, 0, place + 20) if place > 0 else None
    if prefix is not None:
        process, pid = prefix["process"], int(prefix["pid"])
        text = text[prefix.end() :]
    head = _LEVEL.match(text)
    if head is not None:
        level, file = LEVELS[head["level"]], head["file"]
        text = text[head.end() :]
    says, values = meaning(_RULES, text)
    if process is None and head is None and not says:
        return None
    return VllmLine(process, pid, _rank(process), level, file, text, says, values)


def _rank(process: str | None) -> int | None:
    """The rank in a name such as `Worker_TP1`; None where another group with more than one member stands there."""
    if process is None:
        return None
    if process.startswith("VllmWorker-"):
        number = process.removeprefix("VllmWorker-")
        return int(number) if number.isdecimal() and len(number) < 5 else None
    if not process.startswith("Worker_"):
        return None
    indices = {match["kind"]: int(match["index"]) for match in _RANK.finditer(process)}
    others = any(indices.get(kind, 0) for kind in ("DP", "PP", "PCP"))
    return None if others else indices.get("TP")
