"""Slots of schedules in SQL: a row is the claim, whichever replica inserts it first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing
from bot.unit_of_work.tables import ScheduleSlotRow

_SLOT = table_of(ScheduleSlotRow)


class SqlSlots:
    """Slots within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def last_done(self, schedule: str) -> datetime | None:
        """Return the newest slot of a schedule that was finished, well or not."""
        found: datetime | None = self._session.execute(
            select(func.max(_SLOT.c.slot)).where(
                _SLOT.c.schedule == schedule, _SLOT.c.finished_at.is_not(None)
            )
        ).scalar_one()
        return found

    def claim(
        self,
        schedule: str,
        slot: datetime,
        *,
        owner: str,
        now: datetime,
        lease_s: int,
    ) -> bool:
        """Claim a (schedule, slot); True for one owner only, again after a lapsed lease."""
        lease: dict[str, Any] = {
            "owner": owner,
            "claimed_at": now,
            "lease_until": now + timedelta(seconds=lease_s),
        }
        stored = self._session.execute(
            insert_or_nothing(self._session, ScheduleSlotRow)
            .values(schedule=schedule, slot=slot, claims=1, error="", **lease)
            .returning(_SLOT.c.schedule)
        ).scalar_one_or_none()
        if stored is not None:
            return True
        taken = execute(
            self._session,
            update(_SLOT)
            .where(
                _SLOT.c.schedule == schedule,
                _SLOT.c.slot == slot,
                _SLOT.c.finished_at.is_(None),
                _SLOT.c.lease_until <= now,
            )
            .values(claims=_SLOT.c.claims + 1, **lease),
        )
        return taken.rowcount == 1

    def renew(
        self,
        schedule: str,
        slot: datetime,
        *,
        owner: str,
        now: datetime,
        lease_s: int,
    ) -> bool:
        """Extend a held lease (a heartbeat); False when the claim was lost."""
        held = execute(
            self._session,
            update(_SLOT)
            .where(*_held(schedule, slot, owner))
            .values(lease_until=now + timedelta(seconds=lease_s)),
        )
        return held.rowcount == 1

    def finish(
        self,
        schedule: str,
        slot: datetime,
        *,
        owner: str,
        now: datetime,
        error: str = "",
    ) -> bool:
        """Record the end of a claimed slot; False when the claim was lost meanwhile."""
        held = execute(
            self._session,
            update(_SLOT)
            .where(*_held(schedule, slot, owner))
            .values(finished_at=now, error=error),
        )
        return held.rowcount == 1


def _held(schedule: str, slot: datetime, owner: str) -> tuple[Any, ...]:
    return (
        _SLOT.c.schedule == schedule,
        _SLOT.c.slot == slot,
        _SLOT.c.owner == owner,
        _SLOT.c.finished_at.is_(None),
    )
