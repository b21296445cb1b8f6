"""Which resources a figure's provisional cost is of, each with its exact part.

Every interval is accrued on its own at the prices that accrue them all; the amounts that
the answer counts, which may be a share of that or rounded together, are split over them
so that nothing is left. Knows no view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.accrual import AccruedCell, CellKey, accrue
from billing.core.attribution import TagKeys
from billing.core.money import Money, split, total
from billing.core.priced import price_keys
from billing.core.prices import Price, PriceKey
from billing.core.usage import TagSpan, UsageInterval
from bot.use_cases.parts import Gathered
from bot.use_cases.prepaid import is_prepaid

Series = Mapping[PriceKey, Sequence[Price]]
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Member:
    """One interval's part of a figure.

    Attributes:
        cells: At the price of the interval's own key.
        amount: What of the figure it is.
    """

    interval: UsageInterval
    cells: tuple[AccruedCell, ...]
    amount: Money

    @property
    def running(self) -> timedelta:
        """Return the time that is paid for, the minimum included."""
        return sum((cell.running for cell in self.cells), timedelta())

    @property
    def at_price(self) -> Money:
        """Return running time times price, before any share of it."""
        currency = self.amount.currency
        return total((cell.amount for cell in self.cells), currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The members of a figure, and the prices they were accrued at."""

    members: tuple[Member, ...]
    series: Series


def members_of(
    read: Gathered,
    wanted: Callable[[AccruedCell], bool],
    *,
    keys: TagKeys,
    job: str,
    account: str,
) -> Found:
    """Return what makes up the accrued cells of a figure, interval by interval."""
    counted: dict[CellKey, Money] = {}
    for cell in read.accrued.cells:
        if wanted(cell):
            before = counted.get(cell.key, Money.zero(cell.amount.currency))
            counted[cell.key] = before + cell.amount
    if not counted:
        return Found(members=(), series={})
    open_ = [one for one in read.intervals if not is_prepaid(one)]
    prepaid = _prepaid(read, job=job, account=account)
    series = read.prices.over(
        {key for one in (*open_, *prepaid) for key in price_keys(one)}, read.period
    )
    found = _accrued(read, open_, read.tags, series, keys=keys, through=read.through)
    if prepaid:
        ids = sorted({one.resource_id for one in prepaid})
        tags = read.ledger.tags(ids, keys=keys.job)
        found += _accrued(read, prepaid, tags, series, keys=keys, through={})
    return Found(members=tuple(_shared_out(found, counted)), series=series)


def _prepaid(read: Gathered, *, job: str, account: str) -> list[UsageInterval]:
    """Return what was paid at purchase: its fee is spread over billed days too."""
    if not any(one.is_prepaid for one in read.ledger.reservations()):
        return [one for one in read.intervals if is_prepaid(one)]
    return [
        one
        for one in read.ledger.intervals(read.period, job=job or None)
        if is_prepaid(one) and account in {"", one.account}
    ]


def _accrued(
    read: Gathered,
    intervals: Sequence[UsageInterval],
    tags: Sequence[TagSpan],
    series: Series,
    *,
    keys: TagKeys,
    through: Mapping[str, datetime],
) -> list[tuple[UsageInterval, tuple[AccruedCell, ...]]]:
    spans: dict[str, list[TagSpan]] = {}
    for span in tags:
        spans.setdefault(span.resource_id, []).append(span)
    claims = read.ledger.claims(intervals, tags, read.period)
    found = []
    for one in intervals:
        accrued = accrue(
            [one],
            [*spans.get(one.resource_id, ()), *spans.get(one.parent_id, ())],
            series,
            read.period,
            now=read.now,
            keys=keys,
            billed_through=through,
            claims=claims,
        )
        found.append((one, accrued.cells))
    return found


def _shared_out(
    found: Sequence[tuple[UsageInterval, tuple[AccruedCell, ...]]],
    counted: Mapping[CellKey, Money],
) -> list[Member]:
    """Give each interval and job its part of every counted cell."""
    holders: dict[CellKey, list[tuple[int, AccruedCell]]] = {}
    for number, (_, cells) in enumerate(found):
        for cell in cells:
            if cell.key in counted:
                holders.setdefault(cell.key, []).append((number, cell))
    parts: dict[tuple[int, str], tuple[list[AccruedCell], list[Money]]] = {}
    for key, held in holders.items():
        weights = [max(0, cell.amount.nanos) for _, cell in held]
        times = [cell.running // MICROSECOND for _, cell in held]
        amounts = split(counted[key], weights) or split(counted[key], times)
        for (number, cell), amount in zip(held, amounts or (), strict=False):
            mine, sums = parts.setdefault((number, key.job), ([], []))
            mine.append(cell)
            sums.append(amount)
    return [
        Member(found[number][0], tuple(cells), total(sums, sums[0].currency))
        for (number, _), (cells, sums) in parts.items()
    ]
