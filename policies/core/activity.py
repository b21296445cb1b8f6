"""Whether capacity is used, from its signals: busy, quiet or unknown.

A gap is a gap: too few samples are unknown, not quiet. Any sample beyond its limit is
use. GPU signals must be known for every GPU. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, isfinite
from operator import lt
from typing import NamedTuple, cast

from billing.ports import MetricSeries
from policies.core.facts import InstanceFacts
from policies.core.quantities import Limit

GPU_SIGNALS = frozenset({"gpu_utilization", "gpu_memory_used"})
#: Percent of the expected samples that must exist in a window.
COVERAGE_PCT = 80
#: A series without samples for this many periods was not seen to be quiet before.
GAP_PERIODS = 3
PERIOD_DEFAULT_S = 60

Cache = dict[object, object]


class Samples(NamedTuple):
    """The usable samples of one series, apart and in order of time."""

    part: str
    times: Sequence[datetime]
    values: Sequence[float]
    period_s: int


class Reading(NamedTuple):
    """One part of one signal over a window.

    Attributes:
        part: GPU index; "" for the whole instance.
        is_covered: Enough of the expected samples exist to judge by.
        highest: None without samples.
        last_at: Instant of the last sample in the window.
    """

    part: str
    is_covered: bool
    highest: float | None
    last_at: datetime | None


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


class Watch:
    """Some limits held against instances over ``(start, now]``.

    Made once per policy; what it computes is shared through the cache with every
    policy that asks the same.
    """

    def __init__(
        self, limits: Mapping[str, Limit], start: datetime, now: datetime, cache: Cache
    ) -> None:
        self.limits = limits
        self.start = start
        self.now = now
        self._cache = cache
        key = (tuple(limits.items()), start, now)
        self._known = cast(
            "dict[tuple[str, str, str], Activity]", cache.setdefault(key, {})
        )
        self._needed: dict[int, int] = {}

    def activity(self, one: InstanceFacts) -> Activity:
        """Judge one instance by every named signal."""
        name = _name(one)
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._activity(one)
        return found

    def _activity(self, one: InstanceFacts) -> Activity:
        busy: list[str] = []
        missing: list[str] = []
        highest: dict[str, float] = {}
        last_at: dict[str, datetime] = {}
        quiet_gpus = known_gpus = 0
        for signal, limit in self.limits.items():
            if one.gpus == 0 and signal in GPU_SIGNALS:
                continue
            found = self._readings(one, signal)
            seen = [reading for reading in found if reading.highest is not None]
            if seen:
                top = highest[signal] = max(reading.highest or 0.0 for reading in seen)
                last_at[signal] = max(reading.last_at or self.start for reading in seen)
                if not limit.holds(top):
                    busy.append(signal)
            covered = [reading for reading in seen if reading.is_covered]
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

    def mean(self, one: InstanceFacts, signal: str) -> float | None:
        """Return the mean of a signal of a whole instance; None unless well covered."""
        means = []
        for samples in _samples(one, signal, self._cache):
            first, last = self._window(samples)
            if self._is_covered(samples, last - first):
                means.append(sum(samples.values[first:last]) / (last - first))
        return max(means, default=None)

    def means(self, one: InstanceFacts, signal: str) -> tuple[list[float], str]:
        """Return the mean of each GPU, and what is missing to know all of them."""
        parts: dict[str, float] = {}
        for samples in _samples(one, signal, self._cache):
            first, last = self._window(samples)
            if self._is_covered(samples, last - first):
                mean = sum(samples.values[first:last]) / (last - first)
                parts[samples.part] = max(mean, parts.get(samples.part, mean))
        if one.gpus == 0:
            return [], ""
        return [parts[part] for part in sorted(parts)], _lack(
            signal, len(parts), one.gpus
        )

    def _readings(self, one: InstanceFacts, signal: str) -> Iterable[Reading]:
        """Summarise a signal, one reading per part."""
        parts: dict[str, Reading] = {}
        for samples in _samples(one, signal, self._cache):
            reading = self._reading(samples)
            known = parts.get(reading.part)
            parts[reading.part] = _joined(known, reading) if known else reading
        return parts.values()

    def _reading(self, samples: Samples) -> Reading:
        first, last = self._window(samples)
        if first >= last:
            return Reading(samples.part, False, None, None)  # noqa: FBT003 (a tuple)
        return Reading(
            samples.part,
            self._is_covered(samples, last - first),
            max(samples.values[first:last]),
            samples.times[last - 1],
        )

    def _window(self, samples: Samples) -> tuple[int, int]:
        times = samples.times
        last = len(times)
        if times and times[-1] > self.now:
            last = bisect_right(times, self.now)
        return bisect_right(times, self.start, 0, last), last

    def _is_covered(self, samples: Samples, number: int) -> bool:
        needed = self._needed.get(samples.period_s)
        if needed is None:
            length = (self.now - self.start) // timedelta(seconds=samples.period_s)
            needed = ceil(max(1, length) * COVERAGE_PCT / 100)
            self._needed[samples.period_s] = needed
        return number >= needed


def _name(one: InstanceFacts) -> tuple[str, str, str]:
    instance = one.instance
    return (instance.account, instance.region, instance.resource_id)


def _samples(one: InstanceFacts, signal: str, cache: Cache) -> Sequence[Samples]:
    """Return the usable samples of a signal, prepared once per evaluation."""
    key = (signal, _name(one))
    found = cache.get(key)
    if found is None:
        found = cache[key] = [
            _usable(series) for series in one.series if series.signal == signal
        ]
    return cast("Sequence[Samples]", found)


def _usable(series: MetricSeries) -> Samples:
    """Leave out what is no number, negative, or a second sample of one instant."""
    period_s = series.period_s if series.period_s > 0 else PERIOD_DEFAULT_S
    times: Sequence[datetime] = ()
    values: Sequence[float] = ()
    if series.points:
        times, values = zip(*series.points, strict=True)
    is_clean = not values or (isfinite(sum(values)) and min(values) >= 0)
    if not is_clean or not all(map(lt, times, times[1:])):
        highest: dict[datetime, float] = {}
        for at, value in series.points:
            if isfinite(value) and value >= 0:
                highest[at] = max(value, highest.get(at, 0.0))
        times = sorted(highest)
        values = [highest[at] for at in times]
    return Samples(series.part, times, values, period_s)


def _joined(left: Reading, right: Reading) -> Reading:
    """Join two series of one part: covered when either is, the higher sample."""
    both = [one.highest for one in (left, right) if one.highest is not None]
    times = [one.last_at for one in (left, right) if one.last_at is not None]
    return Reading(
        left.part,
        left.is_covered or right.is_covered,
        max(both, default=None),
        max(times, default=None),
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


def quiet_since(
    one: InstanceFacts, limits: Mapping[str, Limit], now: datetime, *, cache: Cache
) -> datetime | None:
    """Return since when every sample of an instance has stayed within its limit."""
    starts = [
        start
        for signal, limit in limits.items()
        for samples in _samples(one, signal, cache)
        if (start := _quiet_start(samples, limit, now)) is not None
    ]
    return max(starts, default=None)


def _quiet_start(samples: Samples, limit: Limit, now: datetime) -> datetime | None:
    oldest: datetime | None = None
    gap = timedelta(seconds=samples.period_s * GAP_PERIODS)
    for at, value in zip(
        reversed(samples.times), reversed(samples.values), strict=True
    ):
        if at > now:
            continue
        if not limit.holds(value) or (oldest is not None and oldest - at > gap):
            break
        oldest = at
    return oldest
