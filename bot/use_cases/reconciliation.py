"""How well provisional cost met the bill: by job and day, and of the last 30 days.

Provisional cost is never stored (it is computed when asked), so it is computed again
here for days that are billed by now, from what ran and what it cost then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from billing.core.accrual import Accrued, accrue
from billing.core.attribution import TagKeys, normalise_job
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.completeness import is_complete
from billing.core.fleet import Lifecycle
from billing.core.gpus import family_of
from billing.core.money import USD, Money, total
from billing.core.past_shares import REACH, shares_then
from billing.core.periods import (
    DAY,
    HOUR,
    Period,
    day_of,
    days_between,
    month_start,
    start_of,
)
from billing.core.priced import price_keys
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.reconciliation import (
    BilledLine,
    JobDay,
    Known,
    Pool,
    Score,
    reconcile,
    score,
)
from billing.core.usage import ResourceKind, UsageInterval
from billing.ports import BillLedger
from billing.ports.reconciliation import BilledLines
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.pricing import OwnPrice, PriceBook, price_book
from bot.views.reconciliation import score_line

SCORED = 30 * DAY
_UNTAGGED = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"


class ReconciliationUnit(Protocol):
    """One transaction, as far as reconciliation needs it."""

    @property
    def ledger(self) -> BillLedger:
        """Return everything billing stores."""

    @property
    def reconciliation(self) -> BilledLines:
        """Return lines of the bill."""


class ReconciliationStore(Protocol):
    """Opens units of work."""

    def read(self) -> AbstractContextManager[ReconciliationUnit]:
        """Open a read-only unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """Provisional cost against the bill.

    Attributes:
        days: By day, then job; buckets that never accrue are in ``left_out``.
        judged / judged_on_demand: Errors of the window: all compute, and what is bought
            on demand without a commitment.
        recent: Errors of the last 30 days, whatever the window.
        left_out: Buckets of the bill that running time has no part in.
    """

    currency: str
    since: date
    until: date
    job: str
    days: tuple[JobDay, ...]
    judged: Score
    judged_on_demand: Score
    recent: Score
    left_out: tuple[tuple[str, Money], ...]


def reconciliation(
    unit: ReconciliationUnit,
    *,
    since: date | None,
    until: date | None,
    job: str = "",
    own: Sequence[OwnPrice],
    keys: TagKeys,
    now: datetime,
) -> Reconciliation:
    """Reconcile billed days of a window; by default of the current month.

    Raises:
        UnknownJobError: With the nearest names.
    """
    wanted = normalise_job(job)
    if wanted and unit.ledger.job_record(wanted) is None:
        raise UnknownJobError(job, unit.ledger.job_names())
    today = day_of(now)
    first = since or month_start(today)
    last = max(first, min(until or today + DAY, today + DAY))
    recent = today - SCORED
    found = _job_days(
        unit, min(first, recent), max(last, today), own=own, keys=keys, now=now
    )
    compared = [one for one in found if _is_compared(one) and wanted in {"", one.key}]
    inside = [one for one in compared if first <= one.day < last]
    return Reconciliation(
        currency=unit.ledger.currency() or USD,
        since=first,
        until=last,
        job=wanted,
        days=tuple(inside),
        judged=score(inside),
        judged_on_demand=score(inside, on_demand_only=True),
        recent=score(one for one in compared if one.day >= recent),
        left_out=() if wanted else _left_out(found, first, last),
    )


def recent_score(
    unit: ReconciliationUnit, *, own: Sequence[OwnPrice], keys: TagKeys, now: datetime
) -> Score:
    """Return the error of provisional compute over the last 30 days."""
    today = day_of(now)
    found = _job_days(unit, today - SCORED, today, own=own, keys=keys, now=now)
    return score(one for one in found if _is_compared(one))


def accuracy_notes(
    unit: ReconciliationUnit, *, own: Sequence[OwnPrice], keys: TagKeys, now: datetime
) -> tuple[str, ...]:
    """Say how far off provisional cost was lately; nothing when no day tells."""
    found = recent_score(unit, own=own, keys=keys, now=now)
    if not found.job_days:
        return ()
    return (f"Provisional compute of the last 30 days: {score_line(found)}.",)


def _is_compared(one: JobDay) -> bool:
    return one.key == _UNTAGGED or not one.key.startswith(BUCKET_PREFIX)


def _left_out(
    found: Iterable[JobDay], first: date, last: date
) -> tuple[tuple[str, Money], ...]:
    amounts: dict[str, list[Money]] = {}
    for one in found:
        if first <= one.day < last and not _is_compared(one):
            amounts.setdefault(one.key, []).append(one.billed)
    sums = {key: total(some, some[0].currency) for key, some in amounts.items()}
    return tuple(
        sorted(
            ((key, money) for key, money in sums.items() if money.nanos),
            key=lambda one: (-one[1].nanos, one[0]),
        )
    )


def _job_days(
    unit: ReconciliationUnit,
    since: date,
    until: date,
    *,
    own: Sequence[OwnPrice],
    keys: TagKeys,
    now: datetime,
) -> tuple[JobDay, ...]:
    ledger = unit.ledger
    lines = unit.reconciliation.billed_lines(since - REACH, until)
    billed = [line for line in lines if line.day >= since]
    stored = {(line.account, line.day) for line in billed}
    period = Period(start_of(since), min(start_of(until), now))
    # What is paid at purchase is spread over hours for show: no bill says it so.
    intervals = [one for one in ledger.intervals(period) if not _is_prepaid(one)]
    prices = prices_then(price_book(ledger, own), intervals, period)
    accrued = _accrued(ledger, intervals, prices, period, keys=keys, now=now)
    # A day that is not billed at all has nothing to be held against.
    cells = [one for one in accrued.cells if (one.key.account, one.key.day) in stored]
    known = Known(
        complete=_complete(ledger, stored),
        watched=_watched(ledger, stored),
        starts=_starts(intervals, period),
        doubtful=_doubtful(intervals, period),
        repriced=_repriced(prices, stored),
        unpriced={(one.job or _UNTAGGED, one.product) for one in accrued.unknown},
        shares=paid_then(ledger, own, lines, days_between(since, until)),
    )
    return reconcile(billed, cells, known)


