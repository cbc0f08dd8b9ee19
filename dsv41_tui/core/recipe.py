"""A recipe as data: what a launcher starts, where its files lie, what it needs, what its author measured.

One TOML file a recipe, `data/recipes/<id>.toml`; facts in our own words, each with its source. The operator's `.env`
and the running container beat every default here. A table that a later pane needs is one more field of `Recipe`
(start and stop commands, boot markers, API dialect), read from a table of the same name.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from dsv41_tui.core.limits import Limits
from dsv41_tui.core.readings import GIB
from dsv41_tui.core.value import Value

Role = Literal["head", "worker"]
ThresholdName = Literal[
    "available_warn", "available_error", "free_warn", "cache_warn", "psi_warn_percent", "exhaustion_warn_s",
    "start_available", "start_margin",
]  # fmt: skip
ThresholdUnit = Literal["GiB", "%", "s"]


class Rank(Value):
    """One rank of the model and the kind of node that carries it."""

    rank: int = Field(ge=0)
    role: Role


class Container(Value):
    """One container that the launcher makes."""

    name: str
    role: Role
    """The node it runs on."""
    rank: int | None = None
    """None for a helper that carries no rank."""
    purpose: str


class Port(Value):
    """One TCP port; `env` moves it."""

    name: Literal["api", "rendezvous"]
    port: int = Field(ge=1, le=65535)
    role: Role = "head"
    env: str | None = None
    purpose: str


class Tree(Value):
    """One folder of weights or tables: what lies there, which key moves it, and who reads it."""

    name: str
    holds: str
    env: str | None = None
    default: str
    """Relative to the recipe's folder, or with `~` of the user there."""
    container_path: str | None = None
    on: Literal["head", "each-node", "shared-from-head"]
    """`shared-from-head`: the head's disk; workers read it over NFS unless the operator gave them a copy."""


class Shard(Value):
    """One file of known content. A size and a hash are expected values to confirm on first contact."""

    file: str
    bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    layer: int | None = None


class ShardSet(Value):
    """Files that are complete only together."""

    name: str
    tree: str
    """Name of a `Tree`."""
    count: int = Field(gt=0)
    count_env: str | None = None
    gib: float = Field(gt=0)
    """All of them together."""
    needs: tuple[str, ...] = ()
    """Small files that must lie beside them, or the engine dies."""
    shard: tuple[Shard, ...] = ()
    """Those whose size and hash are published; may be none."""
    source: str


class MemoryShare(Value):
    """What one part takes of a node's memory while serving."""

    part: str
    gib: float = Field(gt=0)
    gib_high: float | None = None
    """Upper end where a range was published."""
    source: str


class Threshold(Value):
    """A published limit. Names of `Limits` set the panel's warnings; `start_*` are what a start asks for."""

    name: ThresholdName
    value: float = Field(gt=0)
    unit: ThresholdUnit
    what: str
    """What the recipe itself does at this level."""
    source: str

    @model_validator(mode="after")
    def _fitting(self) -> Threshold:
        """The unit is the one of the quantity, so that no figure is off by 2^30."""
        unit = "%" if self.name.endswith("_percent") else "s" if self.name.endswith("_s") else "GiB"
        if self.unit != unit:
            raise ValueError(f"{self.name} is in {unit}")
        return self


class EnvKey(Value):
    """One key of the recipe's `.env` that a panel has to understand."""

    key: str
    default: str | None = None
    """What the launcher takes when the file does not name it; None when it derives it."""
    unit: str | None = None
    placeholder: tuple[str, ...] = ()
    """Values of the author's own kit that the example file ships; right there, rarely elsewhere."""
    meaning: str


class NfsClient(Value):
    """The options that the recipe's workers mount the weights with."""

    version: str
    options: dict[str, str] = {}
    """An option without a value maps to ''."""
    volumes: tuple[str, ...] = ()
    """Docker volumes that carry them."""
    source: str


class Figure(Value):
    """A published measurement and the configuration it holds for."""

    name: Literal["decode", "prefill", "ttft", "boot", "kv-tokens", "head-available", "head-low-available"]
    value: float
    value_high: float | None = None
    unit: Literal["tok/s", "s", "tokens", "GiB"]
    configuration: str
    source: str


class Recipe(Value):
    """The whole file."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    title: str
    source: str
    """Public address of the recipe's repository."""
    commit: str
    """The version that was read."""
    licence: str
    engine: str
    model: str
    """Served model name by default."""
    rank: tuple[Rank, ...] = Field(min_length=1)
    container: tuple[Container, ...] = Field(min_length=1)
    port: tuple[Port, ...]
    tree: tuple[Tree, ...]
    shards: tuple[ShardSet, ...]
    memory: tuple[MemoryShare, ...]
    threshold: tuple[Threshold, ...]
    env: tuple[EnvKey, ...]
    nfs: NfsClient | None = None
    figure: tuple[Figure, ...] = ()

    @model_validator(mode="after")
    def _joined(self) -> Recipe:
        """Names that one table takes from another exist there, and nothing is named twice."""
        trees = [tree.name for tree in self.tree]
        named: dict[str, list[str]] = {
            "rank": [str(item.rank) for item in self.rank],
            "container": [item.name for item in self.container],
            "tree": trees,
            "shards": [item.name for item in self.shards],
            "threshold": [item.name for item in self.threshold],
            "env": [item.key for item in self.env],
        }
        for table, names in named.items():
            if len(set(names)) != len(names):
                raise ValueError(f"{table}: one name twice")
        if sum(item.role == "head" for item in self.rank) != 1:
            raise ValueError("rank: exactly one carries the head")
        for shards in self.shards:
            if shards.tree not in trees:
                raise ValueError(f"shards.{shards.name}: no tree {shards.tree!r}")
        return self

    def env_key(self, key: str) -> EnvKey | None:
        """The entry for a key of the `.env`, if the recipe explains it."""
        return next((item for item in self.env if item.key == key), None)


def recipe_limits(recipe: Recipe) -> Limits:
    """The built-in limits with what the recipe published in their place, in bytes, percent and seconds."""
    update: dict[str, object] = {"source": recipe.id}
    for item in recipe.threshold:
        if item.name in Limits.model_fields:
            update[item.name] = int(item.value * GIB) if item.unit == "GiB" else item.value
    if recipe.nfs is not None:
        for name in ("nconnect", "rsize"):
            if recipe.nfs.options.get(name, "").isdigit():
                update[name] = int(recipe.nfs.options[name])
    return Limits().model_copy(update=update)
