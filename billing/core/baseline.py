"""The baseline of a family: what is used in nearly every hour, at on-demand prices.

Eligible is what a Savings Plan or a reservation could cover: running time on demand,
also inside an on-demand capacity reservation; spot and Capacity Blocks are not. The
baseline is the 10th percentile of its hours. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from fractions import Fraction

from billing.core.fleet import Lifecycle
from billing.core.money import Rate, round_half_even
from billing.core.periods import HOUR, Period
from billing.core.usage import ResourceKind, UsageInterval

PERCENTILE = 10
RateOf = Callable[[UsageInterval], Rate | None]


def family_of(shape: str) -> str:
    """Return the family of an instance type.

    >>> family_of("p5.48xlarge")
    'p5'
    """
    return shape.partition(".")[0]


def hourly_use(
    intervals: Iterable[UsageInterval], family: str, period: Period, rate: RateOf
) -> list[int] | None:
    """Return what eligible use of a family cost in each hour, in nano-units.

    Args:
        intervals: What ran.
        family: Such as ``p5``.
        period: Whole hours.
        rate: On-demand price of one; None makes all of it unknown.
    """
    hours: list[Fraction] = [Fraction(0)] * (period.duration // HOUR)
    for one in intervals:
        if not _is_eligible(one, family):
            continue
        price = rate(one)
        if price is None:
            return None
        end = one.ended_at or period.end
        ran = period.overlap(Period(one.started_at, max(end, one.started_at)))
        if ran is not None:
            _spread(hours, ran, period, price.nanos * one.units)
    return [round_half_even(one) for one in hours]


def _is_eligible(one: UsageInterval, family: str) -> bool:
    return (
        one.kind is ResourceKind.INSTANCE
        and one.lifecycle is Lifecycle.ON_DEMAND
        and family_of(one.shape) == family
    )


def _spread(hours: list[Fraction], ran: Period, period: Period, nanos: int) -> None:
    at = ran.start
    while at < ran.end:
        index = (at - period.start) // HOUR
        end = min(ran.end, period.start + (index + 1) * HOUR)
        hours[index] += (
            nanos
            * Fraction((end - at) / timedelta(microseconds=1))
            / (HOUR // timedelta(microseconds=1))
        )
        at = end


def percentile(values: Sequence[int], percent: int = PERCENTILE) -> int:
    """Return the value that so many percent are at or below, never between two.

    >>> percentile([50, 10, 40, 30, 20, 60, 70, 80, 90, 100], 10)
    10
    """
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(rank, 1) - 1]
