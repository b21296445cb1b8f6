"""Pieces of cost summed by a key or by day, billed and provisional side by side; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import date
from typing import NamedTuple

from billing.core.money import USD, MixedCurrencyError, Money
from bot.views.answers import CostGroup


class Part(NamedTuple):
    """One piece of an answer, before it is summed; an answer has thousands.

    Attributes:
        nanos: Whole nano-units of the currency.
        is_open: True for what is provisional.
    """

    key: str
    account: str
    day: date
    nanos: int
    currency: str
    is_open: bool
    is_credit: bool = False

    @property
    def amount(self) -> Money:
        """Return what it costs."""
        return Money(self.nanos, self.currency)


def grouped(
    parts: Iterable[Part], *, is_net: bool = False, unpriced: Collection[str] = ()
) -> tuple[CostGroup, ...]:
    """Sum pieces by key: by total descending, then key.

    ``unpriced`` keys have running time without a price: their provisional part is
    unknown, and they appear even when nothing else of them is known.
    """
    sums: dict[str, list[int]] = {}
    counted = [part for part in parts if is_net or not part.is_credit]
    currency = currency_of(counted)
    for part in counted:
        both = sums.get(part.key)
        if both is None:
            both = sums[part.key] = [0, 0]
        both[part.is_open] += part.nanos
    for key in unpriced:
        sums.setdefault(key, [0, 0])
    groups = [
        CostGroup(
            key=key,
            total=Money(billed + provisional, currency),
            billed=Money(billed, currency),
            provisional=None if key in unpriced else Money(provisional, currency),
        )
        for key, (billed, provisional) in sums.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.total.nanos, group.key)))


def by_day(parts: Iterable[Part]) -> tuple[tuple[date, Money, bool], ...]:
    """Sum pieces by billing day before credits; True marks a day that may still move."""
    sums: dict[date, int] = {}
    moving: set[date] = set()
    counted = [part for part in parts if not part.is_credit]
    for part in counted:
        sums[part.day] = sums.get(part.day, 0) + part.nanos
        if part.is_open:
            moving.add(part.day)
    currency = currency_of(counted)
    return tuple(
        (day, Money(nanos, currency), day in moving)
        for day, nanos in sorted(sums.items())
    )


def currency_of(parts: Collection[Part]) -> str:
    """Return the one currency of pieces.

    Raises:
        MixedCurrencyError: They have several.
    """
    first, *others = sorted({part.currency for part in parts}) or [USD]
    for other in others:
        raise MixedCurrencyError(first, other)
    return first
