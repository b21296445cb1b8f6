"""Move an account's billed-through forward after its days were read.

Gathers what `billing.core.completeness` needs from the ledger, and writes what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from billing.core.charges import Source
from billing.core.completeness import billed_through, gpu_hours_by_day
from billing.core.periods import DAY, Period, day_of, days_between, start_of
from billing.ports import BillLedger, LedgerStore


def advance_billed_through(
    store: LedgerStore,
    accounts: Iterable[str],
    *,
    since: date,
    until: date,
    now: datetime,
) -> None:
    """Record how far each account's bill is complete; it never moves back."""
    with store.write() as unit:
        known = unit.ledger.billed_through()
        for account in accounts:
            first = day_of(known[account]) if account in known else since
            through = _through(unit.ledger, account, first, until, now=now)
            if through is not None:
                unit.ledger.set_billed_through(account, through, now)


def _through(
    ledger: BillLedger, account: str, since: date, until: date, *, now: datetime
) -> datetime | None:
    if since >= until:
        return None
    stored = [
        day
        for source in (Source.COST_EXPLORER, Source.EXPORTS)
        for day in ledger.stored_days(source, since, until)
    ]
    period = Period(start_of(since), start_of(until))
    intervals = [one for one in ledger.intervals(period) if one.account == account]
    return billed_through(
        [day for day in stored if day.account == account],
        seen_hours=gpu_hours_by_day(intervals, since, until, now),
        covered_days=_covered(ledger, account, since, until),
        billed_hours=ledger.billed_instance_hours(account, since, until),
        now=now,
    )


def _covered(
    ledger: BillLedger, account: str, since: date, until: date
) -> frozenset[date]:
    """Return the days that the inventory watched from start to end."""
    watched = ledger.watched_since().get(account)
    last = max(
        (
            one.as_of
            for one in ledger.freshness()
            if one.source is Source.INVENTORY and one.account == account and one.as_of
        ),
        default=None,
    )
    if watched is None or last is None:
        return frozenset()
    return frozenset(
        day
        for day in days_between(since, until)
        if watched <= start_of(day) and start_of(day + DAY) <= last
    )
