"""A scenario of the sandbox is a file: `scenarios/NAME.toml`, read into these frozen models.

Times are seconds since the sandbox started. Sizes carry their unit in the name (GiB and MiB are powers of two).
"""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.core.messages import t
from dsv41_tui.core.text import clean_line
from dsv41_tui.core.value import Value
from dsv41_tui.sandbox.story import ContainerScene, HcaTurn, LogPart

FOLDER = Path(__file__).resolve().parent / "scenarios"


class MemoryPoint(Value):
    """How the unified memory of a node is used at one moment; between two moments it moves in a straight line."""

    at_s: float = Field(ge=0)
    gpu_gib: float = Field(ge=0)
    """What no process and no cache accounts for."""
    anon_gib: float = Field(gt=0)
    shmem_gib: float = Field(ge=0)
    cache_gib: float = Field(gt=0)
    """File cache with buffers, without shared memory."""


class GpuScene(Value):
    """What `nvidia-smi` tells."""

    percent: float = Field(default=0, ge=0, le=100)
    watts: float = Field(default=9, ge=0)
    celsius: float = Field(default=44, ge=0)
    sm_mhz: float = Field(default=2405, ge=0)


class NodeScene(Value):
    """One role of the pair."""

    memory: tuple[MemoryPoint, ...] = Field(min_length=1)
    gpu: GpuScene = GpuScene()
    cma_total_mib: float = Field(default=64, ge=0)
    cma_free_mib: float = Field(default=60, ge=0)
    pressure_percent: float = Field(default=0, ge=0, le=100)
    """Memory pressure `some`; `full` is four fifths of it."""
    kernel: str | None = None
    """In the place of the cluster's."""
    container: ContainerScene = ContainerScene()
    hca: tuple[HcaTurn, ...] = ()
    log: tuple[LogPart, ...] = ()
    """Of the rank's container."""
    kernel_log: tuple[LogPart, ...] = ()

    @model_validator(mode="after")
    def _times_rise(self) -> Self:
        times = [point.at_s for point in self.memory]
        if times[0] != 0 or sorted(set(times)) != times:
            raise ValueError("at_s of the first entry is 0 and later ones are larger")
        return self


class Reads(Value):
    """A node reads from the NAS, once or again and again."""

    node: int = Field(ge=1)
    """Which one: 1 is the head."""
    start_s: float = Field(default=0, ge=0)
    duration_s: float = Field(gt=0)
    every_s: float | None = Field(default=None, gt=0)
    """Start to start; absent for once."""
    mib_per_s: float = Field(gt=0)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.every_s is not None and self.every_s < self.duration_s:
            raise ValueError("every_s is at least duration_s")
        return self


class SceneEvent(Value):
    """Something happens."""

    at_s: float = Field(ge=0)
    what: Literal["nas-stops", "nas-returns"]


class Scenario(Value):
    """The whole file."""

    seed: int = 1
    """Moves the phases of what fluctuates; two runs of one seed are alike."""
    kernel: str = "6.17.0-1014-nvidia"
    command_line: str = "root=UUID=0b1f6a52-7c1e-4d7e-9a0e-52f7f3b4c6d1 ro quiet splash console=tty0"
    """`/proc/cmdline` without its BOOT_IMAGE."""
    uptime_s: float = Field(default=523_400, gt=0)
    head: NodeScene
    worker: NodeScene
    traffic: bool = True
    """Whether the ranks exchange data over the fabric while both run."""
    read: tuple[Reads, ...] = ()
    event: tuple[SceneEvent, ...] = ()

    @model_validator(mode="after")
    def _events_alternate(self) -> Self:
        due = ("nas-stops", "nas-returns")
        times = [event.at_s for event in self.event]
        names = [event.what for event in self.event]
        if names != [due[index % 2] for index in range(len(names))] or sorted(set(times)) != times:
            raise ValueError("events are nas-stops and nas-returns in turn, at rising times")
        return self

    def serving_s(self, t: float) -> float:
        """Seconds up to now in which both ranks ran and exchanged data."""
        if not self.traffic:
            return 0.0
        pairs = product(self.head.container.runs(t), self.worker.container.runs(t))
        return sum(max(0.0, min(one[1], other[1]) - max(one[0], other[0])) for one, other in pairs)

    @property
    def told_s(self) -> float:
        """From when on the cluster is in the state that the scenario is about: all has happened that happens once."""
        return max(0.0, *(event.at_s for event in self.event[:1]), *_turns(self.head), *_turns(self.worker))


def _turns(scene: NodeScene) -> list[float]:
    """When something of a role changes for the last time."""
    logs = [part.last_s for part in (*scene.log, *scene.kernel_log) if part.every_s is None]
    points = [point.at_s for point in scene.memory]
    return [*logs, *points, *(turn.at_s for turn in scene.container.turn), *(turn.at_s for turn in scene.hca)]


def names() -> list[str]:
    """The scenarios that there are."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load_scenario(name: str) -> Scenario:
    """Read a scenario by name, or a file of one's own by a path that ends in `.toml`.

    ConfigError with one line for an unknown name or a file that is wrong.
    """
    if name.endswith(".toml"):
        return read_scenario(Path(name))
    if name not in names():
        raise ConfigError(t("sandbox.error.unknown", name=clean_line(name, 40), known=", ".join(names())))
    return read_scenario(FOLDER / f"{name}.toml")


def read_scenario(file: Path) -> Scenario:
    """Read one file. ConfigError with file, key, what is wrong with it, and the value."""
    shown = clean_line(str(file))
    try:
        return Scenario.model_validate(tomllib.loads(file.read_text("utf-8")))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = "".join(f"{part}." for part in fault["loc"])[:-1]
        value = "" if isinstance(fault["input"], dict) else f" ({clean_line(repr(fault['input']), 60)})"
        why = f"{key}: {fault['msg'].removeprefix('Value error, ')}{value}"
    except OSError as error:
        why = error.strerror or str(error)
    except ValueError as error:
        why = str(error)
    raise ConfigError(t("sandbox.error.scenario", file=shown, why=clean_line(why, 200)))
