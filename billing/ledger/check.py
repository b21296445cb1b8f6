"""Whether the ledger agrees with itself and with the source's own totals.

Charges, rollups and controls say the same of every (account, day), and every day has
one source. Read only; for `db check` and `doctor`.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session

from billing.core.money import NANOS_PER_UNIT, plain_text
from billing.ledger.columns import table_of
from billing.ledger.tables import ChargeRow, CostRollupRow, DayControlRow
from billing.ledger.tables_teams import TeamRollupRow

_CHARGE = table_of(ChargeRow)
_ROLLUP = table_of(CostRollupRow)
_CONTROL = table_of(DayControlRow)
_TEAMS = table_of(TeamRollupRow)
#: Differences that are named; more of them say nothing new.
PROBLEMS_MAX = 20

_Sums = dict[tuple[str, date], tuple[int, int]]


def ledger_problems(session: Session) -> list[str]:
    """Return what is wrong, in words, by account and day; empty when all agrees."""
    charges = _sums(session, _CHARGE)
    rollups = _sums(session, _ROLLUP)
    controls = _sums(session, _CONTROL)
    teams = _sums(session, _TEAMS)
    problems = _doubled(session)
    for key in sorted(charges.keys() | rollups.keys() | controls.keys()):
        account, day = key
        where = f"account {account!r} on {day.isoformat()}"
        ours = charges.get(key, (0, 0))
        if rollups.get(key, (0, 0)) != ours:
            problems.append(f"{where}: the daily rollup differs from the charges")
        if teams.get(key, (0, 0)) != rollups.get(key, (0, 0)):
            problems.append(f"{where}: the rollup by team differs from the daily one")
        theirs = controls.get(key)
        if theirs is None:
            problems.append(f"{where}: charges without the source's own total")
        elif any(
            abs(mine - its) >= NANOS_PER_UNIT // 200
            for mine, its in zip(ours, theirs, strict=True)
        ):
            problems.append(
                f"{where}: charges sum to {plain_text(ours[0])} billed and"
                f" {plain_text(ours[1])} effective, the source said"
                f" {plain_text(theirs[0])} and {plain_text(theirs[1])}"
            )
    return problems[:PROBLEMS_MAX]


def _sums(session: Session, table: Any) -> _Sums:  # noqa: ANN401 - a table
    rows = session.connection().execute(
        select(
            table.c.account,
            table.c.day,
            func.sum(table.c.billed),
            func.sum(table.c.effective),
        ).group_by(table.c.account, table.c.day)
    )
    return {
        (account, day): (int(billed), int(effective))
        for account, day, billed, effective in rows
    }


def _doubled(session: Session) -> list[str]:
    """Name days that two sources hold: their charges would count twice."""
    rows = session.connection().execute(
        select(_CONTROL.c.account, _CONTROL.c.day)
        .group_by(_CONTROL.c.account, _CONTROL.c.day)
        .having(func.count() > 1)
    )
    return [
        f"account {account!r} on {day.isoformat()}: two sources hold the day"
        for account, day in rows
    ]
