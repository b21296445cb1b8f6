"""Whether capacity is used, from its signals: busy, quiet or unknown.

A gap is a gap: too few samples are unknown, not quiet. Any sample beyond its limit is
use. GPU signals must be known for every GPU. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil, isfinite

from billing.ports import MetricSeries
from policies.core.facts import InstanceFacts
from policies.core.quantities import Limit

GPU_SIGNALS = frozenset({"gpu_utilization", "gpu_memory_used"})
SIGNALS = ("gpu_utilization", "gpu_memory_used", "cpu_utilization", "network", "disk")
#: Share of the expected samples that must exist in a window.
COVERAGE = Fraction(4, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One signal of one part over one window.

    Attributes:
        part: GPU index; "" for the whole instance.
        highest / mean: None without samples.
        last_at: Instant of the last sample in the window.
    """

    part: str
    samples: int
    expected: int
    highest: float | None
    mean: float | None
    last_at: datetime | None

    @property
    def is_covered(self) -> bool:
        """Tell whether enough of the expected samples exist to judge by."""
        return self.samples >= ceil(COVERAGE * self.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One instance over one window.

    Attributes:
        busy: Signals that went beyond their limit.
        missing: What would have to be known to call it quiet; empty when all is known.
        quiet_gpus / known_gpus: GPUs whose own samples all stayed within the limit.
        highest: Highest sample by signal.
        last_at: Last sample by signal.
    """

    busy: tuple[str, ...]
    missing: tuple[str, ...]
    quiet_gpus: int
    known_gpus: int
    highest: Mapping[str, float]
    last_at: Mapping[str, datetime]


Cache = dict[object, object]


def readings(
    one: InstanceFacts, signal: str, start: datetime, now: datetime, *, cache: Cache
) -> tuple[Reading, ...]:
    """Summarise a signal over ``(start, now]``, one reading per part."""
    instance = one.instance
    key = (instance.account, instance.region, instance.resource_id, signal, start)
    found = cache.get(key)
    if isinstance(found, tuple):
        return found
    parts: dict[str, Reading] = {}
    for series in one.series:
        if series.signal != signal:
            continue
        reading = _reading(series, start, now)
        known = parts.get(series.part)
        parts[series.part] = reading if known is None else _joined(known, reading)
    result = tuple(parts[part] for part in sorted(parts))
    cache[key] = result
    return result


def _reading(series: MetricSeries, start: datetime, now: datetime) -> Reading:
    points = series.points
    first = bisect_right(points, start, key=_at)
    last = bisect_right(points, now, key=_at)
    usable = [point for point in points[first:last] if isfinite(point[1])]
    values = [value for _, value in usable if value >= 0]
    step = series.period_s if series.period_s > 0 else 60
    samples = len({at for at, value in usable if value >= 0})
    return Reading(
        part=series.part,
        samples=samples,
        expected=max(1, int((now - start).total_seconds()) // step),
        highest=max(values, default=None),
        mean=sum(values) / len(values) if values else None,
        last_at=usable[-1][0] if usable else None,
    )


def _at(point: tuple[datetime, float]) -> datetime:
    return point[0]


def _joined(left: Reading, right: Reading) -> Reading:
    """Join two series of one part: the better covered one, the higher sample."""
    better = max((left, right), key=lambda one: (one.samples, one.highest or 0))
    both = [one.highest for one in (left, right) if one.highest is not None]
    return Reading(
        part=better.part,
        samples=better.samples,
        expected=better.expected,
        highest=max(both, default=None),
        mean=better.mean,
        last_at=better.last_at,
    )


def activity_of(
    one: InstanceFacts,
    limits: Mapping[str, Limit],
    start: datetime,
    now: datetime,
    *,
    cache: Cache,
) -> Activity:
    """Judge one instance by every named signal over ``(start, now]``."""
    busy: list[str] = []
    missing: list[str] = []
    highest: dict[str, float] = {}
    last_at: dict[str, datetime] = {}
    quiet_gpus = known_gpus = 0
    for signal, limit in limits.items():
        if signal in GPU_SIGNALS and one.gpus == 0:
            continue
        found = readings(one, signal, start, now, cache=cache)
        covered = [reading for reading in found if reading.is_covered]
        top = max((r.highest for r in found if r.highest is not None), default=None)
        if top is not None:
            highest[signal] = top
            last_at[signal] = max(r.last_at for r in found if r.last_at is not None)
            if not limit.holds(top):
                busy.append(signal)
        lack = _lack(signal, len(covered), one.gpus)
        if lack:
            missing.append(lack)
        if signal == "gpu_utilization":
            known_gpus = len(covered)
            quiet_gpus = sum(limit.holds(r.highest or 0.0) for r in covered)
    return Activity(
        busy=tuple(busy),
        missing=tuple(missing),
        quiet_gpus=quiet_gpus,
        known_gpus=known_gpus,
        highest=highest,
        last_at=last_at,
    )


def _lack(signal: str, covered: int, gpus: int | None) -> str:
    """Say what is missing of a signal; "" when enough is known."""
    if signal not in GPU_SIGNALS:
        return "" if covered else signal
    if gpus is None:
        return f"{signal}: number of GPUs of the instance type"
    if covered >= gpus:
        return ""
    return f"{signal} of {gpus - covered} of {gpus} GPUs"


def mean_of(
    one: InstanceFacts, signal: str, start: datetime, now: datetime, *, cache: Cache
) -> float | None:
    """Return the mean of a signal of a whole instance; None unless well covered."""
    found = readings(one, signal, start, now, cache=cache)
    means = [r.mean for r in found if r.is_covered and r.mean is not None]
    return max(means, default=None)


def quiet_since(
    one: InstanceFacts, limits: Mapping[str, Limit], now: datetime
) -> datetime | None:
    """Return since when every sample of an instance has stayed within its limit."""
    starts = [
        start
        for series in one.series
        if series.signal in limits
        for start in _quiet_starts(series, limits[series.signal], now)
    ]
    return max(starts, default=None)


def _quiet_starts(
    series: MetricSeries, limit: Limit, now: datetime
) -> Iterable[datetime]:
    oldest: datetime | None = None
    gap = timedelta(seconds=max(series.period_s, 60) * 3)
    for at, value in reversed(series.points):
        if at > now:
            continue
        if not limit.holds(value) or (oldest is not None and oldest - at > gap):
            break
        oldest = at
    if oldest is not None:
        yield oldest