def paid_then(
    ledger: BillLedger,
    own: Sequence[OwnPrice],
    lines: Sequence[BilledLine],
    days: Iterable[date],
) -> Mapping[tuple[str, str, date], Fraction]:
    """Return the share of public prices that answers of past days counted with.

    As in answers, what the configuration states has no share on top.
    """
    stated = {
        (line.account, family_of(line.shape))
        for line in lines
        if any(one.fits(_listed(line.shape, line.region)) for one in own)
    }
    series: dict[PriceKey, list[Price]] = {}
    if lines:
        first = min(line.day for line in lines)
        period = Period(
            start_of(first), start_of(max(line.day for line in lines) + DAY)
        )
        keys = {_listed(line.shape, line.region) for line in lines if line.shape}
        series = dict(_series(price_book(ledger, ()), sorted(keys), period))

    def price_of(shape: str, region: str, day: date) -> int | None:
        known = series.get(_listed(shape, region), [])
        at = start_of(day)
        held = [one for one in known if (one.effective_from or at) <= at]
        return held[-1].rate.nanos if held else None

    found = shares_then(lines, days, price_of)
    return {key: share for key, share in found.items() if key[:2] not in stated}


def _listed(shape: str, region: str) -> PriceKey:
    return PriceKey(region=region, product=shape)


def _is_prepaid(one: UsageInterval) -> bool:
    return one.lifecycle is Lifecycle.CAPACITY_BLOCK


def _accrued(
    ledger: BillLedger,
    intervals: Sequence[UsageInterval],
    prices: Mapping[PriceKey, list[Price]],
    period: Period,
    *,
    keys: TagKeys,
    now: datetime,
) -> Accrued:
    ids = {one.resource_id for one in intervals} | {one.parent_id for one in intervals}
    tags = ledger.tags(sorted(ids - {""}), keys=keys.job)
    claims = ledger.claims(intervals, tags, period)
    return accrue(intervals, tags, prices, period, now=now, keys=keys, claims=claims)


def prices_then(
    book: PriceBook, intervals: Iterable[UsageInterval], period: Period
) -> Mapping[PriceKey, list[Price]]:
    """Return the prices of intervals as they were known over a period.

    The first that is known holds for the time before it as well.
    """
    wanted = dict.fromkeys(key for one in intervals for key in price_keys(one))
    return _series(book, list(wanted), period)


def _series(
    book: PriceBook, wanted: Sequence[PriceKey], period: Period
) -> Mapping[PriceKey, list[Price]]:
    newest = book.list_prices(wanted)
    series: dict[PriceKey, list[Price]] = {}
    for key in wanted:
        history = [
            one
            for one in book.ledger.price_history(key, period)
            if one.rate.currency == book.currency
        ]
        known = history or ([newest[key]] if key in newest else [])
        series[key] = [
            replace(
                one,
                rate=book.yours(one),
                effective_from=None if not number else one.effective_from or one.as_of,
            )
            for number, one in enumerate(known)
        ]
    return {key: some for key, some in series.items() if some}


def _complete(
    ledger: BillLedger, stored: Iterable[tuple[str, date]]
) -> frozenset[tuple[str, date]]:
    through = ledger.billed_through()
    return frozenset(one for one in stored if is_complete(*one, through))


def _watched(
    ledger: BillLedger, stored: Iterable[tuple[str, date]]
) -> frozenset[tuple[str, date]]:
    began = ledger.watched_since()
    return frozenset(
        (account, day)
        for account, day in stored
        if account in began and began[account] <= start_of(day)
    )


def _doubtful(
    intervals: Iterable[UsageInterval], period: Period
) -> Mapping[Pool, Fraction]:
    """Return the hours between polls in which instances ended, where no one said when."""
    hours: dict[Pool, Fraction] = {}
    for one in intervals:
        if one.ended_at is None or one.ended_by is None or one.ended_at not in period:
            continue
        pool = _pool(one, one.ended_at)
        doubt = Fraction((one.ended_by - one.ended_at) / HOUR)
        hours[pool] = hours.get(pool, Fraction(0)) + doubt
    return hours


def _pool(one: UsageInterval, instant: datetime) -> Pool:
    is_spot = one.lifecycle is Lifecycle.SPOT
    return one.account, day_of(instant), one.region, one.shape, is_spot


def _starts(intervals: Iterable[UsageInterval], period: Period) -> Mapping[Pool, int]:
    return Counter(
        _pool(one, one.started_at)
        for one in intervals
        if one.kind is ResourceKind.INSTANCE and one.started_at in period
    )


def _repriced(
    prices: Mapping[PriceKey, Sequence[Price]], stored: Iterable[tuple[str, date]]
) -> frozenset[Pool]:
    """Return where a list price changed on the day, or on one beside it."""
    days: set[tuple[date, str, str]] = set()
    for key, series in prices.items():
        if key.purchase is Purchase.SPOT:
            continue
        for before, after in pairwise(series):
            if before.rate != after.rate and after.effective_from is not None:
                day = day_of(after.effective_from)
                near = days_between(day - DAY, day + 2 * DAY)
                days |= {(one, key.region, key.product) for one in near}
    accounts = {account for account, _ in stored}
    return frozenset(
        (account, day, region, product, False)
        for account in accounts
        for day, region, product in days
    )
