"""States of the engine's ranks and the findings that they must give."""

from __future__ import annotations

from typing import Any

from health_builders import NOW, cluster, down, nas, node, reading
from health_case import Case, only

from dsv41_tui.core.containers import Container, ContainerEngine, ProcessLimits
from dsv41_tui.core.log import LogSource, RankLog
from dsv41_tui.core.model import ClusterState, NodeState

T0 = 1_796_050_000.0
"""StartedAt of the containers, Unix seconds."""
NAMES = {"spark1": "dsv41-exl3-head", "spark2": "dsv41-exl3-worker"}
SOURCES = tuple(
    LogSource(id=f"{name}/{NAMES[name]}", node=name, kind="rank", name=NAMES[name], rank=rank)
    for rank, name in enumerate(NAMES)
)
RDMA_ENV = {"NCCL_IB_HCA": "rocep1s0f0", "NCCL_IB_DISABLE": "0"}


def box(name: str, **changes: Any) -> Container:
    values = {"id": "a1", "name": NAMES[name], "state": "running", "pid": 4711, "started_at": T0, "privileged": False}
    return Container(**{**values, **changes})  # type: ignore[arg-type]


def ended(name: str, code: int, after_s: float = 600, **changes: Any) -> Container:
    values = {"state": "exited", "exit_code": code, "oom_killed": False, "finished_at": T0 + after_s, "pid": None}
    return box(name, **{**values, **changes})


def log(name: str, **changes: Any) -> RankLog:
    rank = list(NAMES).index(name)
    values = {"container": NAMES[name], "rank": rank, "started_at": T0, "last_line_at": T0 + 590, "served": True}
    return RankLog(**{**values, **changes})  # type: ignore[arg-type]


def seat(name: str, *boxes: Container, age_s: float = 0.5, **changes: Any) -> NodeState:
    engine = reading(ContainerEngine(containers=boxes), age_s, period_s=5)
    return node(name, **{"containers": engine, "logs": (log(name),), **changes})


def pair(head: NodeState | None = None, worker: NodeState | None = None, **changes: Any) -> ClusterState:
    nodes = (head or seat("spark1", box("spark1")), worker or seat("spark2", box("spark2")), nas())
    return cluster(*nodes, log_sources=SOURCES, **changes)


def process(state: str, since_s: float = 100, name: str = "spark2") -> Any:
    item = ProcessLimits(pid=4711, container=NAMES[name], state=state, state_since=NOW - since_s)
    return reading((item,), period_s=10)


KILLED = seat("spark2", ended("spark2", 137))
ALL = (
    "engine-rank-gone", "engine-rank-ended-first", "engine-rank-restarting", "engine-rank-stopped",
    "engine-rank-missed", "engine-rank-blocked",
    "nccl-init-hanging", "nccl-socket-instead", "nccl-versions-differ",
)  # fmt: skip


def worker(**changes: Any) -> ClusterState:
    """The pair with another log of the worker's rank."""
    return pair(
        worker=seat(
            "spark2", box("spark2", env=RDMA_ENV, devices=("/dev/infiniband",)), logs=(log("spark2", **changes),)
        )
    )


