"""Which days a delivery covers, and what each of them must sum to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from billing.core.charges import DayControl
from billing.core.money import NANOS_PER_UNIT, Money, round_half_even
from billing.core.periods import DAY, days_between, next_month, start_of, utc

#: A month delivered this long after its end is whole, whatever ran in its last hours.
CLOSED_AFTER = timedelta(hours=72)
NO_DAYS = "export {name}: no day of {period:%Y-%m} is complete in it yet"


def covered_days(
    period: date, usage_end: datetime | None, delivered_at: datetime
) -> list[date]:
    """Return the days of a billing month that a delivery holds to their end.

    The day that AWS is still metering is not one: until it ends, Cost Explorer and the
    inventory know as much of it.
    """
    end = next_month(period)
    if delivered_at >= start_of(end) + CLOSED_AFTER:
        return list(days_between(period, end))
    if usage_end is None:
        return []
    reached = min(utc(usage_end), delivered_at)
    return [day for day in days_between(period, end) if start_of(day + DAY) <= reached]


def controls_of(
    sums: Iterable[Sequence[Any]], days: Sequence[date], *, blank: DayControl
) -> list[DayControl]:
    """Return the control of each day from (day, last day, billed, effective) sums.

    What is billed stays on its day; an effective cost that reaches over several is
    shared evenly among them.
    """
    billed: dict[date, Fraction] = {}
    effective: dict[date, Fraction] = {}
    for first, last, invoiced, amortised in sums:
        _add(billed, first, Fraction(Decimal(invoiced)))
        reach = list(days_between(first, max(first, last) + DAY))
        for day in reach:
            _add(effective, day, Fraction(Decimal(amortised)) / len(reach))
    currency = blank.billed.currency
    return [
        replace(
            blank,
            day=day,
            billed=_money(billed.get(day), currency),
            effective=_money(effective.get(day), currency),
        )
        for day in days
    ]


def _add(sums: dict[date, Fraction], day: date, amount: Fraction) -> None:
    sums[day] = sums.get(day, Fraction(0)) + amount


def _money(amount: Fraction | None, currency: str) -> Money:
    return Money(round_half_even((amount or Fraction(0)) * NANOS_PER_UNIT), currency)
