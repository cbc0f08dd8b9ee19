"""No state, however absurd, makes a check raise, give an unknown kind, or leave its severities."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

from health_builders import NOW, cluster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsv41_tui.core import health
from dsv41_tui.core.containers import ContainerEngine, ProcessLimits
from dsv41_tui.core.limits import Limits
from dsv41_tui.core.model import ClusterState, Link, NetRate, NfsMount, NodeState, Notice, Reading
from dsv41_tui.core.rdma import PortRate, RdmaCounters
from dsv41_tui.core.readings import (
    ClockOffset,
    DockerVolume,
    FstabEntry,
    Gpu,
    Host,
    Logind,
    Memory,
    MountEntry,
    MountStats,
    NasServer,
    Pressure,
    ShmUse,
)
from dsv41_tui.core.value import Value

WORDS = st.one_of(
    st.sampled_from(
        ["", "root", "1000", "²", "nas:/x", ":/x", "4.2", "-rf", "7.0.0-31", "nconnect", "rsize", "soft", "addr"]
    ),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
)
OPTIONS = st.dictionaries(
    st.sampled_from(["nconnect", "rsize", "soft", "vers", "addr", "hard", "{x}"]), WORDS, max_size=4
)
PLAIN: dict[object, st.SearchStrategy[Any]] = {
    int: st.one_of(st.integers(-5, 5), st.integers(0, 1 << 40)),
    float: st.one_of(st.floats(0, 2000), st.floats()),
    bool: st.booleans(),
    str: WORDS,
    object: st.none(),
}
VALUES: dict[str, Any] = {
    "host": Host, "memory": Memory, "pressure": Pressure, "net": tuple[NetRate, ...],
    "mountinfo": tuple[MountEntry, ...], "mountstats": tuple[MountStats, ...], "fstab": tuple[FstabEntry, ...],
    "volumes": tuple[DockerVolume, ...], "shm": ShmUse, "logind": Logind, "gpu": Gpu, "nas": NasServer,
    "containers": ContainerEngine, "processes": tuple[ProcessLimits, ...], "rdma": tuple[PortRate, ...],
    "rdma_counters": tuple[RdmaCounters, ...], "clock": ClockOffset,
}  # fmt: skip
"""What each reading of a node holds; at run time all readings are of one class."""
RECENT = st.sampled_from([NOW - 0.5, NOW - 0.5, NOW - 3.5, None, 0.0])


def strategy(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation as the models use them."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in PLAIN:
        return PLAIN[annotation]
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        known = [strategy(argument) for argument in arguments if argument is not type(None)]
        return st.one_of(*known, *known, *(() if len(known) == len(arguments) else (st.none(),)))
    if origin is tuple:
        return st.lists(strategy(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return OPTIONS if arguments[1] is str else st.dictionaries(WORDS, strategy(arguments[1]), max_size=3)
    assert isinstance(annotation, type) and issubclass(annotation, Value), annotation
    return model(annotation)


def reading(held: Any) -> st.SearchStrategy[Any]:
    """A reading of what a source gives; deferred, since Hypothesis else writes all of it out for its reports."""
    return st.deferred(lambda: model(Reading, value=st.none() | strategy(held)))


def model(kind: type[Value], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any fields of a model, without its validation: the checks stand without it too."""
    if issubclass(kind, Reading):
        given = {"at": RECENT, "error": st.sampled_from([None, None, None, "permission denied"]), **given}
    if kind is NodeState:
        given = {**{name: reading(held) for name, held in VALUES.items()}, **given}
    fields = {
        name: given[name] if name in given else strategy(field.annotation) for name, field in kind.model_fields.items()
    }
    needed = {name for name, field in kind.model_fields.items() if field.is_required() or name in given}
    return st.fixed_dictionaries(
        {name: fields[name] for name in needed},
        optional={name: drawn for name, drawn in fields.items() if name not in needed},
    ).map(lambda values: kind.model_construct(**values))


NAMES = st.sampled_from(["spark1", "spark2", "nas"])
UP = st.one_of(st.just(Link(phase="up", since=1.0)), st.just(Link(phase="up")), model(Link))
NODES = st.lists(
    model(NodeState, name=NAMES, link=UP, nfs=st.lists(model(NfsMount), max_size=2).map(tuple)), max_size=3
)
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(nodes=NODES, notices=st.lists(model(Notice, node=NAMES), max_size=2), now=st.one_of(st.just(NOW), st.floats()))
def test_arbitrary_states_are_judged(nodes: list[NodeState], notices: list[Notice], now: float) -> None:
    state = ClusterState.model_construct(nodes=tuple(nodes), notices=tuple(notices))
    judge(state, Limits(), now)


@SLOW
@given(data=st.data(), limits=model(Limits))
def test_one_arbitrary_field_in_a_healthy_cluster(data: st.DataObject, limits: Limits) -> None:
    """Near the states that occur, where the checks go deepest."""
    state = cluster()
    index = data.draw(st.integers(0, len(state.nodes) - 1))
    name = data.draw(st.sampled_from(sorted(NodeState.model_fields)))
    value = data.draw(reading(VALUES[name]) if name in VALUES else strategy(NodeState.model_fields[name].annotation))
    nodes = list(state.nodes)
    nodes[index] = nodes[index].model_copy(update={name: value})
    judge(state.model_copy(update={"nodes": tuple(nodes)}), limits, NOW)


def judge(state: ClusterState, limits: Limits, now: float) -> None:
    kinds = {kind.id: kind for kind in health.KINDS}
    found = health.findings(state, limits, now)
    for item in found:
        assert item.severity in kinds[item.id].severities
        assert item.title and "\n" not in item.title
        assert item.fix.text
        assert item.count >= 1
    assert len({(item.id, item.node, item.title) for item in found}) == len(found)
    assert health.verdict(state, found, now) in ("ok", "warn", "error", "unknown")
    assert found == health.findings(state, limits, now)


def test_every_reading_of_a_node_is_drawn() -> None:
    readings = {name for name, field in NodeState.model_fields.items() if field.annotation is Reading}
    assert readings == set(VALUES)
