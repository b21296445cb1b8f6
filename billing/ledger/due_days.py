"""Marks on stored days whose transfers no longer say what is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime

from sqlalchemy import select
from sqlmodel import Session

from billing.core.advance import Changes
from billing.core.periods import day_of, days_between
from billing.ledger.columns import table_of
from billing.ledger.database import upsert
from billing.ledger.rollups import within
from billing.ledger.tables import DayControlRow, UsageIntervalRow
from billing.ledger.tables_attribution import AttributionDayRow
from billing.ledger.usage_rows import chunks

_INTERVAL = table_of(UsageIntervalRow)
_CONTROL = table_of(DayControlRow)


def mark_due(
    session: Session, account: str, days: Collection[date], now: datetime
) -> None:
    """Make days of an account due, as far as they are stored."""
    if not days:
        return
    rows = session.connection().execute(
        select(_CONTROL.c.day)
        .where(_CONTROL.c.account == account, within(_CONTROL.c.day, days))
        .distinct()
    )
    for day in sorted(set(rows.scalars())):
        session.connection().execute(
            upsert(
                session,
                AttributionDayRow,
                # The mark of no configuration: it never was computed, or is out of date.
                {"account": account, "day": day, "rules": "", "due_since": now},
            )
        )


def due_of_changes(session: Session, changes: Changes, observed_at: datetime) -> None:
    """Make the whole days due about which a poll learned something.

    The day of the poll is not: its bill is read again anyway.
    """
    since: dict[str, date] = {}
    for interval in (*changes.opened, *changes.ended):
        _earlier(since, interval.resource_id, interval.started_at)
    for span in changes.tags_opened:
        _earlier(since, span.resource_id, span.valid_from)
    due_since(session, since, observed_at)


def _earlier(since: dict[str, date], resource_id: str, instant: datetime) -> None:
    day = day_of(instant)
    since[resource_id] = min(since.get(resource_id, day), day)


def due_since(session: Session, since: Mapping[str, date], now: datetime) -> None:
    """Make the days due since which something is known of resources, before today."""
    today = day_of(now)
    old = {one: day for one, day in since.items() if day < today}
    first: dict[str, date] = {}
    for some in chunks(sorted(old)):
        rows = session.connection().execute(
            select(_INTERVAL.c.resource_id, _INTERVAL.c.account)
            .where(_INTERVAL.c.resource_id.in_(some))
            .distinct()
        )
        for resource_id, account in rows.all():
            first[account] = min(first.get(account, today), old[resource_id])
    for account, day in sorted(first.items()):
        mark_due(session, account, list(days_between(day, today)), now)
