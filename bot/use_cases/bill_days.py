"""Open days for which the bill so far speaks, because the inventory did not watch them.

Days that began before the inventory did know only what still ran when it did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from billing.core.charges import Source
from billing.core.completeness import gpu_hours_by_day, is_complete
from billing.core.periods import DAY, Period, day_of, start_of
from billing.ports import BillLedger, Freshness


def days_of(period: Period) -> tuple[date, date]:
    """Return the billing days of a period, half-open."""
    last = day_of(period.end)
    until = last if period.end == start_of(last) else last + DAY
    return day_of(period.start), until


def bill_days(
    ledger: BillLedger,
    freshness: Sequence[Freshness],
    period: Period,
    through: Mapping[str, datetime],
    now: datetime,
) -> frozenset[tuple[str, date]]:
    """Return open days for which the bill so far speaks, because nobody watched.

    Days that began before the inventory did know only what still ran when it did; the
    side that saw more instance hours counts, for the whole account, never both.
    """
    watched = {
        one.account: one.first_as_of
        for one in freshness
        if one.source is Source.INVENTORY
    }
    # Where the inventory began before the bill's open part there is nothing to ask.
    doubtful = {
        (one.source, one.account)
        for one in freshness
        if one.source in {Source.COST_EXPLORER, Source.EXPORTS}
        and not _is_watched(
            watched.get(one.account), through.get(one.account, period.start)
        )
    }
    open_days: dict[str, list[date]] = {}
    for source in sorted({source for source, _ in doubtful}):
        for stored in ledger.stored_days(source, *days_of(period)):
            if (
                (source, stored.account) in doubtful
                and not _is_watched(watched.get(stored.account), start_of(stored.day))
                and not is_complete(stored.account, stored.day, through)
            ):
                open_days.setdefault(stored.account, []).append(stored.day)
    return frozenset(
        (account, day)
        for account, days in open_days.items()
        for day in _better_billed(ledger, account, days, now)
    )


def _is_watched(began: datetime | None, instant: datetime) -> bool:
    return began is not None and began <= instant


def _better_billed(
    ledger: BillLedger, account: str, days: Sequence[date], now: datetime
) -> list[date]:
    since, until = min(days), max(days) + DAY
    span = Period(start_of(since), start_of(until))
    known = [one for one in ledger.intervals(span) if one.account == account]
    seen = gpu_hours_by_day(known, since, until, now)
    billed = ledger.billed_instance_hours(account, since, until)
    # A day without any cost yet says nothing: AWS bills late. Credits stand apart, so
    # that one which takes a day's cost to nothing does not hide it.
    costly = {
        cell.day
        for cell in ledger.cells("", since, until, account=account)
        if cell.billed.nanos or cell.effective.nanos
    }
    return [
        day
        for day in days
        if day in costly and billed.get(day, 0.0) >= seen.get(day, 0.0)
    ]
