"""Time in whole microseconds, and what a length of it costs, exactly. Pure."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from billing.core.periods import start_of
from billing.core.usage import UsageInterval

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
_DAY = 24 * _HOUR
_EPOCH = start_of(date(1970, 1, 1))


def billed_share(interval: UsageInterval) -> tuple[int, int]:
    """Return which share of an interval AWS bills, as a numerator and a denominator."""
    if interval.billed_s is None or interval.ended_at is None:
        return 1, 1
    ran = (interval.ended_at - interval.started_at) // _MICROSECOND
    billed = interval.billed_s * (timedelta(seconds=1) // _MICROSECOND)
    return (billed, ran) if ran > 0 else (1, 1)


def days_of(start: int, end: int) -> list[tuple[int, int, int]]:
    """Return ``(day number, start, end)`` of the parts of a span by UTC day."""
    parts = []
    while start < end:
        day = start // _DAY
        stop = min(end, (day + 1) * _DAY)
        parts.append((day, start, stop))
        start = stop
    return parts


def cost_of(nanos_per_hour: int, micros: int, whole: int = 1) -> int:
    """Return the cost of a length of time, rounded half-even to a nano-unit.

    ``whole`` divides it: the rate was multiplied by so many parts of the whole.
    """
    divisor = _HOUR * whole
    quotient, rest = divmod(nanos_per_hour * micros, divisor)
    if 2 * rest > divisor or (2 * rest == divisor and quotient % 2):
        quotient += 1
    return quotient


def micros(instant: datetime) -> int:
    """Return an instant in microseconds since 1970."""
    return (instant - _EPOCH) // _MICROSECOND
