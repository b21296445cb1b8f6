"""Pieces of cost summed by a key or by day, billed and provisional side by side; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date

from billing.core.money import USD, Money
from bot.views.answers import CostGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece of an answer, before it is summed.

    Attributes:
        is_open: True for what is provisional.
    """

    key: str
    account: str
    day: date
    amount: Money
    is_open: bool
    is_credit: bool = False


def grouped(
    parts: Iterable[Part], *, is_net: bool = False, unpriced: Collection[str] = ()
) -> tuple[CostGroup, ...]:
    """Sum pieces by key: by total descending, then key.

    ``unpriced`` keys have running time without a price: their provisional part is
    unknown, and they appear even when nothing else of them is known.
    """
    sums: dict[str, list[Money]] = {}
    currency = USD
    for part in parts:
        if part.is_credit and not is_net:
            continue
        currency = part.amount.currency
        pair = sums.setdefault(part.key, [Money.zero(currency)] * 2)
        pair[part.is_open] = pair[part.is_open] + part.amount
    for key in unpriced:
        sums.setdefault(key, [Money.zero(currency)] * 2)
    groups = [
        CostGroup(
            key=key,
            total=billed + open_,
            billed=billed,
            provisional=None if key in unpriced else open_,
        )
        for key, (billed, open_) in sums.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.total.nanos, group.key)))


def by_day(parts: Iterable[Part]) -> tuple[tuple[date, Money, bool], ...]:
    """Sum pieces by billing day before credits; True marks a day that may still move."""
    sums: dict[date, tuple[Money, bool]] = {}
    for part in parts:
        if part.is_credit:
            continue
        amount, is_open = sums.get(part.day, (Money.zero(part.amount.currency), False))
        sums[part.day] = (amount + part.amount, is_open or part.is_open)
    return tuple((day, *sums[day]) for day in sorted(sums))
