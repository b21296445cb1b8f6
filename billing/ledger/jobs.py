"""Job records: when a job was seen by bill or fleet, and whose it is.

Team, owner and environment come from the newest tags of the job's resources. Knows
nothing of how tags are observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, case, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col

from billing.core.attribution import Belongings, normalise_job
from billing.ledger.columns import table_of
from billing.ledger.tables import JobRow
from billing.ports import JobRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTags:
    """What one resource's tags say about a job, and since when."""

    belongings: Belongings
    since: datetime


def note_jobs(session: Session, seen: Mapping[str, tuple[datetime, datetime]]) -> None:
    """Widen the spans in which jobs were seen, adding new jobs."""
    if not seen:
        return
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    table = table_of(JobRow)
    statement = dialect.insert(table)
    new = statement.excluded
    statement = statement.on_conflict_do_update(
        index_elements=["job"],
        set_={
            "first_seen_at": case(
                (new.first_seen_at < table.c.first_seen_at, new.first_seen_at),
                else_=table.c.first_seen_at,
            ),
            "last_seen_at": case(
                (new.last_seen_at > table.c.last_seen_at, new.last_seen_at),
                else_=table.c.last_seen_at,
            ),
        },
    )
    # Sorted, so that two imports take the rows in one order and never deadlock.
    session.connection().execute(
        statement,
        [
            {
                "job": job,
                "team": "",
                "owner": "",
                "environment": "",
                "first_seen_at": first,
                "last_seen_at": last,
            }
            for job, (first, last) in sorted(seen.items())
        ],
    )


def note_job_tags(session: Session, tags: Iterable[JobTags]) -> None:
    """Let the newest tags say whose a job is; an absent tag does not erase a value."""
    newest: dict[str, JobTags] = {}
    for item in sorted(tags, key=_recency):
        newest[item.belongings.job] = item
    if not newest:
        return
    table = table_of(JobRow)
    session.connection().execute(
        update(table)
        .where(
            table.c.job == bindparam("b_job"),
            (table.c.tagged_at.is_(None)) | (table.c.tagged_at <= bindparam("b_since")),
        )
        .values(
            team=_or_kept("team"),
            owner=_or_kept("owner"),
            environment=_or_kept("environment"),
            tagged_at=bindparam("b_since"),
        ),
        [
            {
                "b_job": job,
                "b_team": item.belongings.team,
                "b_owner": item.belongings.owner,
                "b_environment": item.belongings.environment,
                "b_since": item.since,
            }
            for job, item in sorted(newest.items())
        ],
    )


def _recency(item: JobTags) -> tuple[datetime, str, str, str]:
    """Order by time; on a tie by text, so that two polls choose the same."""
    found = item.belongings
    return (item.since, found.team, found.owner, found.environment)


def _or_kept(name: str) -> object:
    """Return the new value of a column, or the kept one where the new one is ""."""
    new = bindparam(f"b_{name}", type_=table_of(JobRow).c[name].type)
    return case((new != "", new), else_=table_of(JobRow).c[name])


def job_record(session: Session, job: str) -> JobRecord | None:
    """Return what is known of a job; None when nothing ever named it."""
    row = session.execute(
        select(JobRow).where(col(JobRow.job) == normalise_job(job))
    ).scalar_one_or_none()
    return None if row is None else _record(row)


def job_records(session: Session) -> Sequence[JobRecord]:
    """Return every known job, sorted by id."""
    rows = session.execute(select(JobRow).order_by(JobRow.job)).scalars()
    return [_record(row) for row in rows]


def _record(row: JobRow) -> JobRecord:
    return JobRecord(
        job=row.job,
        team=row.team,
        owner=row.owner,
        environment=row.environment,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
    )
