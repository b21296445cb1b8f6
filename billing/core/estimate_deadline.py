"""Whether a planned run is done by its deadline, and when it must start. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil

from billing.core.estimate_factors import Overheads
from billing.core.estimate_request import EstimateRequest, number

#: Capacity blocks: instances at once, and how far ahead one can begin.
#: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
BLOCK_COUNTS = (1, 2, 4, 8, 16, 32, 64)
BLOCK_DAYS_BY_DAY = 14
BLOCK_DAYS_STEP = 7
BLOCK_DAYS_MAX = 182
BLOCK_AHEAD = timedelta(weeks=8)
_HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """How a run stands to its deadline.

    Attributes:
        expected / high: Wall-clock time it takes, idle time and restarts included.
        latest_start: Last instant at which the high end is still done in time.
        late_by: How late the high end is when it starts now; None when it is in time.
        is_late_expected: Even the expected end is late.
    """

    at: datetime
    planned: Fraction
    expected: Fraction
    high: Fraction
    latest_start: datetime
    late_by: timedelta | None
    is_late_expected: bool

    @property
    def text(self) -> str:
        """Say it for a person."""
        took = (
            f"{number(self.planned)} h planned, {_hours(self.expected)} expected,"
            f" {_hours(self.high)} at the high end"
        )
        if self.late_by is None:
            return f"start by {_when(self.latest_start)} ({took})"
        late = f"{_hours(Fraction(round(self.late_by.total_seconds()), 3600))} late"
        if self.is_late_expected:
            return f"does not fit: started now the high end is {late} ({took})"
        return f"tight: started now the high end is {late}, the expected fits ({took})"


def deadline_of(
    request: EstimateRequest, overheads: Overheads, now: datetime
) -> Deadline | None:
    """Return how a run stands to its deadline; None when it has none."""
    at = request.terms.deadline
    if at is None:
        return None
    factors = overheads.of(request)
    expected, high = (
        request.hours * factors.expected,
        request.hours * factors.high,
    )
    latest = at - _span(high)
    return Deadline(
        at=at,
        planned=request.hours,
        expected=expected,
        high=high,
        latest_start=latest,
        late_by=now - latest if latest < now else None,
        is_late_expected=at - _span(expected) < now,
    )


def block_days(hours: Fraction) -> int | None:
    """Return the whole days of the capacity block that holds so many hours.

    None when no block is that long.

    >>> block_days(Fraction(73)), block_days(Fraction(24 * 15)), block_days(Fraction(9999))
    (4, 21, None)
    """
    days = ceil(hours / _HOURS_PER_DAY)
    if days > BLOCK_DAYS_BY_DAY:
        days = ceil(Fraction(days, BLOCK_DAYS_STEP)) * BLOCK_DAYS_STEP
    return days if days <= BLOCK_DAYS_MAX else None


def block_count(count: int) -> int | None:
    """Return the least instances of a capacity block that hold a count; None: too many.

    >>> block_count(5), block_count(64), block_count(65)
    (8, 64, None)
    """
    return next((some for some in BLOCK_COUNTS if some >= count), None)


def _span(hours: Fraction) -> timedelta:
    return timedelta(seconds=round(hours * 3600))


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _hours(hours: Fraction) -> str:
    return f"{float(hours):,.1f} h"
