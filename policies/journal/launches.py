"""Launches under grants in SQL.

Whoever reads the request first in a writing unit holds it (SQLite: the whole database),
so launches are counted and added one after the other. Knows no rule: what fits is
`policies.core.grants`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute
from policies.core.grants import StartedLaunch
from policies.journal.tables import LaunchRow

_LAUNCH = table_of(LaunchRow)


class SqlLaunches:
    """Launches within one session."""

    _session: Session

    def launches(self, request_id: str) -> Sequence[StartedLaunch]:
        """Return every launch under a request's grant, oldest first."""
        query = (
            select(_LAUNCH)
            .where(_LAUNCH.c.request_id == request_id)
            .order_by(_LAUNCH.c.launch_id)
        )
        return [
            StartedLaunch(
                launch_id=row["launch_id"],
                count=row["count"],
                started_at=row["started_at"],
                last_at=row["last_at"],
                lease_until=row["lease_until"],
                ended_at=row["ended_at"],
            )
            for row in self._session.execute(query).mappings()
        ]

    def add_launch(
        self,
        request_id: str,
        version: int,
        *,
        count: int,
        by: str,
        now: datetime,
        lease_until: datetime,
    ) -> int:
        """Store a launch that starts now; return its id."""
        return int(
            self._session.execute(
                insert(_LAUNCH)
                .values(
                    request_id=request_id,
                    version=version,
                    count=count,
                    by=by,
                    started_at=now,
                    last_at=now,
                    lease_until=lease_until,
                )
                .returning(_LAUNCH.c.launch_id)
            ).scalar_one()
        )

    def beat_launch(
        self, launch_id: int, *, now: datetime, lease_until: datetime
    ) -> bool:
        """Record that a launch still runs; False when it ended."""
        changed = execute(
            self._session,
            update(_LAUNCH)
            .where(_LAUNCH.c.launch_id == launch_id, _LAUNCH.c.ended_at.is_(None))
            .values(last_at=now, lease_until=lease_until),
        )
        return changed.rowcount == 1

    def end_launch(self, launch_id: int, *, now: datetime, exit_code: int) -> bool:
        """Record the end of a launch; False when it ended before."""
        changed = execute(
            self._session,
            update(_LAUNCH)
            .where(_LAUNCH.c.launch_id == launch_id, _LAUNCH.c.ended_at.is_(None))
            .values(last_at=now, ended_at=now, exit_code=exit_code),
        )
        return changed.rowcount == 1
