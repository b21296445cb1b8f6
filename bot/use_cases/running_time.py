"""Running time that may be provisional in an answer, and what it accrues.

Knows no dimension and no view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from billing.core.accrual import Accrued, accrue, billed_end
from billing.core.attribution import TagKeys
from billing.core.charges import Source
from billing.core.periods import Period, day_of, days_between
from billing.core.priced import count_price_keys
from billing.core.usage import TagSpan, UsageInterval
from billing.ports import BillLedger, Freshness
from bot.use_cases.bill_days import days_of
from bot.use_cases.prepaid import is_prepaid
from bot.use_cases.pricing import PriceBook


def tags_of(
    ledger: BillLedger, intervals: Sequence[UsageInterval], keys: TagKeys
) -> Sequence[TagSpan]:
    """Return the job tags of what ran and of its parents."""
    ids = {one.resource_id for one in intervals}
    ids.update(one.parent_id for one in intervals if one.parent_id)
    return ledger.tags(sorted(ids), keys=keys.job)


def jobs_in(*every: Accrued) -> set[str]:
    """Return the jobs that anything was accrued for."""
    jobs = {cell.key.job for one in every for cell in one.cells}
    return (jobs | {lack.job for one in every for lack in one.unknown}) - {""}


def unbilled_part(
    freshness: Sequence[Freshness], period: Period, through: Mapping[str, datetime]
) -> Period:
    """Return the part of a period that may be provisional in some account.

    Running time that is billed everywhere is not even read: a job of a year has
    thousands of intervals.
    """
    watched = {
        one.account
        for one in freshness
        if one.source is Source.INVENTORY and one.account
    }
    since = min(
        (through.get(one, period.start) for one in watched), default=period.start
    )
    return Period(min(max(since, period.start), period.end), period.end)


def accrue_open(
    ledger: BillLedger,
    counted: Sequence[UsageInterval],
    tags: Sequence[TagSpan],
    period: Period,
    *,
    through: Mapping[str, datetime],
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Accrued:
    """Accrue what is not billed yet."""
    return accrue(
        counted,
        tags,
        prices.over(count_price_keys(counted), period),
        period,
        now=now,
        keys=keys,
        billed_through=through,
        claims=ledger.claims(counted, tags, _open(counted, period, through)),
    )


def _open(
    counted: Sequence[UsageInterval], period: Period, through: Mapping[str, datetime]
) -> Period:
    """Return the part of a period from which on any interval counts by its time."""
    since = min(
        (through.get(one.account, period.start) for one in counted),
        default=period.start,
    )
    return Period(min(max(since, period.start), period.end), period.end)


def open_time(
    intervals: Sequence[UsageInterval],
    period: Period,
    bill_days: frozenset[tuple[str, date]],
    now: datetime,
) -> list[UsageInterval]:
    """Return what is left to running time by the bill, but for what is prepaid."""
    return [
        one
        for one in intervals
        if not is_prepaid(one) and _counts(one, period, bill_days, now)
    ]


def _counts(
    interval: UsageInterval,
    period: Period,
    bill_days: frozenset[tuple[str, date]],
    now: datetime,
) -> bool:
    """Tell whether any day of an interval is left to running time by the bill."""
    if not bill_days:
        return True
    shared = period.overlap(Period(interval.started_at, billed_end(interval, now)))
    # An instant alone may still cost the minimum of 60 seconds.
    days = days_between(*days_of(shared)) if shared else (day_of(interval.started_at),)
    return any((interval.account, day) not in bill_days for day in days)


def of_question(
    accrued: Accrued,
    *,
    job: str,
    team: str,
    teams: Mapping[str, str],
    bill_days: frozenset[tuple[str, date]] = frozenset(),
) -> Accrued:
    """Keep what the filter asks for, without the days the bill stands in for."""

    def fits(name: str) -> bool:
        if job:
            return name == job
        return not team or (name != "" and teams.get(name) == team)

    cells = tuple(
        cell
        for cell in accrued.cells
        if fits(cell.key.job) and (cell.key.account, cell.key.day) not in bill_days
    )
    unknown = tuple(one for one in accrued.unknown if fits(one.job))
    return Accrued(cells=cells, unknown=unknown, free=accrued.free)
