"""Durable switches and the memory of handled deliveries, in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlmodel import Session

from billing.core.periods import rfc3339
from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing, upsert
from bot.unit_of_work.tables import ControlFlagRow, DeliveryRow

_FLAG = table_of(ControlFlagRow)
_DELIVERY = table_of(DeliveryRow)
_PAUSED = "paused"
_NOTE = "note:"
#: Slack repeats an event up to an hour later, a signed request is valid for five
#: minutes; a day leaves room for clocks and outages.
DELIVERY_KEPT = timedelta(days=1)


class SqlControl:
    """Switches within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def paused(self) -> Mapping[str, str] | None:
        """Return ``by``, ``since``, ``reason`` while actions are paused; else None."""
        row = self._session.execute(
            select(_FLAG).where(_FLAG.c.name == _PAUSED)
        ).one_or_none()
        if row is None:
            return None
        return {"by": row.by, "since": rfc3339(row.since), "reason": row.reason}

    def pause(self, *, by: str, reason: str, now: datetime) -> None:
        """Stop every action of every replica; who paused first stays on record."""
        execute(
            self._session,
            insert_or_nothing(self._session, ControlFlagRow).values(
                name=_PAUSED, by=by, since=now, reason=reason
            ),
        )

    def resume(self, *, by: str, now: datetime) -> None:
        """Allow actions again; who did it belongs into the audit chain."""
        del by, now
        execute(self._session, delete(_FLAG).where(_FLAG.c.name == _PAUSED))

    def noted(self, name: str) -> str | None:
        """Return the text last noted under a name; None when there is none."""
        found: str | None = self._session.execute(
            select(_FLAG.c.reason).where(_FLAG.c.name == f"{_NOTE}{name}")
        ).scalar_one_or_none()
        return found

    def note(self, name: str, value: str, now: datetime) -> None:
        """Keep a text under a name in place of the one before."""
        row = {"name": f"{_NOTE}{name}", "by": "", "since": now, "reason": value}
        execute(self._session, upsert(self._session, ControlFlagRow, row))

    def seen(self, kind: str, key: str, now: datetime) -> bool:
        """Record a delivery; True when it was seen before.

        Deliveries older than a day are forgotten.
        """
        execute(
            self._session,
            delete(_DELIVERY).where(_DELIVERY.c.seen_at < now - DELIVERY_KEPT),
        )
        stored = self._session.execute(
            insert_or_nothing(self._session, DeliveryRow)
            .values(kind=kind, key=key, seen_at=now)
            .returning(_DELIVERY.c.kind)
        ).scalar_one_or_none()
        return stored is None
