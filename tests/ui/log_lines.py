"""A start that failed, as its logs: the lines of a real one, shortened; and a ring to hold lines."""

from __future__ import annotations

from dsv41_tui.core.finding import Cause, Evidence, Finding, Fix
from dsv41_tui.core.log import Level, LogSource, Occurrence
from dsv41_tui.core.model import ClusterState, Reading
from dsv41_tui.core.readings import ClockOffset
from dsv41_tui.runtime.logs.hub import LogHub
from tests.ui import states

END = states.WALL.timestamp()
HEAD = LogSource(id="spark1/dsv41-exl3-head", node="spark1", kind="rank", name="dsv41-exl3-head", rank=0)
WORKER = LogSource(id="spark2/dsv41-exl3-worker", node="spark2", kind="rank", name="dsv41-exl3-worker", rank=1)
KERNEL = LogSource(id="spark2/kernel", node="spark2", kind="kernel", name="kernel")
LAUNCHER = LogSource(id="spark1/start.log", node="spark1", kind="launcher", name="start.log")
SOURCES = (HEAD, WORKER, KERNEL, LAUNCHER)
AHEAD_S = 14.0
"""How far the clock of spark2 is ahead."""
ERROR = "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
START: tuple[tuple[LogSource, float, Level, str], ...] = (
    (LAUNCHER, -68, "I", "starting worker on 10.0.0.2, then head"),
    (WORKER, -59, "I", "joining TP2 at 10.0.0.1:29521 as rank 1"),
    (HEAD, -57, "I", "launching: vllm serve /model --tensor-parallel-size 2 --nnodes 2"),
    (HEAD, -40, "I", "non-default args: {'max_model_len': 600000, 'max_num_seqs': 2}"),
    (HEAD, -27, "I", "[dsv41-mem] before init_device MemAvailable=110.3 MemFree=107.9"),
    (WORKER, -27, "I", "[dsv41-mem] before init_device MemAvailable=108.1 MemFree=1.2"),
    (WORKER, -15, "I", "[dsv41-mem] after init_device (11.9s) MemFree=1.1"),
    (HEAD, -16, "I", "[dsv41-mem] after init_device (10.8s) MemFree=107.8"),
    (HEAD, -14.2, "I", "Using ['PYNCCL'] all-reduce backends"),
    (HEAD, -14.1, "I", "vLLM is using nccl==2.29.7"),
    (WORKER, -14, "I", "Bootstrap : Using enp1s0f1np1:10.0.0.2<0>"),
    (HEAD, -13.4, "I", "NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:10.0.0.1<0>"),
    (WORKER, -13.3, "I", "NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:10.0.0.2<0>"),
    (WORKER, -13.2, "W", ERROR),
    (WORKER, -13.1, "I", "transport/net_ib.cc:1992 -> 2"),
    (KERNEL, -13.0, "W", "mlx5_core 0000:01:00.0: 模型倉庫 page allocation failure, order:0"),
    (HEAD, -13.0, "W", "socket progress: connection closed by remote peer spark2<45122>"),
    (WORKER, -12.5, "E", "ncclSystemError: System call (e.g. socket, malloc) or external library call failed."),
    (HEAD, -11, "E", "EngineDeadError: EngineCore encountered an issue. See stack trace above for the root cause."),
    (WORKER, -10, "", "dsv41-exl3-worker exited, code 1, after 58 s"),
    (HEAD, -9, "E", "dsv41-exl3-head exited, code 1, after 61 s"),
)  # fmt: skip


def hub(lines: tuple[tuple[LogSource, float, Level, str], ...] = START) -> LogHub:
    """A hub with these lines; times are seconds before the end on the operator's clock."""
    made = LogHub()
    for source, at, level, text in lines:
        skew = AHEAD_S if source.node == "spark2" else 0.0
        made.add(source, [END + at + skew], [text], [level])
    return made


def number_of(made: LogHub, text: str) -> int:
    return next(line.number for line in made.lines(made.first, made.end) if text in line.text)


def failed_start() -> ClusterState:
    """Page cache holds the memory of spark2, whose clock is ahead; its kernel log is read, that of spark1 is not."""
    state = states.page_cache()
    spark1, spark2, nas = state.nodes
    seen = Occurrence(
        rule="nccl-reg-mr-enomem", source=WORKER.id, first_at=END - 13.2, last_at=END - 12.5, count=4,
        first_line=ERROR, first_number=14, rank=1,
    )  # fmt: skip
    clock = Reading(value=ClockOffset(offset_s=AHEAD_S, uncertainty_s=0.01), at=states.NOW - 1, period_s=60)
    unread = {"spark1/kernel": "the login is not in group adm; sudo usermod -aG adm zurih, then log in anew"}
    return state.model_copy(
        update={
            "log_sources": SOURCES,
            "nodes": (
                spark1.model_copy(update={"unread_logs": unread}),
                spark2.model_copy(update={"clock": clock, "failures": (seen,)}),
                nas,
            ),
        }
    )


HOSTILE = (
    "\x1b]0;owned\x07title", "\x1b]52;c;b3duZWQ=\x07clipboard", "\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[6n\x1bP+q544e\x1b\\query", "\u202eesrever\u202c \u2066isolate\u2069", "nul\x00nul", "[red]x[/x]",
    "\x9b31m C1 \x9d0;owned\x9c", "a\rb\x08c\x7f", "zero\u200bwidth", "unterminated \x1b]0;owned", "z" * (10 << 20),
)  # fmt: skip
"""What a node could send to reach the operator's terminal."""
REGISTRATION = Finding(
    id="nccl-reg-mr-enomem",
    severity="error",
    title="RDMA registration failed: page cache holds 109.0 GiB, MemFree is 1.1 GiB",
    cause_id="mem_page_cache_pressure",
    causes=(
        Cause(
            cause_id="mem_page_cache_pressure", likelihood="confirmed", why="MemFree 1.1 of 121.7 GiB, Cached is 109.0"
        ),
        Cause(
            cause_id="kernel_kho_cma",
            likelihood="ruled-out",
            why="CmaFree 60 MiB is not above CmaTotal 64 MiB; kernel is 6.17, not 7.0",
        ),
        Cause(cause_id="memlock_limit", likelihood="ruled-out", why="unlimited inside dsv41-exl3-worker"),
    ),
    evidence=(
        Evidence(source=WORKER.id, line=ERROR),
        Evidence(source="/proc/meminfo", reading="MemFree 1.1 GiB, MemAvailable 108.0 GiB, Cached 109.0 GiB"),
        Evidence(source="memlock", reading="unlimited"),
        Evidence(source="uname -r", reading="6.17.0-1029-nvidia"),
    ),
    fix=Fix(
        text="Release the two files from the page cache, then start again.",
        commands=(
            "dd if=/data/engram-src/model-00047-of-00048.safetensors iflag=nocache count=0 status=none",
            "dd if=/data/engram-src/model-00048-of-00048.safetensors iflag=nocache count=0 status=none",
        ),
        restart=True,
        plan="drop-cache",
    ),
    node="spark2",
    count=4,
    first_line=ERROR,
    pane="log",
    log_number=14,
)
