"""Until when an account's bill is complete.

A billing day is complete when AWS calls it final; or when the bill holds at least 98 %
of the GPU instance hours that the inventory saw all day; or when it is older than
72 hours and a later reading was equal. Billed-through is the end of the last day up to
which every day is complete: what is after it is provisional. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Protocol

from billing.core.accrual import billed_end, is_free
from billing.core.fleet import Lifecycle
from billing.core.gpus import is_gpu_type
from billing.core.periods import DAY, Period, day_of, day_period, days_between, start_of
from billing.core.usage import ResourceKind, UsageInterval

BILLED_SHARE_PCT = 98
SETTLED_AFTER = timedelta(hours=72)
#: Without GPU hours to compare, a covered day must have had time to be billed.
QUIET_AFTER = timedelta(hours=24)


class DayState(Protocol):
    """What is known of one stored day of an account."""

    @property
    def day(self) -> date:
        """Return the billing day."""

    @property
    def is_estimated(self) -> bool:
        """Tell whether AWS may still restate it."""

    @property
    def equal_reads(self) -> int:
        """Return how often a later reading was equal."""


def billed_through(
    days: Iterable[DayState],
    *,
    seen_hours: Mapping[date, float],
    covered_days: Collection[date],
    billed_hours: Mapping[date, float],
    now: datetime,
) -> datetime | None:
    """Return the end of the last day up to which all are complete; None when no day is.

    Args:
        days: Stored days of one account; a missing day ends the run.
        seen_hours: GPU instance hours that the inventory saw, by day.
        covered_days: Days that the inventory watched from start to end.
        billed_hours: GPU instance hours that the bill holds, by day.
        now: Days that have not ended by then are never complete.
    """
    through: datetime | None = None
    for state in sorted(days, key=lambda stored: stored.day):
        start, end = start_of(state.day), start_of(state.day + DAY)
        is_next = through is None or start == through
        seen = seen_hours.get(state.day, 0.0)
        billed = billed_hours.get(state.day, 0.0)
        is_complete = _is_settled(state, age=now - end, seen=seen) or (
            state.day in covered_days and _is_billed(seen, billed, age=now - end)
        )
        if not is_next or end > now or not is_complete:
            break
        through = end
    return through


def _is_billed(seen: float, billed: float, *, age: timedelta) -> bool:
    if seen <= 0:
        return age >= QUIET_AFTER
    return billed * 100 >= seen * BILLED_SHARE_PCT


def _is_settled(state: DayState, *, age: timedelta, seen: float) -> bool:
    if not state.is_estimated:
        return True
    # An import reads its controls before and after: two equal readings, unless the
    # inventory says that something ran and may still be missing.
    is_equal = state.equal_reads >= 1 or seen <= 0
    return age >= SETTLED_AFTER and is_equal


def gpu_hours_by_day(
    intervals: Iterable[UsageInterval], since: date, until: date, now: datetime
) -> dict[date, float]:
    """Return the GPU instance hours of ``[since, until)`` that intervals hold, by day.

    Days without any are 0. What AWS does not bill by the hour is left out: spot taken
    back in its first hour, and capacity blocks.
    """
    hours = dict.fromkeys(days_between(since, until), 0.0)
    for interval in intervals:
        if not _is_billed_gpu(interval):
            continue
        end = billed_end(interval, now)
        first = max(since, day_of(interval.started_at))
        for day in days_between(first, min(until, day_of(end) + DAY)):
            shared = day_period(day).overlap(Period(interval.started_at, end))
            if shared is not None:
                hours[day] += shared.duration / timedelta(hours=1)
    return hours


def _is_billed_gpu(interval: UsageInterval) -> bool:
    return (
        interval.kind is ResourceKind.INSTANCE
        and interval.lifecycle is not Lifecycle.CAPACITY_BLOCK
        and is_gpu_type(interval.shape)
        and not is_free(interval)
    )


def is_complete(account: str, day: date, through: Mapping[str, datetime]) -> bool:
    """Tell whether a day lies before its account's billed-through.

    Billed-through is the end of a day, so days before its date are complete.
    """
    return account in through and day < through[account].date()
