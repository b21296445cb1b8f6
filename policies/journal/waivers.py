"""Waivers in SQL; a decision is a compare-and-set. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select, update
from sqlmodel import Session

from billing.ledger.codec import decode, encode
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from policies.core.waivers import Waiver, WaiverState
from policies.journal.tables_actions import WaiverRow

_WAIVER = table_of(WaiverRow)


class SqlWaivers:
    """Waivers within one session."""

    _session: Session

    def add_waiver(self, waiver: Waiver) -> None:
        """Store a waiver somebody asked for."""
        self._session.add(
            WaiverRow(
                waiver_id=waiver.waiver_id,
                state=waiver.state.value,
                until=waiver.until,
                data=encode(waiver),
            )
        )
        self._session.flush()

    def waiver(self, waiver_id: str) -> Waiver | None:
        """Return one waiver."""
        row = self._session.execute(
            select(WaiverRow).where(_WAIVER.c.waiver_id == waiver_id)
        ).scalar_one_or_none()
        return None if row is None else _waiver(row)

    def waivers(self, *, since: datetime | None = None) -> Sequence[Waiver]:
        """Return waivers that end after an instant (None: all), by end, then id."""
        query = select(WaiverRow).order_by(_WAIVER.c.until, _WAIVER.c.waiver_id)
        if since is not None:
            query = query.where(_WAIVER.c.until > since)
        return [_waiver(row) for row in self._session.execute(query).scalars()]

    def decide_waiver(
        self, waiver: Waiver, state: WaiverState, *, by: str, now: datetime
    ) -> bool:
        """Move a waiver on from the state it was read in; False when it lost."""
        values = {"state": state.value, "decided_by": by, "decided_at": now}
        moved = execute(
            self._session,
            update(_WAIVER)
            .where(
                _WAIVER.c.waiver_id == waiver.waiver_id,
                _WAIVER.c.state == waiver.state.value,
            )
            .values(**values),
        )
        return moved.rowcount == 1


def _waiver(row: WaiverRow) -> Waiver:
    return replace(
        decode(Waiver, row.data),
        state=WaiverState(row.state),
        decided_at=row.decided_at,
        decided_by=row.decided_by,
    )
