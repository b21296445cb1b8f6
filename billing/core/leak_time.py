"""What the time of instances was used for: lost, idle, partly waiting, busy, unknown.

Work that had to be done again is lost, however busy it was. Below a few percent an hour
is idle; below the target the missing share is waiting. Time that nobody measured is
unknown, never idle. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from billing.core.periods import HOUR, Period, day_of
from billing.core.progress import Progress, Restart

#: Below this mean of an hour an instance did nothing.
IDLE_BELOW_PCT = 5
#: What a healthy run reaches; below it the difference is called waiting.
TARGET_PCT = 70

_MICROSECOND = timedelta(microseconds=1)
_MILLI = 1000


class Busy(StrEnum):
    """What a piece of time was, the first that fits."""

    LOST = "lost"
    IDLE = "idle"
    LOW = "low"
    BUSY = "busy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """A piece of an instance's time within one clock hour, as far as the run had it.

    Attributes:
        weight: What a microsecond of it costs, relative to the others.
    """

    account: str
    resource_id: str
    period: Period
    weight: int

    @property
    def day(self) -> date:
        """Return the billing day."""
        return day_of(self.period.start)

    @property
    def hour(self) -> datetime:
        """Return the clock hour."""
        return self.period.start.replace(minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UseOfTime:
    """What was measured and reported of a run's time.

    Attributes:
        hours: ``(mean GPU percent, seconds covered)`` by instance and clock hour.
        lost: Spans whose work was done again, apart and in order.
        waiting: Spans in which the job says that nothing was done: before its first
            report, and from a stop to the resumption.
    """

    hours: Mapping[tuple[str, datetime], tuple[float, int]] = field(
        default_factory=dict
    )
    lost: tuple[Period, ...] = ()
    waiting: tuple[Period, ...] = ()
    restarts: tuple[Restart, ...] = ()
    idle_below_pct: int = IDLE_BELOW_PCT
    target_pct: int = TARGET_PCT


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """A day's time, by what it was.

    Attributes:
        weights: In proportion to cost; whole numbers, so that splits are exact.
        spent: In time.
    """

    weights: Mapping[Busy, int]
    spent: Mapping[Busy, timedelta]


def spans_of(
    progress: Progress | None, began_at: datetime | None
) -> tuple[tuple[Period, ...], tuple[Period, ...]]:
    """Return what progress says was lost, and when nothing was done.

    A counter that was not reported from its start says nothing of the time before.
    """
    if progress is None:
        return (), ()
    lost = merged(one.lost_time for one in progress.restarts)
    waiting = [Period(one.lost_time.end, one.resumed_at) for one in progress.restarts]
    if began_at is not None and not progress.begins_at and began_at < progress.first_at:
        waiting.append(Period(began_at, progress.first_at))
    return lost, merged(waiting)


def merged(spans: Iterable[Period]) -> tuple[Period, ...]:
    """Return spans apart and in order; those that touch become one."""
    found: list[Period] = []
    for span in sorted(spans):
        if not span.duration:
            continue
        if found and span.start <= found[-1].end:
            last = found.pop()
            span = Period(last.start, max(last.end, span.end))  # noqa: PLW2901 - it grows
        found.append(span)
    return tuple(found)


def pieces(period: Period) -> Iterable[Period]:
    """Yield the parts of a period by clock hour."""
    start = period.start
    while start < period.end:
        hour = start.replace(minute=0, second=0, microsecond=0)
        end = min(hour + HOUR, period.end)
        yield Period(start, end)
        start = end


def divide(times: Sequence[Time], use: UseOfTime) -> Shares:
    """Divide time by what it was."""
    weights = dict.fromkeys(Busy, Fraction(0))
    spent = dict.fromkeys(Busy, Fraction(0))
    for one in times:
        for busy, micros in _uses(one, use):
            weights[busy] += micros * one.weight
            spent[busy] += micros
    scale = _common(weights.values())
    return Shares(
        weights={busy: int(weight * scale) for busy, weight in weights.items()},
        spent={busy: round(micros) * _MICROSECOND for busy, micros in spent.items()},
    )


def _common(weights: Iterable[Fraction]) -> int:
    """Return a number that makes every weight whole."""
    scale = 1
    for weight in weights:
        scale *= (weight * scale).denominator
    return scale


def _uses(time: Time, use: UseOfTime) -> Iterable[tuple[Busy, Fraction]]:
    """Yield how many microseconds of a piece were what."""
    lost = _shared(time.period, use.lost)
    # Where both are said, the work was done again: that counts.
    waiting = _shared(time.period, use.waiting)
    rest = time.period.duration // _MICROSECOND - lost - waiting
    yield Busy.LOST, Fraction(lost)
    yield Busy.IDLE, Fraction(waiting)
    if rest <= 0:
        return
    measured = use.hours.get((time.resource_id, time.hour))
    if measured is None:
        yield Busy.UNKNOWN, Fraction(rest)
        return
    percent, covered_s = measured
    known = _covered(time.period, covered_s)
    yield Busy.UNKNOWN, rest * (1 - known)
    yield from _by_percent(rest * known, percent, use)


def _by_percent(
    micros: Fraction, percent: float, use: UseOfTime
) -> Iterable[tuple[Busy, Fraction]]:
    if percent < use.idle_below_pct:
        yield Busy.IDLE, micros
        return
    # To a thousandth of a percent: a float's last digits would make huge fractions.
    reached = Fraction(round(percent * _MILLI), use.target_pct * _MILLI)
    busy = min(reached, Fraction(1))
    yield Busy.LOW, micros * (1 - busy)
    yield Busy.BUSY, micros * busy


def _covered(period: Period, covered_s: int) -> Fraction:
    """Return the share of a piece that measurements cover."""
    seconds = period.duration // timedelta(seconds=1)
    if seconds <= 0:
        return Fraction(1 if covered_s else 0)
    return min(Fraction(covered_s, seconds), Fraction(1))


def _shared(period: Period, spans: Sequence[Period]) -> int:
    """Return how many microseconds of a period lie in spans that are apart."""
    found = 0
    for span in spans:
        part = period.overlap(span)
        if part is not None:
            found += part.duration // _MICROSECOND
    return found
