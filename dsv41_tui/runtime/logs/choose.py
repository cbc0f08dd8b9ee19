"""Which logs of a node are followed: by the recipe's names; where those are not there, what looks like an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dsv41_tui.config import NodeConfig
from dsv41_tui.core.containers import Container
from dsv41_tui.core.log import LogKind, LogSource
from dsv41_tui.core.recipe import Recipe

ENGINES = ("vllm", "sglang")
PROXY = "litellm"


class Target(NamedTuple):
    """A container whose log is wanted."""

    source: LogSource
    container: Container
    guessed: bool = False
    """No name of the recipe led here."""


class Chosen(NamedTuple):
    """The one log that gets a channel of its own, and those that share one."""

    rank: Target | None
    others: tuple[Target, ...]
    unfollowed: tuple[LogSource, ...] = ()
    """Of further ranks that run here: one log of a rank is followed on a node."""


def choose(config: NodeConfig, recipes: Iterable[Recipe], containers: Sequence[Container]) -> Chosen:
    """The log of the rank that runs, or ended last; proxies and the recipe's helpers beside it."""
    named = {item.name: item for recipe in recipes for item in recipe.container}
    ranks, others = [], []
    for container in containers:
        known = named.get(container.name)
        if known is not None and known.rank is not None:
            rank = config.rank if config.rank is not None else known.rank
            ranks.append(_target(config, container, "rank", rank))
        elif _is_proxy(container):
            others.append(_target(config, container, "proxy"))
        elif known is not None:
            others.append(_target(config, container, "service"))
    if not ranks:
        ranks = [
            _target(config, container, "rank", config.rank, guessed=True)
            for container in containers
            if looks_like_engine(container) and not _is_proxy(container)
        ]
    followed = max(ranks, key=_newest, default=None)
    rest = [target.source for target in ranks if target is not followed and target.container.state == "running"]
    return Chosen(followed, tuple(others), tuple(rest))


def looks_like_engine(container: Container) -> bool:
    """By image or command: `vllm/vllm-openai:v0.12`, `python -m sglang.launch_server`."""
    words = f"{container.image or ''} {container.command or ''}".lower()
    return any(name in words for name in ENGINES)


def _is_proxy(container: Container) -> bool:
    return PROXY in container.name.lower() or PROXY in (container.image or "").lower()


def _newest(target: Target) -> tuple[bool, float]:
    return target.container.state == "running", target.container.started_at or 0.0


def _target(
    config: NodeConfig, container: Container, kind: LogKind, rank: int | None = None, *, guessed: bool = False
) -> Target:
    source = LogSource(
        id=f"{config.name}/{container.name}", node=config.name, kind=kind, name=container.name, rank=rank
    )
    return Target(source, container, guessed)
