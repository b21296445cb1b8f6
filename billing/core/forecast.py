"""What things cost right now and what that comes to, if nothing changes.

A burn rate with an unknown part is unknown. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from billing.core.money import USD, Money, Rate
from billing.core.price_series import rate_at
from billing.core.priced import missing_reason, quantities
from billing.core.prices import PriceKey
from billing.core.tally import Prices
from billing.core.usage import UsageInterval

DAY_AHEAD = timedelta(hours=24)
NEW = "new (was {before})"
UNKNOWN = "n/a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Burn:
    """Cost per hour of what runs at one instant.

    Attributes:
        known: Sum of the parts with a known price.
        unknown: Parts without one, each named with its reason, sorted.
    """

    known: Rate
    unknown: tuple[str, ...] = ()

    @property
    def rate(self) -> Rate | None:
        """Return the whole rate; None when a part of it is unknown."""
        return None if self.unknown else self.known


def burn(
    intervals: Iterable[UsageInterval],
    prices: Prices,
    now: datetime,
    *,
    currency: str = USD,
) -> Burn:
    """Return the cost per hour of the intervals that run at an instant."""
    known = Rate(0, currency)
    unknown: set[str] = set()
    rates: dict[PriceKey, Rate | None] = {}
    for interval in intervals:
        if not is_running(interval, now):
            continue
        for key, units in quantities(interval):
            if key not in rates:
                rates[key] = rate_at(prices.get(key, ()), now)
            rate = rates[key]
            if rate is None:
                name = f"{key.product} {key.purchase} in {key.region}"
                unknown.add(f"{name} ({missing_reason(key)})")
            else:
                known += rate * units
    return Burn(known=known, unknown=tuple(sorted(unknown)))


def is_running(interval: UsageInterval, now: datetime) -> bool:
    """Tell whether an interval holds an instant."""
    has_ended = interval.ended_at is not None and interval.ended_at <= now
    return interval.started_at <= now and not has_ended


def next_24h(rate: Rate | None) -> Money | None:
    """Return what the next 24 hours cost at a rate; None when it is unknown.

    >>> next_24h(Rate.of("98.32"))
    Money('2359.68 USD')
    """
    return None if rate is None else rate.cost_of(DAY_AHEAD)


def percent_change(before: Money | None, after: Money | None) -> Decimal | None:
    """Return the change in percent, to one place; None when there is no such number.

    From nothing, or from a negative amount, no percentage says anything.

    >>> percent_change(Money.of("200"), Money.of("250"))
    Decimal('25.0')
    >>> percent_change(Money.of("0"), Money.of("430")) is None
    True
    """
    if before is None or after is None or before.nanos <= 0:
        return None
    ratio = Fraction((after - before).nanos * 100, before.nanos)
    return Decimal(round(ratio * 10)).scaleb(-1)


def describe_change(before: Money | None, after: Money | None) -> str:
    """Say a change for a person: ``+25.0 %``, ``no change``, ``new (was $0.00)``.

    >>> describe_change(Money.of("0"), Money.of("430"))
    'new (was $0.00)'
    """
    if before is None or after is None:
        return UNKNOWN
    if before == after:
        return "no change"
    percent = percent_change(before, after)
    if percent is None:
        return NEW.format(before=before) if not before.nanos else UNKNOWN
    return f"{percent:+} %"
