"""Which share of the public price an answer of a past day would have counted with.

The bill of a day is complete only some time after it, so what a day was priced by is
measured on the days before: never on its own bill, which it is held against. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from billing.core.charges import PricingCategory
from billing.core.money import Money
from billing.core.paid_shares import LOOKBACK, BilledHours, PaidShare, paid_shares
from billing.core.periods import DAY
from billing.core.reconciled import BilledLine

#: While a day runs, the bill of the one before it is not complete yet.
LAG = DAY
#: How many days before a day its share is measured on, the newest included.
REACH = LOOKBACK + LAG

#: Account, family, day.
When = tuple[str, str, date]
#: Public price of an hour of a type in a region on a day, in nano-units.
PriceThen = Callable[[str, str, date], int | None]


@dataclass(slots=True)
class _Sum:
    hours: Fraction
    effective: Money


def shares_then(
    lines: Iterable[BilledLine], days: Iterable[date], price_of: PriceThen
) -> Mapping[When, Fraction]:
    """Return the share of each account and family on each day, where one was known."""
    by_day = _by_day(lines, price_of)
    found: dict[When, Fraction] = {}
    for day in days:
        since, until = day - REACH, day - LAG
        hours = [
            one for on, some in by_day.items() if since <= on < until for one in some
        ]
        for paid in paid_shares(hours, lambda *_: None, since, until):
            share = _share(paid)
            if share is not None:
                found[paid.account, paid.family, day] = share
    return found


def _share(paid: PaidShare) -> Fraction | None:
    """Return a share that changes anything."""
    share = paid.share
    return None if share == 1 else share


def _by_day(
    lines: Iterable[BilledLine], price_of: PriceThen
) -> Mapping[date, list[BilledHours]]:
    """Sum what the bill counts in hours, but for spot, at the public price of its day."""
    sums: dict[tuple[date, str, str, str], _Sum] = {}
    for line in lines:
        is_hourly = line.shape != "" and line.hours is not None
        if not is_hourly or line.pricing is PricingCategory.DYNAMIC:
            continue
        place = (line.day, line.account, line.shape, line.region)
        zero = _Sum(Fraction(0), Money.zero(line.effective.currency))
        held = sums.setdefault(place, zero)
        held.hours += line.hours or 0
        held.effective += line.effective
    found: dict[date, list[BilledHours]] = {}
    for (day, account, shape, region), held in sums.items():
        nanos = price_of(shape, region, day)
        public = None if nanos is None else round(held.hours * nanos)
        currency = held.effective.currency
        found.setdefault(day, []).append(
            BilledHours(
                account=account,
                instance_type=shape,
                region=region,
                hours=Decimal(0),  # The cost says it.
                effective=held.effective,
                list_cost=None if public is None else Money(public, currency),
            )
        )
    return found
