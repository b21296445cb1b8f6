"""Provisional cost, resource by resource: count x what x hours x price, and its source.

Each interval is accrued on its own by the rule that accrues them all, so that the lines
are the figure's own pieces and sum to it exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.accrual import AccruedCell
from billing.core.attribution import TagKeys
from billing.core.gpus import family_of
from billing.core.money import NANOS_PER_UNIT, Money, Rate, total
from billing.core.periods import DAY, HOUR
from billing.core.priced import price_keys, quantities
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.usage import ResourceKind, UsageInterval
from bot.use_cases.explain_figure import Figure, Subject
from bot.use_cases.explain_members import MICROSECOND, Member, Series, members_of
from bot.use_cases.parts import Gathered
from bot.use_cases.prepaid import is_prepaid
from bot.use_cases.pricing import PriceBook
from bot.views.answers import RunningLine
from bot.views.explain_values import RunningNow, RunningTime

#: Ids that one line names; more of them are counted.
RESOURCES_MAX = 50


def running_time(read: Gathered, figure: Figure, *, keys: TagKeys) -> list[RunningTime]:
    """Return what running time adds to a figure; alike resources are one line."""
    found = members_of(
        read,
        lambda cell: _fits(cell, figure),
        keys=keys,
        job=figure.name if figure.subject is Subject.JOB else "",
        account=figure.name if figure.subject is Subject.ACCOUNT else "",
    )
    alike: dict[tuple[object, ...], list[Member]] = {}
    for member in found.members:
        job = member.cells[0].key.job
        words = (job, *_words(member.interval, found.series))
        alike.setdefault(words, []).append(member)
    return [_line(members, found.series, read) for members in alike.values()]


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
    first, first_amount = members[0].interval, members[0].amount
    cells = [cell for member in members for cell in member.cells]
    days = {cell.key.day for cell in cells}
    running = sum((cell.running for cell in cells), timedelta())
    prices = [price for key in price_keys(first) for price in series.get(key, ())]
    newest = max(prices, key=lambda price: price.as_of, default=None)
    ids = sorted({member.interval.resource_id for member in members})
    rate = prices[0].rate if len(prices) == 1 else None
    amount = total((one.amount for one in members), first_amount.currency)
    share = _share(members)
    return RunningTime(
        amount=amount,
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
        share=share,
        basis=_basis(first, read) if share is not None or is_prepaid(first) else "",
    )


def _share(members: Sequence[Member]) -> Fraction | None:
    """Return which share of its price running time counts at; None for the whole."""
    currency = members[0].amount.currency
    counted = total((one.amount for one in members), currency)
    at_price = total((one.at_price for one in members), currency)
    if at_price.nanos == counted.nanos or not at_price.nanos:
        return None
    return Fraction(counted.nanos, at_price.nanos)


def _basis(one: UsageInterval, read: Gathered) -> str:
    """Return the words in which the answer says how such hours were priced."""
    of = f"{family_of(one.shape)} in {one.account}: "
    name = f"{one.reservation_id}: " if is_prepaid(one) else of
    found = (text for text in read.basis if text.startswith(name))
    return next(found, "").removeprefix(name)


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
        share = _share(members)
        of = "" if share is None else f" x {float(100 * share):.4g} %"
        return f"{text} x {rate_text(rate)}{of}"
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
