"""Trends: fixed-length minima or maxima per bucket, made by the reducer."""

from __future__ import annotations

from collections.abc import Callable

from dsv41_tui.core.model import Trend

LENGTH = 120
"""Ten minutes of five-second buckets."""


def extend(trend: Trend, at: float, value: int | None, choose: Callable[[int, int], int]) -> Trend:
    """Put `value` into the bucket of `at`; buckets in between stay None, since nothing was read."""
    bucket = int(at // trend.bucket_s)
    if trend.last_bucket is None:
        return trend.model_copy(update={"last_bucket": bucket, "points": (value,)})
    gap = bucket - trend.last_bucket
    if gap < 0:
        return trend
    if gap == 0:
        last = trend.points[-1]
        joined = value if last is None else last if value is None else choose(last, value)
        return trend if joined == last else trend.model_copy(update={"points": (*trend.points[:-1], joined)})
    points = (*trend.points, *([None] * min(gap - 1, LENGTH)), value)[-LENGTH:]
    return trend.model_copy(update={"last_bucket": bucket, "points": points})
