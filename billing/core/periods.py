"""Half-open periods of UTC time, billing days and billing months.

Every period is ``[start, end)`` with aware UTC instants; a billing day is a UTC
calendar day. Knows no clock: "now" is always a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from billing.core.errors import GpucostError

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class InvalidPeriodError(GpucostError, ValueError):
    """A period must be aware UTC and must not end before it starts."""

    code = "invalid_period"

    def __init__(self, start: object, end: object) -> None:
        super().__init__(f"not a period [start, end) of UTC time: {start!r} to {end!r}")


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A half-open span ``[start, end)`` of aware UTC time; it may be empty."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Refuse naive instants, other zones and reversed ends."""
        for instant in (self.start, self.end):
            if instant.tzinfo is not UTC:
                raise InvalidPeriodError(self.start, self.end)
        if self.end < self.start:
            raise InvalidPeriodError(self.start, self.end)

    @property
    def duration(self) -> timedelta:
        """Return the length of the period."""
        return self.end - self.start

    def __contains__(self, instant: datetime) -> bool:
        """Tell whether an instant lies inside; the end does not."""
        return self.start <= instant < self.end

    def overlap(self, other: Period) -> Period | None:
        """Return the shared part, or None when nothing (or one instant) is shared."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Period(start, end) if start < end else None


def utc(instant: datetime) -> datetime:
    """Return an aware instant in UTC; a naive one is refused.

    The zone is the ``UTC`` singleton, whatever object the source used for it.
    """
    if instant.tzinfo is None:
        raise InvalidPeriodError(instant, instant)
    return instant.astimezone(UTC)


def start_of(day: date) -> datetime:
    """Return the first instant of a billing day."""
    return datetime.combine(day, time(), tzinfo=UTC)


def day_of(instant: datetime) -> date:
    """Return the billing day that holds an instant."""
    return utc(instant).date()


def day_period(day: date) -> Period:
    """Return the billing day as a period of 24 hours."""
    return Period(start_of(day), start_of(day + DAY))


def days_between(since: date, until: date) -> Iterator[date]:
    """Yield the billing days of ``[since, until)`` in order."""
    day = since
    while day < until:
        yield day
        day += DAY


def month_start(day: date) -> date:
    """Return the first day of the day's billing month."""
    return day.replace(day=1)


def next_month(day: date) -> date:
    """Return the first day of the month after the day's month."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def previous_month(day: date) -> date:
    """Return the first day of the month before the day's month."""
    return (day.replace(day=1) - DAY).replace(day=1)


def rfc3339(instant: datetime) -> str:
    """Return an instant as the contracts write it: UTC, ``Z``, short when whole.

    >>> rfc3339(datetime(2026, 11, 30, 9, tzinfo=UTC))
    '2026-11-30T09:00:00Z'
    """
    return utc(instant).isoformat().replace("+00:00", "Z")
