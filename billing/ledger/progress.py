"""Progress of jobs and hours of use, within one session.

Knows no view and no use case.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel

from billing.core.attribution import normalise_job
from billing.core.periods import Period
from billing.core.progress import Counter, ProgressReport
from billing.ledger.columns import table_of
from billing.ledger.tables_progress import JobProgressRow, UseHourRow
from billing.ports.progress import HourOfUse

_PROGRESS: Table = table_of(JobProgressRow)
_USE: Table = table_of(UseHourRow)
#: Resources asked for at once: SQLite takes 32,766 parameters in a statement.
_IDS_AT_ONCE = 10_000


class SqlProgress:
    """What jobs report and how busy their instances were."""

    _session: Session

    def record_progress(
        self, job: str, reports: Sequence[ProgressReport], *, by: str, now: datetime
    ) -> None:
        """Keep reports; of one counter and instant the newest counts."""
        rows = {
            (one.counter, one.at): {
                "job": normalise_job(job),
                "counter": one.counter.value,
                "at": one.at,
                "value": one.value,
                "attempt": one.attempt,
                "reported_by": by,
                "recorded_at": now,
            }
            for one in reports
        }
        self._put(JobProgressRow, [rows[key] for key in sorted(rows)])

    def progress_reports(
        self, job: str, counter: Counter | None = None
    ) -> Sequence[ProgressReport]:
        """Return what a job reported, by counter, then time."""
        columns = _PROGRESS.c
        query = (
            select(columns.counter, columns.at, columns.value, columns.attempt)
            .where(columns.job == normalise_job(job))
            .order_by(columns.counter, columns.at)
        )
        if counter is not None:
            query = query.where(columns.counter == counter.value)
        return [
            ProgressReport(counter=Counter(name), at=at, value=value, attempt=attempt)
            for name, at, value, attempt in self._session.connection().execute(query)
        ]

    def record_use(self, hours: Sequence[HourOfUse]) -> None:
        """Keep hours of use; an hour read again replaces what was known of it."""
        rows = [
            {
                "resource_id": one.resource_id,
                "hour": one.hour,
                "gpu_pct": one.gpu_pct,
                "covered_s": one.covered_s,
            }
            for one in sorted(hours, key=lambda one: (one.resource_id, one.hour))
        ]
        self._put(UseHourRow, rows)

    def hours_of_use(
        self, resource_ids: Sequence[str], period: Period
    ) -> Sequence[HourOfUse]:
        """Return the hours of use that begin in a period, by resource and hour."""
        ids, found = sorted(set(resource_ids)), []
        columns = _USE.c
        for start in range(0, len(ids), _IDS_AT_ONCE):
            query = (
                select(
                    columns.resource_id, columns.hour, columns.gpu_pct,
                    columns.covered_s,
                )
                .where(
                    columns.resource_id.in_(ids[start : start + _IDS_AT_ONCE]),
                    columns.hour >= period.start,
                    columns.hour < period.end,
                )
                .order_by(columns.resource_id, columns.hour)
            )  # fmt: skip
            found += [
                HourOfUse(
                    resource_id=resource, hour=hour, gpu_pct=pct, covered_s=seconds
                )
                for resource, hour, pct, seconds in self._session.execute(query)
            ]
        return found

    def last_hour_of_use(self) -> datetime | None:
        """Return the newest hour that is known of any resource; None when none is."""
        newest: datetime | None = self._session.execute(
            select(func.max(_USE.c.hour))
        ).scalar_one_or_none()
        return newest

    def _put(self, row: type[SQLModel], rows: list[dict[str, Any]]) -> None:
        """Insert rows, or overwrite those of the same key."""
        if not rows:
            return
        is_sqlite = self._session.get_bind().dialect.name == "sqlite"
        dialect = sqlite if is_sqlite else postgresql
        table = table_of(row)
        keys = [column.name for column in table.primary_key]
        statement = dialect.insert(table)
        changed = {
            name: statement.excluded[name] for name in rows[0] if name not in keys
        }
        self._session.connection().execute(
            statement.on_conflict_do_update(index_elements=keys, set_=changed), rows
        )
