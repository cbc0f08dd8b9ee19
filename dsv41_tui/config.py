"""The operator's configuration: one TOML file as frozen models. Finding, loading, errors: `runtime.configuration`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from dsv41_tui.core.value import Value


class ClusterConfig(Value):
    """The `[cluster]` table."""

    name: str = "cluster"
    recipe: str = "exl3-2x"
    """The recipe that is expected to run now; others may be configured beside it."""
    theme: str = "ink"
    language: Literal["", "en", "zh-Hant", "zh-Hans"] = ""
    """Empty: from LANG."""
    read_only: bool = False


class NodeConfig(Value):
    """One `[[node]]`: a machine that we log in to, or this one."""

    name: str
    role: Literal["head", "worker", "nas"] = "worker"
    rank: int | None = Field(default=None, ge=0)
    local: bool = False
    """This machine: no SSH at all."""
    ssh: str | None = None
    """An alias of the operator's ssh_config."""
    host: str | None = None
    user: str | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    identity_file: str | None = None
    proxy_jump: str | None = None
    ssh_config: str | None = None
    """An ssh_config to read instead of ~/.ssh/config."""
    known_hosts: str | None = None
    """A known_hosts file instead of ~/.ssh/known_hosts."""
    root: str = ""
    """A prefix for every path that is read there; for the sandbox."""


class NasConfig(Value):
    """The `[nas]` table: a NAS that nobody logs in to, known by name or address only."""

    server: str
    link_mbit: int | None = Field(default=None, gt=0)
    """Speed of its link, which cannot be read without a login."""


class ThresholdConfig(Value):
    """The `[thresholds]` table; what is absent comes from the recipe."""

    model_config = ConfigDict(allow_inf_nan=False)

    available_warn_gib: float | None = Field(default=None, ge=0)
    available_error_gib: float | None = Field(default=None, ge=0)
    free_warn_gib: float | None = Field(default=None, ge=0)
    cache_warn_gib: float | None = Field(default=None, ge=0)
    psi_warn_percent: float | None = Field(default=None, ge=0, le=100)
    exhaustion_warn_s: float | None = Field(default=None, ge=0)
    nfs_slow_rtt_ms: float | None = Field(default=None, gt=0)
    nfs_slow_probe_s: float | None = Field(default=None, gt=0)


class RecipeConfig(Value):
    """One `[[recipe]]`: a recipe folder of this cluster."""

    name: str
    """A shipped recipe's id, or one in the config folder."""
    path: str | None = None
    """The recipe's folder on the head."""
    env: str | None = None
    """The operator's `.env`, if it is not in that folder."""


class Config(Value):
    """The whole file."""

    cluster: ClusterConfig = ClusterConfig()
    node: tuple[NodeConfig, ...] = ()
    nas: NasConfig | None = None
    thresholds: ThresholdConfig = ThresholdConfig()
    recipe: tuple[RecipeConfig, ...] = ()
    keys: dict[str, str] = {}
    """Key bindings by action id, such as `restart = "R"`; several keys are separated by commas."""
