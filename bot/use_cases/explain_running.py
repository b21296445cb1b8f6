"""Provisional cost, resource by resource: count x what x hours x price, and its source.

Each interval is accrued on its own by the rule that accrues them all, so that the lines
are the figure's own pieces and sum to it exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.accrual import AccruedCell, accrue
from billing.core.attribution import TagKeys
from billing.core.money import NANOS_PER_UNIT, Money, Rate, total
from billing.core.periods import DAY, HOUR
from billing.core.priced import price_keys, quantities
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from bot.use_cases.explain_figure import Figure
from bot.use_cases.parts import Gathered
from bot.use_cases.pricing import PriceBook
from bot.views.answers import RunningLine
from bot.views.explain_values import RunningNow, RunningTime

#: Ids that one line names; more of them are counted.
RESOURCES_MAX = 50
MICROSECOND = timedelta(microseconds=1)

Series = Mapping[PriceKey, Sequence[Price]]


@dataclass(frozen=True, slots=True)
class Member:
    """One interval's part of the figure."""

    interval: UsageInterval
    cells: tuple[AccruedCell, ...]

    @property
    def running(self) -> timedelta:
        """Return the time that is paid for, the minimum included."""
        return sum((cell.running for cell in self.cells), timedelta())

    @property
    def amount(self) -> Money:
        """Return what that time costs."""
        currency = self.cells[0].amount.currency
        return total((cell.amount for cell in self.cells), currency)


def running_time(read: Gathered, figure: Figure, *, keys: TagKeys) -> list[RunningTime]:
    """Return what running time adds to a figure; alike resources are one line."""
    counted = {cell.key for cell in read.accrued.cells if _fits(cell, figure)}
    if not counted:
        return []
    wanted = {key for one in read.intervals for key in price_keys(one)}
    series = read.prices.over(wanted, read.period)
    spans: dict[str, list[TagSpan]] = {}
    for span in read.tags:
        spans.setdefault(span.resource_id, []).append(span)
    claims = read.ledger.claims(read.intervals, read.tags, read.period)
    alike: dict[tuple[object, ...], list[Member]] = {}
    for one in read.intervals:
        accrued = accrue(
            [one],
            [*spans.get(one.resource_id, ()), *spans.get(one.parent_id, ())],
            series,
            read.period,
            now=read.now,
            keys=keys,
            billed_through=read.through,
            claims=claims,
        )
        for job in {cell.key.job for cell in accrued.cells if cell.key in counted}:
            cells = tuple(
                cell
                for cell in accrued.cells
                if cell.key in counted and cell.key.job == job
            )
            alike.setdefault((job, *_words(one, series)), []).append(Member(one, cells))
    return [_line(members, series, read) for members in alike.values()]


def _fits(cell: AccruedCell, figure: Figure) -> bool:
    return figure.category is None or cell.key.cost_category is figure.category


def _words(one: UsageInterval, series: Series) -> tuple[object, ...]:
    rates = tuple(
        (price.rate, price.source)
        for key in price_keys(one)
        for price in series.get(key, ())
    )
    size = (one.size_gib, one.iops, one.throughput_mibps)
    return (one.account, one.region, one.shape, one.lifecycle, size, rates)


def _line(members: Sequence[Member], series: Series, read: Gathered) -> RunningTime:
    first = members[0].interval
    cells = [cell for member in members for cell in member.cells]
    days = {cell.key.day for cell in cells}
    running = sum((cell.running for cell in cells), timedelta())
    prices = [price for key in price_keys(first) for price in series.get(key, ())]
    newest = max(prices, key=lambda price: price.as_of, default=None)
    ids = sorted({member.interval.resource_id for member in members})
    rate = prices[0].rate if len(prices) == 1 else None
    return RunningTime(
        amount=total((cell.amount for cell in cells), cells[0].amount.currency),
        what=what_of(first),
        count=len(ids),
        running=running,
        formula=formula_of(members, prices),
        account=first.account,
        region=first.region,
        purchase=first.lifecycle.value,
        category=cells[0].key.cost_category.value,
        rate=rate,
        list_rate=_list_rate(read.prices, prices),
        price_source=newest.source if newest else "",
        price_as_of=newest.as_of if newest else None,
        prices=len(prices),
        since=min(days),
        until=max(days) + DAY,
        days=len(days),
        resources=tuple(ids[:RESOURCES_MAX]),
        shape=first.shape,
        job=cells[0].key.job,
    )


