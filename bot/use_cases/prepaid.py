"""What hours really cost: capacity paid at purchase, and the share of list price paid.

By effective cost an hour in a Capacity Block or training plan costs its share of the
fee, on billed days too, since the bill knows no such hours; the line of the fee itself
is taken out where it can be told. By billed cost the fee stands on its day. Hours on
demand are priced at the share of the public price that the last bills show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from billing.core.accrual import Accrued, accrue
from billing.core.attribution import TagKeys
from billing.core.completeness import is_complete
from billing.core.fees import fee_days
from billing.core.fleet import Lifecycle
from billing.core.paid_shares import RECENT, as_paid, concerned
from billing.core.periods import Period, day_of
from billing.core.priced import price_keys
from billing.core.prices import PriceKey
from billing.core.resources import Reservation
from billing.core.usage import UsageInterval
from billing.ports import BillLedger
from billing.ports.charge_lines import ChargeSum
from bot.use_cases.pricing import PriceBook
from bot.use_cases.settle import lines_of_fee

_PREPAID = frozenset({Lifecycle.CAPACITY_BLOCK, Lifecycle.TRAINING_PLAN})
SPREAD = "paid at purchase: its fee is spread over its hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Accrued cost as it is really paid.

    Attributes:
        basis: How it was priced where that is not the public price, for people.
    """

    accrued: Accrued
    basis: tuple[str, ...] = ()


def is_prepaid(interval: UsageInterval) -> bool:
    """Tell whether its hours were paid at purchase."""
    return interval.lifecycle in _PREPAID


def merged(one: Accrued, other: Accrued) -> Accrued:
    """Return two accruals of different intervals as one."""
    if not (other.cells or other.unknown):
        return one
    return Accrued(
        cells=tuple(sorted((*one.cells, *other.cells), key=lambda cell: cell.key)),
        unknown=tuple(sorted((*one.unknown, *other.unknown))),
        free=tuple(sorted({*one.free, *other.free})),
    )


def at_paid_share(
    ledger: BillLedger, accrued: Accrued, prices: PriceBook, now: datetime
) -> Settled:
    """Price hours on demand at the share of list price that the last bills show.

    Prices that the configuration states are the organisation's own word and stay.
    """
    families = {
        found: cell.key
        for cell in accrued.cells
        if (found := concerned(cell)) is not None
    }
    stated = {
        found
        for found, key in families.items()
        if any(
            own.fits(PriceKey(region=key.region, product=key.shape))
            for own in prices.own
        )
    }
    wanted = families.keys() - stated
    if not wanted:
        return Settled(accrued=accrued)
    since = day_of(now - RECENT)
    known = {
        (one.account, one.family): one
        for one in ledger.paid_shares()
        if one.until > since and one.effective.currency == prices.currency
    }
    shares = {
        key: share
        for key in wanted
        if key in known and (share := known[key].share) is not None
    }
    basis = [
        known[key].text
        if key in shares
        else f"{key[1]} in {key[0]}: list price, as no recent bill tells what is paid"
        for key in sorted(wanted)
        if shares.get(key) != 1
    ]
    cells = as_paid(accrued.cells, shares)
    changed = Accrued(cells=tuple(cells), unknown=accrued.unknown, free=accrued.free)
    return Settled(accrued=changed, basis=tuple(basis))


def accrue_prepaid(
    ledger: BillLedger,
    unbilled: Sequence[UsageInterval],
    period: Period,
    *,
    job: str,
    account: str,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Settled:
    """Spread fees over the hours of a period, billed days included."""
    held = [one for one in ledger.reservations() if one.is_prepaid]
    intervals = [one for one in unbilled if is_prepaid(one)]
    if held:
        intervals = [
            one
            for one in ledger.intervals(period, job=job or None)
            if is_prepaid(one) and account in {"", one.account}
        ]
    if not intervals:
        return Settled(accrued=Accrued())
    ids = {one.resource_id for one in intervals}
    tags = ledger.tags(sorted(ids), keys=keys.job)
    accrued = accrue(
        intervals,
        tags,
        prices.over({key for one in intervals for key in price_keys(one)}, period),
        period,
        now=now,
        keys=keys,
        claims=ledger.claims(intervals, tags, period),
    )
    names = sorted({one.reservation_id for one in intervals if one.reservation_id})
    basis = [f"{name}: {SPREAD}" for name in names] if accrued.cells else []
    basis += _uncertain(ledger, held, period)
    return Settled(accrued=accrued, basis=tuple(basis))


def fees_taken_out(
    ledger: BillLedger,
    since: date,
    until: date,
    *,
    through: Mapping[str, datetime],
    bill_days: frozenset[tuple[str, date]],
    key: str,
    account: str,
) -> list[tuple[ChargeSum, bool]]:
    """Return lines of the bill that are spread over hours, and whether each is open.

    Only lines that an answer about a key and account counts; "" is all of them.
    """
    held = [one for one in ledger.reservations() if one.is_prepaid]
    found = []
    for one in held:
        if one.rate is None or not _may_be_billed(one, since, until):
            continue
        for line in lines_of_fee(ledger, one, held):
            is_open = not is_complete(line.account, line.day, through)
            is_counted = not is_open or (line.account, line.day) in bill_days
            is_asked = account in {"", line.account} and key in {"", line.key}
            if since <= line.day < until and is_counted and is_asked:
                found.append((line, is_open))
    return found


def names_of(line: ChargeSum) -> dict[str, str]:
    """Return a line's key in every dimension but team."""
    return {
        "job": line.key,
        "category": line.cost_category.value,
        "account": line.account,
        "region": line.region,
        "purchase": line.pricing.value,
        "service": line.service,
    }


def _uncertain(
    ledger: BillLedger, held: list[Reservation], period: Period
) -> list[str]:
    """Name fees of the period whose line in the bill cannot be told."""
    since, until = day_of(period.start), day_of(period.end)
    return [
        f"{one.reservation_id}: the line of its fee in the bill was not found; "
        "totals of its account may hold it twice"
        for one in held
        if one.rate is not None
        and _may_be_billed(one, since, until)
        and not lines_of_fee(ledger, one, held)
    ]


def _may_be_billed(held: Reservation, since: date, until: date) -> bool:
    days = fee_days(held)
    return days is not None and days[0] < until and since < days[1]