ENGINE = [
    Case("two ranks run", pair(), spares=ALL),
    Case("nothing runs", pair(seat("spark1"), seat("spark2")), spares=ALL),
    Case("rank 1 was killed", pair(worker=KILLED), only("engine-rank-gone", "error")),
    Case("rank 1 was killed by its own limit", pair(worker=seat("spark2", ended("spark2", 137, oom_killed=True))),
         only("engine-rank-gone", "error")),
    Case("rank 0 was killed", pair(seat("spark1", ended("spark1", 1))), only("engine-rank-gone", "error", "spark1")),
    Case("rank 1 was stopped in order", pair(worker=seat("spark2", ended("spark2", 143))),
         only("engine-rank-gone", "warn")),
    Case("rank 0 lost its worker process and ended with 0", pair(
        seat("spark1", ended("spark1", 0), logs=(log("spark1", dead_rank=0, lost_peer="rank 0"),))),
        only("engine-rank-gone", "error", "spark1"), ("engine-rank-missed",)),
    Case("rank 1 vanished", pair(worker=seat("spark2")), only("engine-rank-gone", "error")),
    Case("rank 1 never was", pair(worker=seat("spark2", logs=())), spares=("engine-rank-gone",)),
    Case("both were stopped", pair(
        seat("spark1", ended("spark1", 0)), seat("spark2", ended("spark2", 143))), spares=ALL),
    Case("both are stopping", pair(seat("spark1", box("spark1"), logs=(log("spark1", stopping=True),)), KILLED),
         spares=("engine-rank-gone",)),
    Case("the head starts anew before the old worker is removed",
         pair(seat("spark1", box("spark1", started_at=T0 + 900)), KILLED), spares=("engine-rank-gone",)),
    Case("the worker starts anew before the head is created",
         pair(seat("spark1"), seat("spark2", box("spark2", started_at=T0 + 900))), spares=("engine-rank-gone",)),
    Case("containers read late", pair(worker=seat("spark2", ended("spark2", 137), age_s=12)),
         only("engine-rank-gone", "warn")),
    Case("the head's containers read late", pair(seat("spark1", box("spark1"), age_s=12), KILLED),
         spares=("engine-rank-gone",)),
    Case("the head's node is lost", pair(seat("spark1", box("spark1"), link=down("timed-out")), KILLED),
         only("link-timed-out", "warn", "spark1"), ("engine-rank-gone",)),
    Case("rank 1 starts over and over", pair(worker=seat("spark2", ended(
        "spark2", 1, state="restarting", restart_count=7))), only("engine-rank-restarting", "error")),
    Case("rank 1 is paused", pair(worker=seat("spark2", box("spark2", state="paused"))),
         only("engine-rank-stopped", "error")),
    Case("rank 1 is stopped by a signal", pair(worker=seat("spark2", box("spark2"), processes=process("T"))),
         only("engine-rank-stopped", "error")),
    Case("rank 1 is stopped and rank 0 misses it", pair(
        seat("spark1", box("spark1"), logs=(log("spark1", dead_rank=1, silent_since=T0),)),
        seat("spark2", box("spark2"), processes=process("T"))), only("engine-rank-stopped", "error"),
        ("engine-rank-missed",)),
    Case("another process is stopped", pair(worker=seat("spark2", box("spark2", pid=1), processes=process("T"))),
         spares=("engine-rank-stopped",)),
    Case("rank 1 in D state", pair(worker=seat("spark2", box("spark2"), processes=process("D"))),
         only("engine-rank-blocked", "warn")),
    Case("rank 1 in D state for a moment", pair(worker=seat("spark2", box("spark2"), processes=process("D", 5))),
         spares=("engine-rank-blocked",)),
    Case("rank 0 fell silent on rank 1", pair(seat("spark1", box("spark1"), logs=(
        log("spark1", dead_rank=1, silent_since=T0),))), only("engine-rank-missed", "error", "spark1")),
    Case("rank 0 lost rank 1", pair(seat("spark1", box("spark1"), logs=(
        log("spark1", dead_rank=1, lost_peer="10.77.1.12"),))), only("engine-rank-missed", "error", "spark1")),
    Case("rank 0 lost rank 1 and ended", pair(seat("spark1", ended("spark1", 1), logs=(
        log("spark1", dead_rank=1),)), seat("spark2", ended("spark2", 137))), spares=(
        "engine-rank-missed", "engine-rank-ended-first")),
    Case("rank 0 ended because of rank 1", pair(seat("spark1", ended("spark1", 1, 660), logs=(
        log("spark1", dead_rank=1, lost_peer="10.77.1.12"),)), KILLED), only("engine-rank-ended-first", "error"),
        ("engine-rank-missed", "engine-rank-gone")),
    Case("rank 1 was stopped in order and rank 0 ended", pair(seat("spark1", ended("spark1", 1, 660), logs=(
        log("spark1", dead_rank=1),)), seat("spark2", ended("spark2", 143))), spares=("engine-rank-ended-first",)),
    Case("an init hangs", worker(init_open_since=NOW - 130, transport="ib"), only("nccl-init-hanging", "error")),
    Case("an init goes on", worker(init_open_since=NOW - 20), spares=("nccl-init-hanging",)),
    Case("an init hung, as read late", pair(worker=seat("spark2", box("spark2"), age_s=12, logs=(
        log("spark2", init_open_since=NOW - 130),))), only("nccl-init-hanging", "warn")),
    Case("sockets where RDMA was asked for", worker(transport="socket"), only("nccl-socket-instead", "error")),
    Case("RDMA as asked for", worker(transport="ib"), spares=("nccl-socket-instead",)),
    Case("sockets as asked for", pair(worker=seat("spark2", box("spark2", env={
        "NCCL_IB_DISABLE": "1"}, devices=("/dev/infiniband",)), logs=(log("spark2", transport="socket"),))),
        spares=("nccl-socket-instead",)),
    Case("sockets and nobody asked", pair(worker=seat("spark2", box("spark2"), logs=(
        log("spark2", transport="socket"),))), spares=("nccl-socket-instead",)),
    Case("sockets by NCCL_NET", pair(worker=seat("spark2", box("spark2", env={
        "NCCL_NET": "Socket"}, devices=("/dev/infiniband",)), logs=(log("spark2", transport="socket"),))),
        spares=("nccl-socket-instead",)),
    Case("sockets, as read late", pair(worker=seat("spark2", box("spark2", env=RDMA_ENV, privileged=True), age_s=12,
        logs=(log("spark2", transport="socket"),))), only("nccl-socket-instead", "warn")),
    Case("two NCCL versions in a start", pair(
        seat("spark1", box("spark1"), logs=(log("spark1", served=False, nccl_version="2.28.9+cuda13.0"),)),
        seat("spark2", box("spark2"), logs=(log("spark2", served=False, nccl_version="2.30.7+cuda13.0"),))),
        only("nccl-versions-differ", "error", None)),
    Case("two NCCL versions that serve", pair(
        seat("spark1", box("spark1"), logs=(log("spark1", nccl_version="2.28.9"),)),
        seat("spark2", box("spark2"), logs=(log("spark2", nccl_version="2.30.7"),))),
        only("nccl-versions-differ", "warn", None)),
    Case("one NCCL version, written in two ways", pair(
        seat("spark1", box("spark1"), logs=(log("spark1", nccl_version="2.28.9+cuda13.0"),)),
        seat("spark2", box("spark2"), logs=(log("spark2", nccl_version="2.28.9"),))), spares=("nccl-versions-differ",)),
    Case("one NCCL version is not known", pair(
        seat("spark1", box("spark1"), logs=(log("spark1", nccl_version="2.28.9"),))), spares=("nccl-versions-differ",)),
]  # fmt: skip
