"""The memory of handled events in SQL. Knows no queue."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from billing.core.event_messages import HeardEvent
from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing
from billing.ledger.tables_events import EventCountRow, HeardEventRow

_EVENT = table_of(HeardEventRow)
_COUNT = table_of(EventCountRow)
#: A queue keeps a message 14 days at most; later an id cannot come again.
KEPT = timedelta(days=30)


class SqlEvents:
    """Handled events within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def known(self, event_ids: Collection[str]) -> frozenset[str]:
        """Return which of these were handled before."""
        rows = self._session.execute(
            select(_EVENT.c.event_id).where(_EVENT.c.event_id.in_(sorted(event_ids)))
        )
        return frozenset(rows.scalars())

    def record(self, events: Sequence[HeardEvent], now: datetime) -> frozenset[str]:
        """Remember events as handled; return the ids that were new."""
        statement: Any = insert_or_nothing(self._session, HeardEventRow)
        new: set[str] = set()
        for event in events:
            row = self._session.execute(
                statement.values(**_values(event, now)).returning(_EVENT.c.event_id)
            ).scalar_one_or_none()
            new |= {row} if row is not None else set()
        execute(self._session, delete(_EVENT).where(_EVENT.c.heard_at < now - KEPT))
        return frozenset(new)

    def count(self, counts: Mapping[str, int], day: date) -> None:
        """Add to the numbers of messages of a UTC day, by what became of them."""
        is_sqlite = self._session.get_bind().dialect.name == "sqlite"
        dialect = sqlite if is_sqlite else postgresql
        for outcome, messages in sorted(counts.items()):
            statement = dialect.insert(_COUNT).values(
                day=day, outcome=outcome, messages=messages
            )
            added = _COUNT.c.messages + statement.excluded.messages
            execute(
                self._session,
                statement.on_conflict_do_update(
                    index_elements=["day", "outcome"], set_={"messages": added}
                ),
            )

    def counted(self, day: date) -> Mapping[str, int]:
        """Return the numbers of messages of a UTC day."""
        rows = self._session.execute(
            select(_COUNT.c.outcome, _COUNT.c.messages).where(_COUNT.c.day == day)
        )
        return {row.outcome: row.messages for row in rows}


def _values(event: HeardEvent, now: datetime) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "kind": event.kind.value,
        "account": event.account,
        "region": event.region,
        "resource_id": event.resource_id,
        "state": event.state,
        "at": event.at,
        "heard_at": now,
    }
