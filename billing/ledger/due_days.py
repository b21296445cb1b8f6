"""Marks on stored days whose transfers no longer say what is known."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

from sqlalchemy import select
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import upsert
from billing.ledger.rollups import within
from billing.ledger.tables import DayControlRow
from billing.ledger.tables_attribution import AttributionDayRow

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
