"""The scenario as a pure function of time: what the kernels of the nodes would count `t` seconds after the start.

Law: no state. The same scenario, node and time give the same numbers, and every counter only ever grows. Nodes are
numbered from 1; the NAS has no number.
"""

from __future__ import annotations

from math import ceil, cos, pi, sin

from dsv41_tui.core.readings import GIB, MIB
from dsv41_tui.core.value import Value
from dsv41_tui.sandbox.scenario import GpuScene, MemoryPoint, NodeScene, Reads, Scenario

NCONNECT = 8
RSIZE = 1 << 20
MOUNTED_AFTER_S = 38
"""From boot to the mount of the NAS."""
_SWING = 0.04
"""A read's rate moves by so much around its mean, once in `_SWING_S`."""
_SWING_S = 7.0
_LOST_EACH_S = 15.0
_RECONNECT_EACH_S = 6.0


class MemoryNow(Value):
    """Use of the unified memory, bytes."""

    gpu: int
    anon: int
    shmem: int
    cache: int


class GpuNow(Value):
    """What `nvidia-smi` would say."""

    percent: int
    watts: float
    celsius: int
    sm_mhz: int


class NfsNow(Value):
    """Counters of one node's mount of the NAS."""

    age_s: int
    served_s: int
    """Seconds of the age in which the NAS answered."""
    read_bytes: int
    reads: int
    reading: bool
    reads_in_vain: int
    """READ requests that went out and were never answered."""
    others_in_vain: int
    reconnects: int
    silent_s: float
    """Since when the NAS does not answer; 0 while it does."""

    @property
    def in_vain(self) -> int:
        return self.reads_in_vain + self.others_in_vain


def scene_of(scenario: Scenario, node: int) -> NodeScene:
    """Node 1 is the head, all others are workers."""
    return scenario.head if node == 1 else scenario.worker


def memory_now(scenario: Scenario, node: int, t: float) -> MemoryNow:
    """Interpolated between the scenario's points, with a breath of tens of MiB in processes and cache."""
    point = _interpolate(scene_of(scenario, node).memory, t)
    return MemoryNow(
        gpu=int(point.gpu_gib * GIB),
        anon=int(point.anon_gib * GIB + 24 * MIB * _wave(scenario, node, t, 19)),
        shmem=int(point.shmem_gib * GIB),
        cache=int(point.cache_gib * GIB + 9 * MIB * _wave(scenario, node, t, 31)),
    )


def gpu_now(scenario: Scenario, node: int, t: float) -> GpuNow:
    """Load, power, temperature and clock with a breath of a few percent; idle once the rank's container has ended."""
    role = scene_of(scenario, node)
    scene = role.gpu if role.container.running(t) else GpuScene()
    wave = _wave(scenario, node, t, 13)
    return GpuNow(
        percent=round(min(100, scene.percent * (1 + 0.02 * wave))),
        watts=round(scene.watts * (1 + 0.03 * wave), 2),
        celsius=round(scene.celsius + _wave(scenario, node, t, 47)),
        sm_mhz=round(scene.sm_mhz + 6 * wave),
    )


def nfs_now(scenario: Scenario, node: int, t: float) -> NfsNow:
    """Counters of the mount; they stand still while the NAS is gone, but for what is sent in vain."""
    reads = [read for read in scenario.read if read.node == node]
    reads_in_vain = others_in_vain = reconnects = 0
    missed = silent = 0.0
    for start, end in _outages(scenario, t):
        again = int((end - start) // _LOST_EACH_S)
        if _rate(reads, start - missed) > 0:
            reads_in_vain += NCONNECT + again
        else:
            others_in_vain += 1 + again
        reconnects += int((end - start) // _RECONNECT_EACH_S)
        missed += end - start
        silent = end - start
    down = nas_is_down(scenario, t)
    age = scenario.uptime_s - MOUNTED_AFTER_S
    read_bytes = _bytes_before(scenario, node) + int(sum(_bytes(read, t - missed) for read in reads))
    return NfsNow(
        age_s=int(age + t),
        served_s=int(age + t - missed),
        read_bytes=read_bytes,
        reads=ceil(read_bytes / RSIZE),
        reading=not down and _rate(reads, t - missed) > 0,
        reads_in_vain=reads_in_vain,
        others_in_vain=others_in_vain,
        reconnects=reconnects,
        silent_s=silent if down else 0.0,
    )


def nas_is_down(scenario: Scenario, t: float) -> bool:
    """Whether the NFS service of the NAS is gone at this moment."""
    past = [event for event in scenario.event if event.at_s <= t]
    return bool(past) and past[-1].what == "nas-stops"


def _outages(scenario: Scenario, t: float) -> list[tuple[float, float]]:
    """Start and end of every outage up to now; one that lasts ends now."""
    times = [event.at_s for event in scenario.event if event.at_s <= t]
    if len(times) % 2:
        times.append(t)
    return list(zip(times[::2], times[1::2], strict=True))


def _interpolate(points: tuple[MemoryPoint, ...], t: float) -> MemoryPoint:
    before = max((point for point in points if point.at_s <= t), key=lambda point: point.at_s)
    after = next((point for point in points if point.at_s > t), before)
    share = 0.0 if after is before else (t - before.at_s) / (after.at_s - before.at_s)

    def between(low: float, high: float) -> float:
        return low + (high - low) * share

    return MemoryPoint(
        at_s=t,
        gpu_gib=between(before.gpu_gib, after.gpu_gib),
        anon_gib=between(before.anon_gib, after.anon_gib),
        shmem_gib=between(before.shmem_gib, after.shmem_gib),
        cache_gib=between(before.cache_gib, after.cache_gib),
    )


def _wave(scenario: Scenario, node: int, t: float, period_s: float) -> float:
    """A sine of its own phase for every node, -1 to 1."""
    return sin(2 * pi * (t / period_s + scenario.seed * 0.137 + node * 0.371))


def _bytes_before(scenario: Scenario, node: int) -> int:
    """What was read before the sandbox began: the weights, and something of each node's own."""
    return 196 * GIB + node * 613 * MIB + scenario.seed * 7 * MIB


def _rate(reads: list[Reads], served: float) -> float:
    """Bytes per second at one moment of the time that the NAS served."""
    rate = 0.0
    for read in reads:
        since = served - read.start_s
        if since >= 0 and read.every_s is not None:
            since %= read.every_s
        if 0 <= since < read.duration_s:
            rate += read.mib_per_s * MIB * (1 + _SWING * sin(2 * pi * since / _SWING_S))
    return rate


def _bytes(read: Reads, served: float) -> float:
    """The integral of the rate up to that moment."""
    since = max(0.0, served - read.start_s)
    whole = 0.0
    if read.every_s is not None:
        whole = since // read.every_s * _burst(read, read.duration_s)
        since %= read.every_s
    return whole + _burst(read, min(since, read.duration_s))


def _burst(read: Reads, lasted: float) -> float:
    swing = _SWING * _SWING_S / (2 * pi) * (1 - cos(2 * pi * lasted / _SWING_S))
    return read.mib_per_s * MIB * (lasted + swing)
