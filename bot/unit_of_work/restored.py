"""What a restored copy must forget before anything runs on it.

Between a backup and its restore, messages were posted and digests sent that the copy
does not know of.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update

from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing
from bot.unit_of_work.store import SqlUnitOfWork
from bot.unit_of_work.tables import OutboxMessageRow, ScheduleSlotRow

_OUTBOX = table_of(OutboxMessageRow)
_SLOT = table_of(ScheduleSlotRow)
_OWNER = "restore"


def abandon_effects(unit: SqlUnitOfWork, *, reason: str, now: datetime) -> int:
    """Give up every message that waits: it may have been posted since; return how many."""
    done = execute(
        unit.session,
        update(_OUTBOX)
        .where(_OUTBOX.c.state.in_(("pending", "sending")))
        .values(state="failed", error=reason, finished_at=now),
    )
    return done.rowcount


def skip_slots(unit: SqlUnitOfWork, *, prefix: str, now: datetime) -> int:
    """Let known schedules of a prefix begin with their first slot after now."""
    known = unit.session.execute(
        select(_SLOT.c.schedule)
        .where(_SLOT.c.schedule.startswith(prefix, autoescape=True))
        .distinct()
    ).scalars()
    names = list(known)
    for name in names:
        execute(
            unit.session,
            insert_or_nothing(unit.session, ScheduleSlotRow).values(
                schedule=name, slot=now, owner=_OWNER, claims=1, claimed_at=now,
                lease_until=now, finished_at=now, error="",
            ),
        )  # fmt: skip
    return len(names)
