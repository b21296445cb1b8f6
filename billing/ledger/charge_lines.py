"""Lines of the bill behind a figure, within one session.

Everything but quantities is summed exactly; a quantity is for people to read. Knows no
view and no use case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Float, Row, Select, and_, case, cast, func, select
from sqlmodel import Session

from billing.core.attribution import normalise_job
from billing.core.charges import (
    BUCKET_PREFIX,
    ChargeCategory,
    CostCategory,
    PricingCategory,
    Source,
)
from billing.core.money import USD, Money
from billing.ledger.columns import table_of
from billing.ledger.tables import ChargeRow, JobRow
from billing.ports.charge_lines import ChargeFilter, ChargeSum

_CHARGE = table_of(ChargeRow)
_JOB = table_of(JobRow)
#: Digits of a summed quantity that a double holds for certain.
_QUANTITY_DIGITS = 15

_WORDS = (
    *(_CHARGE.c.account, _CHARGE.c.day, _CHARGE.c.job, _CHARGE.c.bucket),
    *(_CHARGE.c.source, _CHARGE.c.region, _CHARGE.c.service, _CHARGE.c.usage_type),
    *(_CHARGE.c.record_type, _CHARGE.c.category, _CHARGE.c.pricing),
    *(_CHARGE.c.cost_category, _CHARGE.c.unit),
)


class SqlChargeLines(ABC):
    """The bill, line by line."""

    _session: Session

    @abstractmethod
    def currency(self) -> str | None:
        """Return the ledger's currency; the import side stores it."""

    def charge_sums(
        self, since: date, until: date, wanted: ChargeFilter
    ) -> Sequence[ChargeSum]:
        """Return the charges of ``[since, until)`` by account, day and words."""
        query = _summed().where(
            _CHARGE.c.day >= since, _CHARGE.c.day < until, *_conditions(wanted)
        )
        currency = self.currency() or USD
        rows = self._session.connection().execute(query).all()
        return [_sum(row, currency) for row in rows]


def _summed() -> Select[Any]:
    listed = case(
        (func.count(_CHARGE.c.list_cost) == func.count(), func.sum(_CHARGE.c.list_cost))
    )
    quantity = case(
        (
            func.count(_CHARGE.c.quantity) == func.count(),
            func.sum(cast(_CHARGE.c.quantity, Float)),
        )
    )
    return (
        select(
            *_WORDS,
            func.sum(_CHARGE.c.billed).label("billed"),
            func.sum(_CHARGE.c.effective).label("effective"),
            listed.label("list_cost"),
            quantity.label("quantity"),
            func.count().label("charges"),
        )
        .group_by(*_WORDS)
        .order_by(*_WORDS)
    )


def _conditions(wanted: ChargeFilter) -> list[ColumnElement[bool]]:
    columns = _CHARGE.c
    pairs = (
        (columns.account, wanted.account),
        (columns.cost_category, wanted.category),
        (columns.region, wanted.region),
        (columns.service, wanted.service),
        (columns.pricing, wanted.purchase),
    )
    found = [column == value for column, value in pairs if value]
    if wanted.team:
        members = select(_JOB.c.job).where(_JOB.c.team == wanted.team)
        found.append(columns.job.in_(members))
    if wanted.key.startswith(BUCKET_PREFIX):
        bucket = wanted.key.removeprefix(BUCKET_PREFIX)
        found.append(and_(columns.job == "", columns.bucket == bucket))
    elif wanted.key:
        found.append(columns.job == normalise_job(wanted.key))
    return found


def _sum(row: Row[Any], currency: str) -> ChargeSum:
    listed = None if row.list_cost is None else Money(int(row.list_cost), currency)
    quantity = None
    if row.quantity is not None:
        quantity = Decimal(f"{float(row.quantity):.{_QUANTITY_DIGITS}g}")
    return ChargeSum(
        key=row.job or f"{BUCKET_PREFIX}{row.bucket}",
        source=Source(row.source),
        account=row.account,
        day=row.day,
        region=row.region,
        service=row.service,
        usage_type=row.usage_type,
        record_type=row.record_type,
        category=ChargeCategory(row.category),
        pricing=PricingCategory(row.pricing),
        cost_category=CostCategory(row.cost_category),
        unit=row.unit,
        billed=Money(int(row.billed), currency),
        effective=Money(int(row.effective), currency),
        list_cost=listed,
        quantity=quantity,
        charges=int(row.charges),
    )