def what_of(one: UsageInterval) -> str:
    """Return what a resource is, in words."""
    if one.kind is ResourceKind.INSTANCE or not one.size_gib:
        return one.shape if one.units == 1 else f"{one.units} x {one.shape}"
    extra = [f"{one.iops} IOPS" if one.iops else "", f"{one.throughput_mibps} MiB/s"]
    more = ", ".join(text for text in extra if text and one.throughput_mibps)
    return f"{one.size_gib:,} GiB {one.shape}" + (f" ({more})" if more else "")


def formula_of(members: Sequence[Member], prices: Sequence[Price]) -> str:
    """Write ``3 x p5.48xlarge x 12.5 h x $55.04/h``, or with the average price."""
    first = members[0].interval
    held: dict[str, timedelta] = {}
    for member in members:
        known = held.get(member.interval.resource_id, timedelta())
        held[member.interval.resource_id] = known + member.running
    hours = Fraction(
        sum(held.values(), timedelta()) // MICROSECOND, HOUR // MICROSECOND
    )
    uneven = " each on average" if len(set(held.values())) > 1 else ""
    text = f"{len(held)} x {what_of(first)} x {hours_text(hours / len(held))}{uneven}"
    units = quantities(first)
    if len(prices) == 1 and len(units) == 1:
        rate = Rate(prices[0].rate.nanos * units[0][1], prices[0].rate.currency)
        return f"{text} x {rate_text(rate)}"
    if not hours:
        return text
    amount = total(member.amount for member in members)
    mean = Rate(round(Fraction(amount.nanos) / hours), amount.currency)
    return f"{text} x {rate_text(mean)} on average"


def hours_text(hours: Fraction) -> str:
    """Return hours to a hundredth, without trailing zeros.

    >>> hours_text(Fraction(25, 2)), hours_text(Fraction(81))
    ('12.5 h', '81 h')
    """
    return f"{float(hours):,.2f}".rstrip("0").rstrip(".") + " h"


def rate_text(rate: Rate) -> str:
    """Return a rate with all its digits where cents do not say it.

    >>> rate_text(Rate.of("55.04")), rate_text(Rate.of("0.023"))
    ('$55.04/h', '$0.023/h')
    """
    text = str(rate)
    if rate.nanos % 10_000_000 and abs(rate.nanos) < NANOS_PER_UNIT:
        plain = Money(rate.nanos, rate.currency).text()
        symbol = "".join(char for char in text if not char.isdigit())[:1]
        return f"{symbol}{plain}/h"
    return text


def _list_rate(prices: PriceBook, used: Sequence[Price]) -> Rate | None:
    if len(used) != 1:
        return None
    known = prices.list_price(used[0].key)
    if known is None or known.rate == used[0].rate:
        return None
    return known.rate


def running_now(
    lines: Iterable[RunningLine], prices: PriceBook, *, is_burn: bool
) -> list[RunningNow]:
    """Return what each kind of running instance adds to a burn rate, or to a day."""
    found = []
    for line in lines:
        if line.rate is None:
            continue
        source, as_of = _source(line, prices)
        hour = Money(line.rate.nanos, line.rate.currency)
        each = Rate(round(Fraction(line.rate.nanos, line.count)), line.rate.currency)
        formula = f"{line.count} x {line.instance_type} x {rate_text(each)}"
        found.append(
            RunningNow(
                amount=hour if is_burn else line.rate.cost_of(DAY),
                formula=formula if is_burn else f"{formula} x 24 h",
                what=line.instance_type,
                count=line.count,
                region=line.region,
                purchase=line.lifecycle,
                rate=each,
                price_source=source,
                price_as_of=as_of,
            )
        )
    return found


def _source(line: RunningLine, prices: PriceBook) -> tuple[str, datetime | None]:
    if line.lifecycle != Purchase.ON_DEMAND:
        return "", None
    known = prices.list_price(PriceKey(region=line.region, product=line.instance_type))
    return (known.source, known.as_of) if known else ("", None)
