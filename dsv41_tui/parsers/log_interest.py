r"""A cheap look over a batch of lines of an engine's log (`docker logs`): which of them `parse_log_facts` has to see.

All lines are searched at once, one literal after the other: a batch of lines that say nothing costs a pass over its
bytes for each literal, and no Python code for each line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

INTERESTING: tuple[str, ...] = (
    "NCCL version ", "using nccl==", "Bootstrap", "NET/IB : ", "NET/Socket : Using", "Using network ",
    "Assigned NET plugin", "_GID_INDEX", "GID index ", "Init START", "COMPLETE", "coll channels", " : 0 ",
    " via NET/", "Connected all ", "ibv_reg_", "closed by remote peer", "Connection reset by peer", "closed by peer",
    "Broken pipe", "generation throughput", "memory broadcast block", "died unexpectedly", "[shutdown]",
    "eceived signal", ") headless", "non-default args:", "Initializing a V", " version ", "world_size=",
    "in world size", "all-reduce backends", "load model", "Loading ", "Prefetching checkpoint", "Model loading took",
    "KV cache ", "torch.compile", "Dynamo bytecode", "Compiling a graph", "compiled graph", "Maximum concurrency",
    "Capturing CUDA", "Graph capturing", "init engine (", "Starting vLLM ", "startup complete", "Decode batch",
    "Prefill batch", "fired up and ready", "Memory pool", "full_token=", "Load weight", "Init torch distributed",
    "Capture cuda graph", "TCPStore.cpp", "remote server shutdown", "installed runtime", "launching: ", "joining TP",
    "init_device", "load_model", "process_weights_after",
)  # fmt: skip
"""Every line that says something holds one of these; a test looks at all grammars and samples."""


def split_interesting(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that hold one of the literals, as (index, line) in their order."""
    if not lines:
        return
    text = "\n".join(lines)
    ends = list(accumulate(len(line) + 1 for line in lines))
    picked: set[int] = set()
    for needle in INTERESTING:
        place = text.find(needle)
        while place >= 0:
            index = bisect_right(ends, place)
            picked.add(index)
            place = text.find(needle, ends[index])
    for index in sorted(picked):
        yield index, lines[index]
