"""The daily rollup by key: as the bill states it, then moved by transfers.

Knows no import and no rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    case,
    false,
    func,
    literal,
    or_,
    select,
)

from billing.core.charges import BUCKET_PREFIX, CREDIT_CATEGORIES
from billing.ledger.columns import table_of
from billing.ledger.tables import ChargeStagingRow
from billing.ledger.teams import ranges

_STAGING = table_of(ChargeStagingRow)


def within(column: ColumnElement[date], days: Iterable[date]) -> ColumnElement[bool]:
    """Return the condition that a column is one of the days, as few ranges."""
    return or_(
        false(),
        *(and_(column >= first, column <= last) for first, last in ranges(days)),
    )


def rollup_of(import_id: int | None) -> Select[Any]:
    """Return the rollup of an import's staged charges, in the order of its columns."""
    return rollup_from(_STAGING, _STAGING.c.import_id == import_id)


def rollup_from(table: Table, condition: ColumnElement[bool]) -> Select[Any]:
    """Return the rollup of some charges, staged or stored, as the bill states them."""
    columns = table.c
    key = case(
        (columns.job != "", columns.job),
        else_=literal(BUCKET_PREFIX).concat(columns.bucket),
    )
    is_credit = columns.category.in_(sorted(CREDIT_CATEGORIES))
    return (
        select(
            key,
            columns.day,
            columns.account,
            columns.cost_category,
            is_credit,
            func.sum(columns.billed),
            func.sum(columns.effective),
            case(
                (
                    func.count(columns.list_cost) == func.count(),
                    func.sum(columns.list_cost),
                )
            ),
            func.count(),
            func.max(case((columns.is_estimated, 1), else_=0)) == 1,
        )
        .where(condition)
        .group_by(key, columns.day, columns.account, columns.cost_category, is_credit)
        .order_by(key, columns.day)
    )
