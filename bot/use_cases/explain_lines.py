"""Lines of the bill, and what rules moved, behind one figure; days summed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from billing.core.charges import Metric
from billing.core.completeness import is_complete
from billing.core.money import NANOS_PER_UNIT, Money
from billing.core.periods import DAY
from billing.core.transfers import Transfer
from billing.ports.charge_lines import ChargeFilter, ChargeSum
from bot.use_cases.explain_figure import Figure, Subject, key_of
from bot.use_cases.parts import Gathered, NoListCostError
from bot.use_cases.prepaid import fees_taken_out, names_of
from bot.views.explain_values import HOURS, ChargeLine, TransferLine

#: Subjects that a line of the bill is told by.
_OF_CHARGE = frozenset({Subject.REGION, Subject.SERVICE, Subject.PURCHASE})
#: Digits of a price per unit that are shown; it is a quotient, for people.
_PRICE_DIGITS = 6


def filter_of(figure: Figure) -> ChargeFilter:
    """Return which charges a figure holds."""
    names = {
        Subject.TEAM: "team",
        Subject.ACCOUNT: "account",
        Subject.REGION: "region",
        Subject.SERVICE: "service",
        Subject.PURCHASE: "purchase",
    }
    field = names.get(figure.subject)
    return ChargeFilter(
        key=key_of(figure),
        category=figure.category.value if figure.category else "",
        **({field: figure.name} if field else {}),
    )


def charge_lines(read: Gathered, figure: Figure) -> list[ChargeLine]:
    """Return the charges that count for a figure, alike ones as one line."""
    since, until = read.days
    found = read.ledger.charge_sums(since, until, filter_of(figure))
    alike: dict[tuple[Any, ...], list[ChargeSum]] = {}
    for one in found:
        complete = is_complete(one.account, one.day, read.through)
        if complete or (one.account, one.day) in read.bill_days:
            alike.setdefault((not complete, *_words(one)), []).append(one)
    return [
        _line(members, figure.metric, is_open=bool(words[0]))
        for words, members in alike.items()
    ]


def _words(one: ChargeSum) -> tuple[Any, ...]:
    return (
        *(one.key, one.usage_type, one.account, one.region, one.service, one.source),
        *(one.record_type, one.category, one.pricing, one.cost_category, one.unit),
    )


def _line(members: list[ChargeSum], metric: Metric, *, is_open: bool) -> ChargeLine:
    first = members[0]
    amount = _sum(_amount(one, metric) for one in members)
    quantity = _all(one.quantity for one in members)
    days = {one.day for one in members}
    return ChargeLine(
        amount=amount,
        key=first.key,
        usage_type=first.usage_type,
        account=first.account,
        region=first.region,
        service=first.service,
        record_type=first.record_type,
        purchase=first.pricing.value,
        category=first.cost_category.value,
        source=first.source.value,
        since=min(days),
        until=max(days) + DAY,
        days=len(days),
        charges=sum(one.charges for one in members),
        quantity=quantity,
        unit=first.unit,
        unit_price=_per_unit(amount, quantity),
        billed=_sum(one.billed for one in members),
        effective=_sum(one.effective for one in members),
        list_cost=_list_cost(members),
        is_open=is_open,
        is_credit=first.is_credit,
    )


def _amount(one: ChargeSum, metric: Metric) -> Money:
    if metric is Metric.BILLED:
        return one.billed
    if metric is Metric.EFFECTIVE:
        return one.effective
    if one.list_cost is None:
        raise NoListCostError(
            f"the bill of {one.day} that is stored does not tell list cost"
        )
    return one.list_cost


def _sum(amounts: Iterable[Money]) -> Money:
    first, *others = amounts
    for one in others:
        first += one
    return first


def _all(quantities: Iterable[Decimal | None]) -> Decimal | None:
    """Sum quantities; one that is not known leaves the sum unknown."""
    found = [*quantities]
    known = [one for one in found if one is not None]
    return sum(known, Decimal(0)) if len(known) == len(found) else None


def _list_cost(members: list[ChargeSum]) -> Money | None:
    known = [one.list_cost for one in members if one.list_cost is not None]
    return _sum(known) if len(known) == len(members) else None


def _per_unit(amount: Money, quantity: Decimal | None) -> Decimal | None:
    if not quantity:
        return None
    price = Decimal(amount.nanos) / NANOS_PER_UNIT / quantity
    return round(price, _PRICE_DIGITS)


def transfer_lines(read: Gathered, figure: Figure) -> list[TransferLine]:
    """Return what rules moved to and from a figure's subject, alike ones as one line.

    Within an account what one key gets another loses: only a job, a bucket or a team
    has transfers that are left.
    """
    is_mine = _mine(read, figure)
    if is_mine is None:
        return []
    since, until = read.days
    found = read.ledger.transfers(since, until, key=key_of(figure) or None)
    alike: dict[tuple[Any, ...], list[tuple[Transfer, Money]]] = {}
    for one in found:
        complete = is_complete(one.account, one.day, read.through)
        counts = complete or (one.account, one.day) in read.bill_days
        is_to, is_from = is_mine(one.to_key), is_mine(one.from_key)
        fits = figure.category in {None, one.cost_category}
        if not (counts and fits) or is_to is is_from:
            continue
        amount = _moved(one, figure.metric)
        other, amount = (one.from_key, amount) if is_to else (one.to_key, -amount)
        words = (
            *(is_to, not complete, other, one.rule, one.basis, one.evidence),
            *(one.usage_type, one.account, one.region, one.cost_category),
        )
        alike.setdefault(words, []).append((one, amount))
    return [_transfer(words, members) for words, members in alike.items()]


def fee_lines(read: Gathered, figure: Figure) -> list[TransferLine]:
    """Return fees paid at purchase, taken off their day to be spread over hours."""
    if figure.metric is not Metric.EFFECTIVE:
        return []
    account = figure.name if figure.subject is Subject.ACCOUNT else ""
    found = fees_taken_out(
        read.ledger, *read.days, through=read.through, bill_days=read.bill_days,
        key=key_of(figure), account=account,
    )  # fmt: skip
    is_mine = _mine(read, figure) if figure.subject is Subject.TEAM else None
    lines = []
    for one, is_open in found:
        names = names_of(one)
        told = names.get(figure.subject.value, figure.name)
        fits = figure.category in {None, one.cost_category} and (
            figure.subject not in _OF_CHARGE or told == figure.name
        )
        if fits and (is_mine is None or is_mine(one.key)):
            lines.append(_fee(one, is_open=is_open))
    return lines


def _fee(one: ChargeSum, *, is_open: bool) -> TransferLine:
    return TransferLine(
        amount=-one.effective,
        other=HOURS,
        rule="prepaid",
        basis="exact",
        evidence="paid at purchase, spread over its hours",
        usage_type=one.usage_type,
        account=one.account,
        region=one.region,
        category=one.cost_category.value,
        since=one.day,
        until=one.day + DAY,
        days=1,
        is_open=is_open,
    )


def _mine(read: Gathered, figure: Figure) -> Callable[[str], bool] | None:
    """Return what tells the keys of a figure's subject; None where nothing is moved."""
    if figure.subject is Subject.TEAM:
        members = {
            one.job for one in read.ledger.job_records() if one.team == figure.name
        }
        return members.__contains__
    key = key_of(figure)
    return key.__eq__ if key else None


def _moved(one: Transfer, metric: Metric) -> Money:
    if metric is Metric.BILLED:
        return one.billed
    if metric is Metric.EFFECTIVE:
        return one.effective
    if one.list_cost is None:
        raise NoListCostError(f"the bill of {one.day} does not tell list cost")
    return one.list_cost


def _transfer(
    words: tuple[Any, ...], members: Sequence[tuple[Transfer, Money]]
) -> TransferLine:
    _, is_open, other, *_ = words
    first = members[0][0]
    days = {one.day for one, _ in members}
    return TransferLine(
        amount=_sum(amount for _, amount in members),
        other=other,
        rule=first.rule.value,
        basis=first.basis.value,
        evidence=first.evidence,
        usage_type=first.usage_type,
        account=first.account,
        region=first.region,
        category=str(first.cost_category),
        since=min(days),
        until=max(days) + DAY,
        days=len(days),
        is_open=is_open,
    )
