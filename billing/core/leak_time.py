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

from billing.core.periods import HOUR, Period, day_of
from billing.core.progress import Progress, Restart

#: Below this mean of an hour an instance did nothing.
IDLE_BELOW_PCT = 5
#: What a healthy run reaches; below it the difference is called waiting.
TARGET_PCT = 70

_MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000
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
    weights = dict.fromkeys(Busy, 0)
    spent = dict.fromkeys(Busy, 0)
    for one in times:
        for busy, micros in _uses(one, use):
            weights[busy] += micros * one.weight
            spent[busy] += micros
    return Shares(
        weights=weights,
        spent={busy: micros * _MICROSECOND for busy, micros in spent.items()},
    )


def _uses(time: Time, use: UseOfTime) -> Iterable[tuple[Busy, int]]:
    """Yield how many microseconds of a piece were what; they sum to the piece."""
    lost = _shared(time.period, use.lost)
    waiting = _shared(time.period, use.waiting)
    whole = time.period.duration // _MICROSECOND
    rest = whole - lost - waiting
    yield Busy.LOST, lost
    yield Busy.IDLE, waiting
    if rest <= 0:
        return
    measured = use.hours.get((time.resource_id, time.hour))
    if measured is None:
        yield Busy.UNKNOWN, rest
        return
    percent, covered_s = measured
    known = rest * min(covered_s * _SECOND, whole) // whole
    yield Busy.UNKNOWN, rest - known
    if percent < use.idle_below_pct:
        yield Busy.IDLE, known
        return
    # To a thousandth of a percent, as nobody measures more finely.
    reached = min(round(percent * _MILLI), use.target_pct * _MILLI)
    busy = known * reached // (use.target_pct * _MILLI)
    yield Busy.LOW, known - busy
    yield Busy.BUSY, busy


def _shared(period: Period, spans: Sequence[Period]) -> int:
    """Return how many microseconds of a period lie in spans that are apart."""
    found = 0
    for span in spans:
        part = period.overlap(span)
        if part is not None:
            found += part.duration // _MICROSECOND
    return found
