"""Measure how busy instances were, hour by hour, and keep it.

Metrics of hours ago are asked for once, a whole span at a time: CloudWatch counts the
metrics it is asked for, not their points. An hour without points stays unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import isfinite
from statistics import fmean

from billing.core.fleet import ScopeFailure
from billing.core.gpus import is_gpu_type
from billing.core.periods import HOUR, Period
from billing.core.usage import ResourceKind, UsageInterval
from billing.ports import MetricSeries, MetricSource
from billing.ports.progress import HourOfUse
from bot.ports import Store
from bot.views.answers import IngestOutcome

GPU_SIGNAL = "gpu_utilization"
#: Instances learn of their metrics late; hours this young are read next time.
SETTLE = timedelta(minutes=15)
#: Hours missed for longer are not caught up: each costs a request.
BEHIND_MAX = timedelta(hours=48)
#: Instances asked for at once: two days of them are a million points.
AT_ONCE = 50
#: Hours read again, for points that came late.
AGAIN = timedelta(hours=1)


def ingest_use(metrics: MetricSource, store: Store, *, now: datetime) -> IngestOutcome:
    """Read the hours that ended since the last reading."""
    with store.read() as unit:
        last = unit.ledger.last_hour_of_use()
        window = due_hours(last, now)
        intervals = unit.ledger.intervals(window) if window.duration else ()
    resources = sorted(_resources(intervals))
    if not resources:
        return IngestOutcome(notes=("metrics: no instance with accelerators ran",))
    count, measured = 0, 0
    errors: list[ScopeFailure] = []
    for start in range(0, len(resources), AT_ONCE):
        batch = resources[start : start + AT_ONCE]
        series, failures = metrics.series(batch, window)
        hours = hours_of(series, window)
        with store.write() as unit:
            unit.ledger.record_use(hours)
        count += len(hours)
        measured += len({one.resource_id for one in hours})
        errors += failures
    note = (
        f"metrics: {count} {'hour' if count == 1 else 'hours'} of use,"
        f" {measured} of {len(resources)} instances measured"
    )
    return IngestOutcome(notes=(note,), errors=tuple(dict.fromkeys(errors)))


def due_hours(last: datetime | None, now: datetime) -> Period:
    """Return the whole hours to read: after the last one, and that one again."""
    end = _hour(now - SETTLE)
    oldest = _hour(end - BEHIND_MAX)
    start = oldest if last is None else max(last + HOUR - AGAIN, oldest)
    return Period(min(start, end), end)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _resources(intervals: Iterable[UsageInterval]) -> set[tuple[str, str, str]]:
    return {
        (one.account, one.region, one.resource_id)
        for one in intervals
        if one.kind is ResourceKind.INSTANCE and is_gpu_type(one.shape)
    }


def hours_of(series: Sequence[MetricSeries], window: Period) -> list[HourOfUse]:
    """Return the mean of every hour over all accelerators of an instance.

    An hour is covered as far as the best of its accelerators is.
    """
    values: dict[tuple[str, datetime], list[float]] = defaultdict(list)
    covered: dict[tuple[str, datetime], int] = defaultdict(int)
    for one in series:
        if one.signal != GPU_SIGNAL:
            continue
        counted: dict[datetime, int] = defaultdict(int)
        for at, value in one.points:
            if at not in window or not isfinite(value):
                continue
            hour = _hour(at)
            values[one.resource_id, hour].append(value)
            counted[hour] += 1
        for hour, points in counted.items():
            key = one.resource_id, hour
            covered[key] = max(covered[key], points * one.period_s)
    return [
        HourOfUse(
            resource_id=resource,
            hour=hour,
            gpu_pct=min(max(fmean(found), 0.0), 100.0),
            covered_s=min(covered[resource, hour], 3600),
        )
        for (resource, hour), found in sorted(values.items())
    ]
