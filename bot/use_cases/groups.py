"""Pieces of cost summed by a key or by day, billed and provisional side by side; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date

from billing.core.money import USD, Money, total
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
    sums: dict[str, tuple[list[Money], list[Money]]] = {}
    currency = USD
    for part in parts:
        if part.is_credit and not is_net:
            continue
        currency = part.amount.currency
        sums.setdefault(part.key, ([], []))[part.is_open].append(part.amount)
    for key in unpriced:
        sums.setdefault(key, ([], []))
    groups = []
    for key, (closed, open_) in sums.items():
        billed, provisional = total(closed, currency), total(open_, currency)
        groups.append(
            CostGroup(
                key=key,
                total=billed + provisional,
                billed=billed,
                provisional=None if key in unpriced else provisional,
            )
        )
    return tuple(sorted(groups, key=lambda group: (-group.total.nanos, group.key)))


def by_day(parts: Iterable[Part]) -> tuple[tuple[date, Money, bool], ...]:
    """Sum pieces by billing day before credits; True marks a day that may still move."""
    sums: dict[date, list[Money]] = {}
    moving: set[date] = set()
    for part in parts:
        if part.is_credit:
            continue
        sums.setdefault(part.day, []).append(part.amount)
        if part.is_open:
            moving.add(part.day)
    return tuple(
        (day, total(amounts, amounts[0].currency), day in moving)
        for day, amounts in sorted(sums.items())
    )
