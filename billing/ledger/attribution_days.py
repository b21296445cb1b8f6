"""Transfers of stored days, computed and put in place within one transaction.

The transfers of an (account, day) are replaced as a whole and the rollup moved by them,
so that every question that reads rollups finds cost where it belongs. Knows no import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    case,
    delete,
    false,
    func,
    insert,
    literal,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from billing.core.attribution import Belongings
from billing.core.charges import BUCKET_PREFIX
from billing.core.claims import (
    TEAM_PREFIX,
    AttributionRules,
    Subject,
    subject_of,
)
from billing.core.day_transfers import Day, transfers_of
from billing.core.money import Money
from billing.core.periods import DAY, Period, start_of
from billing.core.transfers import Basis, Rule, Transfer
from billing.ledger.attribution_facts import (
    assignments_of,
    claims_of,
    has_placements,
    intervals_of_account,
)
from billing.ledger.attribution_lines import is_any_named, lines_of_days
from billing.ledger.bulk import insert_rows
from billing.ledger.columns import table_of
from billing.ledger.database import execute, upsert
from billing.ledger.jobs import JobTags, note_job_tags, note_jobs
from billing.ledger.rollups import rollup_from, within
from billing.ledger.tables import ChargeRow, CostRollupRow
from billing.ledger.tables_attribution import AttributionDayRow, TransferRow
from billing.ledger.teams import sum_teams

_CHARGE = table_of(ChargeRow)
_ROLLUP = table_of(CostRollupRow)
_TRANSFER = table_of(TransferRow)
_DAY = table_of(AttributionDayRow)
_COLUMNS = tuple(name for name in TransferRow.model_fields if name != "transfer_id")
#: Part of every mark: a change of how transfers are made makes all days due.
_ENGINE = 2


def mark_of(rules: AttributionRules) -> str:
    """Return the mark of the configuration that transfers are computed under."""
    text = f"{_ENGINE}|{rules!r}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def attribute_days(
    session: Session,
    account: str,
    days: Collection[date],
    *,
    rules: AttributionRules,
    currency: str,
    now: datetime,
) -> int:
    """Replace the transfers of days whose rollups are as the bill states them.

    Returns how many there are. The caller sums teams afterwards.
    """
    if not days:
        return 0
    mine = (_TRANSFER.c.account == account, within(_TRANSFER.c.day, days))
    execute(session, delete(_TRANSFER).where(*mine))
    found = _transfers(session, account, days, rules=rules, currency=currency, now=now)
    if found:
        is_sqlite = session.get_bind().dialect.name == "sqlite"
        rows = [_row(one, is_sqlite=is_sqlite) for one in found]
        insert_rows(session, "transfer", _COLUMNS, rows)
        _move_rollups(session, account, days, {one.from_key for one in found})
        _note_keys(session, found, now)
    _note_days(session, account, days, mark=mark_of(rules), now=now)
    return len(found)


def attribute_again(
    session: Session,
    account: str,
    days: Collection[date],
    *,
    rules: AttributionRules,
    currency: str,
    now: datetime,
) -> int:
    """Compute stored days anew: their rollups from the charges, then the transfers."""
    mine = (_ROLLUP.c.account == account, within(_ROLLUP.c.day, days))
    execute(session, delete(_ROLLUP).where(*mine))
    condition = (_CHARGE.c.account == account) & within(_CHARGE.c.day, days)
    execute(
        session,
        insert(_ROLLUP).from_select(
            [*CostRollupRow.model_fields], rollup_from(_CHARGE, condition)
        ),
    )
    count = attribute_days(
        session, account, days, rules=rules, currency=currency, now=now
    )
    sum_teams(session, account, days)
    return count


def _transfers(
    session: Session,
    account: str,
    days: Collection[date],
    *,
    rules: AttributionRules,
    currency: str,
    now: datetime,
) -> list[Transfer]:
    is_placed = has_placements(session)
    period = Period(start_of(min(days)), start_of(max(days) + DAY))
    intervals = intervals_of_account(session, account, period)
    assignments = assignments_of(session, account)
    lines = lines_of_days(
        session, account, days, currency,
        is_whole=is_placed or rules.is_proportional,
        is_named=is_any_named(account, rules, assignments),
        is_watched=bool(intervals),
    )  # fmt: skip
    if not lines:
        return []
    subjects = {one.resource_id: subject_of(one) for one in intervals}
    for found in lines.values():
        for line in found:
            if line.resource_id and line.resource_id not in subjects:
                subjects[line.resource_id] = Subject(
                    resource_id=line.resource_id, account=account, region=line.region
                )
    claims = claims_of(
        session, period, subjects.values(), rules,
        is_placed=is_placed, assignments=assignments,
    )  # fmt: skip
    return [
        transfer
        for day in sorted(lines)
        for transfer in transfers_of(
            Day(
                account=account,
                day=day,
                lines=lines[day],
                intervals=[one for one in intervals if _ran_on(one, day)],
                claims=claims,
                until=now,
            )
        )
    ]


def _ran_on(interval: Any, day: date) -> bool:  # noqa: ANN401 - an interval
    start = start_of(day)
    is_over = interval.ended_at is not None and interval.ended_at <= start
    return interval.started_at < start + DAY and not is_over


def _row(one: Transfer, *, is_sqlite: bool) -> tuple[Any, ...]:
    return (
        one.account,
        one.day.isoformat() if is_sqlite else one.day,
        one.region,
        one.service,
        one.usage_type,
        one.pricing,
        one.cost_category,
        one.resource_id,
        one.from_key,
        one.to_key,
        one.billed.nanos,
        one.effective.nanos,
        None if one.list_cost is None else one.list_cost.nanos,
        one.rule.value,
        one.basis.value,
        one.evidence,
    )


def transfer_of(row: Any, currency: str) -> Transfer:  # noqa: ANN401 - a row of the table
    """Make a transfer of its row."""
    return Transfer(
        account=row.account,
        day=row.day,
        region=row.region,
        service=row.service,
        usage_type=row.usage_type,
        pricing=row.pricing,
        cost_category=row.cost_category,
        resource_id=row.resource_id,
        from_key=row.from_key,
        to_key=row.to_key,
        billed=Money(row.billed, currency),
        effective=Money(row.effective, currency),
        list_cost=None if row.list_cost is None else Money(row.list_cost, currency),
        rule=Rule(row.rule),
        basis=Basis(row.basis),
        evidence=row.evidence,
    )


def _move_rollups(
    session: Session, account: str, days: Collection[date], givers: Collection[str]
) -> None:
    """Add transfers to the rollup; cells that gave everything away disappear."""
    mine = (_ROLLUP.c.account == account, within(_ROLLUP.c.day, days))
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    statement = (sqlite if is_sqlite else postgresql).insert(_ROLLUP)
    new = statement.excluded
    execute(
        session,
        statement.from_select(
            [*CostRollupRow.model_fields], _moves(account, days, mine)
        ).on_conflict_do_update(
            index_elements=[column.name for column in _ROLLUP.primary_key],
            set_={
                "billed": _ROLLUP.c.billed + new.billed,
                "effective": _ROLLUP.c.effective + new.effective,
                # Unknown with anything is unknown.
                "list_cost": _ROLLUP.c.list_cost + new.list_cost,
            },
        ),
    )
    _drop_empty(session, mine, sorted(givers))


def _moves(
    account: str, days: Collection[date], mine: Sequence[ColumnElement[bool]]
) -> Select[Any]:
    """Return what each cell gets, less what it gives, in the order of the rollup."""
    columns = _TRANSFER.c
    legs = union_all(
        *(
            select(
                key.label("key"),
                columns.day,
                columns.cost_category,
                (columns.billed * sign).label("billed"),
                (columns.effective * sign).label("effective"),
                (columns.list_cost * sign).label("listed"),
            ).where(columns.account == account, within(columns.day, days))
            for key, sign in ((columns.to_key, 1), (columns.from_key, -1))
        )
    ).subquery()
    flags = (
        select(
            _ROLLUP.c.day, func.max(_as_number(_ROLLUP.c.is_estimated)).label("flag")
        )
        .where(*mine)
        .group_by(_ROLLUP.c.day)
        .subquery()
    )
    cell = (legs.c.key, legs.c.day, legs.c.cost_category)
    return (
        select(
            legs.c.key,
            legs.c.day,
            literal(account),
            legs.c.cost_category,
            false(),
            func.sum(legs.c.billed),
            func.sum(legs.c.effective),
            case((func.count(legs.c.listed) == func.count(), func.sum(legs.c.listed))),
            literal(0),
            func.coalesce(func.max(flags.c.flag), 0) == 1,
        )
        .select_from(legs.outerjoin(flags, flags.c.day == legs.c.day))
        .where(true())
        .group_by(*cell)
        .order_by(*cell)
    )


def _drop_empty(
    session: Session, mine: Sequence[ColumnElement[bool]], givers: Sequence[str]
) -> None:
    """Delete the cells of keys that gave everything away."""
    for start in range(0, len(givers), 500):
        execute(
            session,
            delete(_ROLLUP).where(
                *mine,
                _ROLLUP.c.key.in_(givers[start : start + 500]),
                _ROLLUP.c.billed == 0,
                _ROLLUP.c.effective == 0,
                func.coalesce(_ROLLUP.c.list_cost, 0) == 0,
            ),
        )


def _as_number(column: Any) -> Any:  # noqa: ANN401 - an expression
    return case((column, 1), else_=0)


def _note_keys(session: Session, found: Iterable[Transfer], now: datetime) -> None:
    """Let the jobs that got something be known, and teams as their own."""
    seen: dict[str, tuple[datetime, datetime]] = {}
    for one in found:
        if one.to_key.startswith(BUCKET_PREFIX):
            continue
        start = start_of(one.day)
        end = max(start, min(start + DAY, now))
        first, last = seen.get(one.to_key, (start, end))
        seen[one.to_key] = (min(first, start), max(last, end))
    note_jobs(session, seen)
    note_job_tags(
        session,
        [
            JobTags(
                belongings=Belongings(
                    job=key,
                    team=key.removeprefix(TEAM_PREFIX),
                    owner="",
                    environment="",
                ),
                since=first,
            )
            for key, (first, _) in seen.items()
            if key.startswith(TEAM_PREFIX)
        ],
    )


def _note_days(
    session: Session, account: str, days: Collection[date], *, mark: str, now: datetime
) -> None:
    names = ("account", "day", "rules", "attributed_at", "due_since")
    first, *_ = rows = [(account, day, mark, now, None) for day in sorted(days)]
    statement = upsert(session, AttributionDayRow, dict(zip(names, first, strict=True)))
    for row in rows:
        session.connection().execute(statement, dict(zip(names, row, strict=True)))
