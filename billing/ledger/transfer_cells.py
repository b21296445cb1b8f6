"""What transfers move within a breakdown that is read from charges.

Rollups hold transfers already; regions, services and purchases are read from charges,
so what a job or team got and gave is added here. Knows no question but that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Date, String, bindparam, func, select, union_all
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.hot import Hot, days
from billing.ledger.tables import JobRow
from billing.ledger.tables_attribution import TransferRow
from billing.ports import CostCellOfDay

_TRANSFER = table_of(TransferRow)
_JOB = table_of(JobRow)
_COLUMNS = {"region": "region", "service": "service", "purchase": "pricing"}


def with_transfers(
    session: Session,
    by: str,
    cells: Sequence[CostCellOfDay],
    given: Mapping[str, Any],
    currency: str,
) -> list[CostCellOfDay]:
    """Return cells of a job or team with what transfers gave it and took from it.

    ``given`` holds ``since``, ``until`` and the filters: ``job``, ``team``, ``account``.
    """
    read_day = days(session)
    question = _QUESTIONS[by, "job" in given, "account" in given]
    found = {(one.day, one.account, one.key, one.is_credit): one for one in cells}
    for day, account, key, billed, effective, listed, known in question.rows(
        session, **given
    ):
        place = (read_day(day), account, key, False)
        before = found.get(place)
        added = None if listed is None or not known else int(listed)
        cell = _sum(before, place, int(billed), int(effective), added, currency)
        if cell.billed_nanos or cell.effective_nanos:
            found[place] = cell
        else:
            found.pop(place, None)  # Everything was given away.
    return [found[place] for place in sorted(found)]


def _sum(
    before: CostCellOfDay | None,
    place: tuple[date, str, str, bool],
    billed: int,
    effective: int,
    listed: int | None,
    currency: str,
) -> CostCellOfDay:
    if before is None:
        return CostCellOfDay(
            *place, billed_nanos=billed, effective_nanos=effective, list_nanos=listed,
            charges=0, is_estimated=False, currency=currency,
        )  # fmt: skip
    own = before.list_nanos
    return CostCellOfDay(
        *place,
        before.billed_nanos + billed,
        before.effective_nanos + effective,
        None if own is None or listed is None else own + listed,
        before.charges,
        before.is_estimated,
        currency,
    )


def _question(by: str, *, of_job: bool, of_account: bool) -> Any:  # noqa: ANN401
    columns = _TRANSFER.c
    legs = union_all(
        *(
            select(
                columns.day,
                columns.account,
                columns[_COLUMNS[by]].label("key"),
                (columns.billed * sign).label("billed"),
                (columns.effective * sign).label("effective"),
                (columns.list_cost * sign).label("listed"),
            ).where(
                columns.day >= bindparam("since", type_=Date(), required=True),
                columns.day < bindparam("until", type_=Date(), required=True),
                _is_whose(key, of_job=of_job),
                *([columns.account == _text("account")] if of_account else []),
            )
            for key, sign in ((columns.to_key, 1), (columns.from_key, -1))
        )
    ).subquery()
    return (
        select(
            legs.c.day,
            legs.c.account,
            legs.c.key,
            func.sum(legs.c.billed),
            func.sum(legs.c.effective),
            func.sum(legs.c.listed),
            func.count(legs.c.listed) == func.count(),
        )
        .group_by(legs.c.day, legs.c.account, legs.c.key)
        .order_by(legs.c.day, legs.c.account, legs.c.key)
    )


def _is_whose(key: ColumnElement[str], *, of_job: bool) -> ColumnElement[bool]:
    if of_job:
        return key.in_([_text("job")])
    return key.in_(select(_JOB.c.job).where(_JOB.c.team == _text("team")))


def _text(name: str) -> Any:  # noqa: ANN401 - a parameter
    return bindparam(name, type_=String(), required=True)


def _hot(by: str, *, of_job: bool, of_account: bool) -> Hot:
    return Hot(lambda _: _question(by, of_job=of_job, of_account=of_account))


_QUESTIONS = {
    (by, of_job, of_account): _hot(by, of_job=of_job, of_account=of_account)
    for by in _COLUMNS
    for of_job in (True, False)
    for of_account in (True, False)
}
