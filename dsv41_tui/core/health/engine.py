"""The ranks of the engine: one that is gone, starts over and over, stands still, or that another rank misses.

`/health` of the head goes on saying 200 while another rank is dead, so it is never asked here. A failure of the book
that was seen in the logs of a rank explains its end: the end is then no more than a warning beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dsv41_tui.core.containers import Container
from dsv41_tui.core.failure import SEVERITY
from dsv41_tui.core.finding import Cause, Evidence, Finding, Severity
from dsv41_tui.core.health.common import (
    Kind,
    argument,
    cause,
    clock,
    compute_nodes,
    duration,
    finding,
    fix,
    title,
    usable,
)
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.log import RankLog
from dsv41_tui.core.model import ClusterState, NodeState

GONE = Kind(id="engine-rank-gone", severities=("error", "warn"), pane="log")
FIRST = Kind(id="engine-rank-ended-first", severities=("error", "warn"), pane="log")
LOOPING = Kind(id="engine-rank-restarting", severities=("error", "warn"), pane="log")
STOPPED = Kind(id="engine-rank-stopped", severities=("error", "warn"), pane="log")
MISSED = Kind(id="engine-rank-missed", severities=("error", "warn"), pane="log")
BLOCKED = Kind(id="engine-rank-blocked", severities=("warn",), pane="log")
KINDS = (GONE, FIRST, LOOPING, STOPPED, MISSED, BLOCKED)

WANTED = (0, 143)
"""Exit codes of an orderly end: by itself, or after SIGTERM of `docker stop`."""
SIGKILL = 137
ENDED = ("exited", "dead")
CONSEQUENCES = frozenset({"peer_died", "secondary_see_above"})
"""Causes of failures that only say that another rank is gone: they explain no end, they follow from one."""
WAITS = CONSEQUENCES | {"engine_collective_divergence", "slow_load_not_hang"}
"""With those of a collective that waits."""
ECHO_LINES = 3
"""Lines of what is folded that are kept as evidence."""
BLOCKED_S = 60.0
"""D state for so long is no ordinary wait for a disk."""


class Seat(NamedTuple):
    """Where a rank sits: its node, its container as docker shows it (None: there is none), its log."""

    node: NodeState
    name: str
    rank: int | None
    container: Container | None
    log: RankLog | None
    stale_s: float | None
    loud: frozenset[str] = frozenset()
    """Rules of the book that are no harmless ones."""


def check(state: ClusterState, limits: Limits, now: float) -> Iterable[Finding]:
    """Findings of the ranks on connected nodes whose containers were read."""
    seats = tuple(rank_seats(state, now))
    explained = _explained(state, WAITS)
    named: set[int] = set()
    for seat in seats:
        survivors = [other for other in seats if other.node.name != seat.node.name and _runs(other)]
        if any(_outlives(other, seat) for other in survivors) and not any(_stopping(other) for other in survivors):
            named |= {seat.rank} if seat.rank is not None else set()
            yield _gone(seat, GONE, explained)
        elif any(_followed(other, seat) for other in seats):
            yield _gone(seat, FIRST, explained)
        for found in (_looping(seat, explained), _stopped(seat), _blocked(seat, now)):
            if found is not None:
                named |= {seat.rank} if seat.rank is not None and found.id != BLOCKED.id else set()
                yield found
    yield from _missed(seats, named, _explained(state, CONSEQUENCES))


def rank_seats(state: ClusterState, now: float) -> Iterator[Seat]:
    """The seats of all ranks, in the order of the nodes; nodes whose containers are unread have none."""
    loud = frozenset(rule.id for rule in state.book.failures if rule.severity != "none")
    for node in compute_nodes(state):
        seen = usable(node, node.containers, now)
        if seen is None:
            continue
        engine, stale_s = seen
        containers = {item.name: item for item in engine.containers}
        logs = {log.container: log for log in node.logs}
        sources = {item.name: item.rank for item in state.log_sources if item.node == node.name and item.kind == "rank"}
        for name in sorted({*sources, *(name for name, log in logs.items() if log.rank is not None)}):
            log = logs.get(name)
            rank = sources.get(name)
            rank = rank if rank is not None else log.rank if log is not None else None
            yield Seat(node, name, rank if rank is not None else node.rank, containers.get(name), log, stale_s, loud)


def _runs(seat: Seat) -> bool:
    return seat.container is not None and seat.container.state == "running" and seat.stale_s is None


def _stopping(seat: Seat) -> bool:
    return seat.log is not None and seat.log.stopping


def _outlives(other: Seat, seat: Seat) -> bool:
    """Whether `other` runs on in the run that `seat` has left; a rank that started after that end is a new run."""
    assert other.container is not None
    started = other.container.started_at
    if seat.container is None:
        log = seat.log
        if log is None or log.started_at is None:
            return False
        return started is not None and started < (log.started_at if log.last_line_at is None else log.last_line_at)
    if seat.container.state not in ENDED or seat.container.started_at is None:
        return False
    ended = seat.container.finished_at
    return started is None or ended is None or started < ended


def _followed(other: Seat, seat: Seat) -> bool:
    """Whether `other` ended after `seat`, and its log missed that rank before: nothing runs, and this one began it."""
    mine, theirs = seat.container, other.container
    if mine is None or theirs is None or mine.state not in ENDED or theirs.state not in ENDED:
        return False
    if seat.rank is None or other.log is None or other.log.dead_rank != seat.rank or _in_order(seat, mine):
        return False
    if mine.finished_at is None or theirs.finished_at is None or theirs.started_at is None:
        return False
    ended = mine.finished_at - _offset(seat)
    return theirs.started_at - _offset(other) < ended < theirs.finished_at - _offset(other)


def fold(found: Sequence[Finding]) -> list[Finding]:
    """Put lines that only say that a rank is gone, on whatever node, under the finding that names the rank."""
    head = next((item for item in found if item.id in (GONE.id, FIRST.id, STOPPED.id, MISSED.id)), None)
    if head is None:
        return list(found)
    echoes = CONSEQUENCES if head.id == MISSED.id else WAITS
    under = [
        item for item in found if item.first_line is not None and item.causes and item.causes[0].cause_id in echoes
    ]
    lines = tuple(proof for item in under for proof in item.evidence if proof.line is not None)[:ECHO_LINES]
    merged = head.model_copy(
        update={"evidence": (*head.evidence, *(line for line in lines if line not in head.evidence))}
    )
    return [merged if item is head else item for item in found if not any(item is echo for echo in under)]


def _explained(state: ClusterState, echoes: frozenset[str]) -> bool:
    """Whether the logs show an error that is no mere echo of another."""
    loud = {
        rule.id
        for rule in state.book.failures
        if SEVERITY[rule.severity] == "error"
        and not rule.echo
        and not (rule.cause and all(item.id in echoes for item in rule.cause))
    }
    return any(item.rule in loud for node in state.nodes for item in node.failures)


def _rank(seat: Seat) -> str:
    return "?" if seat.rank is None else str(seat.rank)


def _severity(explained: bool) -> Severity:
    return "warn" if explained else "error"


def _offset(seat: Seat) -> float:
    return seat.node.clock.value.offset_s if seat.node.clock.value is not None else 0.0


def _gone(seat: Seat, kind: Kind, explained: bool) -> Finding:
    box = seat.container
    if box is None:
        last = seat.log.last_line_at if seat.log is not None else None
        head = title("title-vanished", rank=_rank(seat), time=clock(last, _offset(seat)))
        evidence = Evidence(source="docker ps", reading=f"{seat.name}: no such container")
        causes: tuple[Cause, ...] = (cause("peer_died", "confirmed", "rank-vanished", rank=_rank(seat)),)
    else:
        code = "?" if box.exit_code is None else box.exit_code
        head = title(rank=_rank(seat), code=code, time=clock(box.finished_at, _offset(seat)))
        evidence = Evidence(source="docker inspect", reading=_ended(seat.name, box))
        causes = (cause("peer_died", "confirmed", "rank-ended", rank=_rank(seat), code=code), *_killed(box))
    wanted = box is not None and _in_order(seat, box)
    return finding(
        kind,
        "warn" if wanted else _severity(explained),
        head,
        fix("fix-wanted" if wanted else "fix"),
        node=seat.node.name,
        causes=causes,
        evidence=(evidence, *_lines(seat)),
        commands=_inspect(seat.name),
        restart=True,
        stale_s=seat.stale_s,
    )


def _in_order(seat: Seat, box: Container) -> bool:
    """Whether it ended as somebody wanted. vLLM also ends with 0 when a worker died or a peer was lost."""
    return box.exit_code in WANTED and (seat.log is None or seat.log.lost_peer is None)


def _killed(box: Container) -> tuple[Cause, ...]:
    """Who ended it, as far as its exit tells. docker sets OOMKilled for a kill of the whole node too."""
    if box.oom_killed and box.memory_limit_bytes == 0:
        return (cause("uma_memory_exhausted", "likely", "oom-node"),)
    if box.oom_killed:
        return (cause("host_memory_limit", "likely", "oom-killed"),)
    if box.exit_code == SIGKILL:
        return (cause("sigkill_unattributed", "possible", "sigkill"),)
    return ()


def _ended(name: str, box: Container) -> str:
    parts = [name, box.state or "?", f"ExitCode {'?' if box.exit_code is None else box.exit_code}"]
    parts += ["OOMKilled unread" if box.oom_killed is None else f"OOMKilled {str(box.oom_killed).lower()}"]
    parts += [box.error] if box.error else []
    return ", ".join(parts)


def _lines(seat: Seat) -> tuple[Evidence, ...]:
    """The first failure that its own log showed, harmless ones left out."""
    source = f"{seat.node.name}/{seat.name}"
    own = [item for item in seat.node.failures if item.source == source and item.rule in seat.loud]
    return tuple(Evidence(source=item.source, line=item.first_line or item.rule) for item in own[:1])


def _inspect(name: str) -> tuple[str, ...]:
    return (
        f"docker inspect -f '{{{{.State.ExitCode}}}} {{{{.State.OOMKilled}}}} {{{{.State.Error}}}}' {argument(name)}",
        f"docker logs --tail 200 {argument(name)}",
        "journalctl -k --since -15min | grep -iE 'oom|killed process|xid'",
    )


def _looping(seat: Seat, explained: bool) -> Finding | None:
    box = seat.container
    if box is None or box.state != "restarting":
        return None
    return finding(
        LOOPING,
        _severity(explained),
        title(rank=_rank(seat), count=box.restart_count or 0),
        fix(),
        node=seat.node.name,
        evidence=(Evidence(source="docker inspect", reading=_ended(seat.name, box)), *_lines(seat)),
        commands=(f"docker stop {argument(seat.name)}", *_inspect(seat.name)),
        restart=True,
        stale_s=seat.stale_s,
    )


def _stopped(seat: Seat) -> Finding | None:
    """Paused by docker, or its first process stopped by a signal: alive for docker, dead for the other ranks."""
    box = seat.container
    if box is None:
        return None
    if box.state == "paused":
        why, command = f"{seat.name}, paused", f"docker unpause {argument(seat.name)}"
    elif box.state == "running" and box.pid is not None and _process_state(seat) == "T":
        why, command = f"{seat.name}: PID {box.pid}, state T", f"sudo kill -CONT {box.pid}"
    else:
        return None
    return finding(
        STOPPED,
        "error",
        title(rank=_rank(seat), what="docker pause" if box.state == "paused" else "SIGSTOP"),
        fix(),
        node=seat.node.name,
        causes=(cause("rank_stopped", "confirmed", "rank-stopped"),),
        evidence=(Evidence(source="docker inspect" if box.state == "paused" else "/proc/PID/stat", reading=why),),
        commands=(command,),
        stale_s=seat.stale_s,
    )


def _process_state(seat: Seat) -> str | None:
    assert seat.container is not None
    for process in seat.node.processes.value or ():
        if process.pid == seat.container.pid:
            return process.state
    return None


def _blocked(seat: Seat, now: float) -> Finding | None:
    for process in seat.node.processes.value or ():
        since = process.state_since
        if process.container != seat.name or process.state != "D" or since is None or now - since < BLOCKED_S:
            continue
        return finding(
            BLOCKED,
            "warn",
            title(rank=_rank(seat), age=duration(now - since)),
            fix(),
            node=seat.node.name,
            evidence=(Evidence(source="/proc/PID/stat", reading=f"{seat.name}: PID {process.pid}, state D"),),
            commands=(f"sudo cat /proc/{process.pid}/stack", "ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /^D/'"),
            stale_s=seat.stale_s,
        )
    return None


def _missed(seats: tuple[Seat, ...], named: set[int], explained: bool) -> Iterator[Finding]:
    """A rank that another one's log misses, and that no reading of its own shows to be gone."""
    for seat in seats:
        log = seat.log
        if log is None or log.dead_rank is None or log.dead_rank in named or not _runs(seat):
            continue
        named.add(log.dead_rank)
        silent = log.lost_peer is None
        source = f"{seat.node.name}/{seat.name}"
        evidence = _lines(seat)
        said = "No available shared memory broadcast block" if silent else f"connection lost: {log.lost_peer}"
        yield finding(
            MISSED,
            _severity(explained),
            title("title-silent" if silent else "title", rank=log.dead_rank),
            fix("fix-silent" if silent else "fix"),
            node=seat.node.name,
            causes=(
                cause("engine_collective_divergence", "possible", "rank-silent"),
                cause("peer_died", "possible", "rank-missed", rank=log.dead_rank),
            )
            if silent
            else (cause("peer_died", "likely", "rank-missed", rank=log.dead_rank),),
            evidence=evidence or (Evidence(source=source, reading=said),),
            commands=("docker ps -a --format '{{.Names}} {{.Status}}'",),
            restart=True,
            stale_s=seat.stale_s,
        )
