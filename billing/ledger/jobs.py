"""Job records: when a job was seen by bill or fleet, and whose it is.

Team, owner and environment come from the newest tags of the job's resources. Knows
nothing of how tags are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, case, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from billing.core.attribution import Belongings, normalise_job
from billing.ledger.columns import table_of
from billing.ledger.hot import Hot, instants
from billing.ledger.tables import JobRow
from billing.ledger.teams import sum_teams_of, teams_of
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
    before = teams_of(session, newest)
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
    after = teams_of(session, newest)
    moved = {job for job, team in after.items() if before.get(job) != team}
    if moved:
        sum_teams_of(session, moved)


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
    rows = RECORD.rows(session, job=normalise_job(job))
    return _record(rows[0], instants(session)) if rows else None


def job_records(session: Session) -> Sequence[JobRecord]:
    """Return every known job, sorted by id."""
    instant = instants(session)
    return [_record(row, instant) for row in _RECORDS.rows(session)]


def _record(row: Any, instant: Callable[[Any], datetime]) -> JobRecord:  # noqa: ANN401
    job, team, owner, environment, first, last = row
    return JobRecord(
        job=job,
        team=team,
        owner=owner,
        environment=environment,
        first_seen_at=instant(first),
        last_seen_at=instant(last),
    )


def _records() -> Select[Any]:
    columns = table_of(JobRow).c
    return select(
        columns.job,
        columns.team,
        columns.owner,
        columns.environment,
        columns.first_seen_at,
        columns.last_seen_at,
    ).order_by(columns.job)


_RECORDS = Hot(lambda _: _records())
RECORD = Hot(
    lambda _: _records().where(
        table_of(JobRow).c.job == bindparam("job", required=True)
    ),
    is_kept=True,
)
