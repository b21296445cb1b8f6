"""The daily rollup by team: days summed again whenever their parts or teams moved.

Whoever writes `cost_rollup` calls `sum_teams` for the same days, in the same
transaction. Knows no charge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
)
from sqlmodel import Session

from billing.core.charges import BUCKET_PREFIX
from billing.core.periods import DAY
from billing.ledger.columns import table_of
from billing.ledger.database import serialise
from billing.ledger.tables import CostRollupRow, JobRow
from billing.ledger.tables_teams import TeamRollupRow

_ROLLUP = table_of(CostRollupRow)
_TEAMS = table_of(TeamRollupRow)
_JOB = table_of(JobRow)
#: Jobs, or ranges of days, in one condition; SQLite allows 32,766 variables.
_SOME = 500
_LOCK = "team_rollup"

#: Whose a key of the rollup is: buckets keep their own name.
TEAM_OF_KEY: ColumnElement[str] = case(
    (_ROLLUP.c.key.startswith(BUCKET_PREFIX), _ROLLUP.c.key),
    else_=func.coalesce(_JOB.c.team, ""),
)


def sum_teams(session: Session, account: str, days: Iterable[date]) -> None:
    """Sum days of an account by team again from their rollup by job."""
    serialise(session, _LOCK)  # A job's team may change while its days are replaced.
    spans = ranges(days)
    for start in range(0, len(spans), _SOME):
        some = spans[start : start + _SOME]
        _sum(session, account, some)


def _sum(session: Session, account: str, spans: list[tuple[date, date]]) -> None:
    def mine(columns: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a table's columns
        days = (and_(columns.day >= a, columns.day <= b) for a, b in spans)
        return and_(columns.account == account, or_(*days))

    connection = session.connection()
    connection.execute(delete(_TEAMS).where(mine(_TEAMS.c)))
    connection.execute(
        insert(_TEAMS).from_select(
            [*TeamRollupRow.model_fields], teams_of_rollup().where(mine(_ROLLUP.c))
        )
    )


def teams_of_rollup() -> Select[Any]:
    """Return the rollup by team as a question, in the order of its columns."""
    columns = _ROLLUP.c
    keys = (columns.day, columns.account, TEAM_OF_KEY.label("team_of_key"))
    kinds = (columns.is_credit, columns.cost_category)
    return (
        select(
            *keys,
            *kinds,
            func.sum(columns.billed),
            func.sum(columns.effective),
            func.coalesce(func.sum(columns.list_cost), 0),
            func.count() - func.count(columns.list_cost),
            func.sum(columns.charges),
            func.sum(case((columns.is_estimated, 1), else_=0)),
        )
        .select_from(_ROLLUP.outerjoin(_JOB, _JOB.c.job == columns.key))
        .group_by(columns.day, columns.account, "team_of_key", *kinds)
        .order_by(columns.day, columns.account, "team_of_key")
    )


def teams_of(session: Session, jobs: Collection[str]) -> Mapping[str, str]:
    """Return the team of each known job."""
    wanted = sorted(jobs)
    found: dict[str, str] = {}
    for start in range(0, len(wanted), _SOME):
        rows = session.connection().execute(
            select(_JOB.c.job, _JOB.c.team).where(
                _JOB.c.job.in_(wanted[start : start + _SOME])
            )
        )
        found.update((job, team) for job, team in rows.all())
    return found


def sum_teams_of(session: Session, jobs: Collection[str]) -> None:
    """Sum every day again that holds cost of jobs whose team has changed."""
    serialise(session, _LOCK)
    days: dict[str, set[date]] = {}
    wanted = sorted(jobs)
    for start in range(0, len(wanted), _SOME):
        rows = session.connection().execute(
            select(_ROLLUP.c.account, _ROLLUP.c.day)
            .where(_ROLLUP.c.key.in_(wanted[start : start + _SOME]))
            .distinct()
        )
        for account, day in rows.all():
            days.setdefault(account, set()).add(day)
    for account in sorted(days):
        sum_teams(session, account, days[account])


def ranges(days: Iterable[date]) -> list[tuple[date, date]]:
    """Return days as ascending (first, last) ranges without gaps.

    >>> ranges([date(2026, 1, 2), date(2026, 1, 1), date(2026, 1, 9)])[0][1].day
    2
    """
    found: list[tuple[date, date]] = []
    for day in sorted(days):
        if found and found[-1][1] + DAY == day:
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found
