"""The bill of a window in the grain that reconciliation needs. Knows no running time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from sqlalchemy import Float, case, cast, func, select
from sqlmodel import Session

from billing.core.categories import running_type_of
from billing.core.charges import (
    BUCKET_PREFIX,
    CREDIT_CATEGORIES,
    CostCategory,
    PricingCategory,
)
from billing.core.money import USD, Money
from billing.core.reconciliation import BilledLine
from billing.ledger.columns import table_of
from billing.ledger.existing import CURRENCY
from billing.ledger.tables import ChargeRow, LedgerProperty
from billing.ledger.tables_attribution import TransferRow

_CHARGE = table_of(ChargeRow)
_TRANSFER = table_of(TransferRow)
_PROPERTY = table_of(LedgerProperty)
_CREDITS = [one.value for one in CREDIT_CATEGORIES]
_MICRO = 1_000_000
#: Account, day, job or bucket, region, usage type, cost category, pricing.
_Key = tuple[str, date, str, str, str, str, str]


@dataclass(slots=True)
class _Sum:
    """What lines of one key sum to; hours are None when any line counts none."""

    billed: int = 0
    effective: int = 0
    hours: Fraction | None = Fraction(0)

    def add(self, billed: int, effective: int, hours: Fraction | None) -> None:
        self.billed += billed
        self.effective += effective
        if hours is None or self.hours is None:
            self.hours = None
        else:
            self.hours += hours


class SqlReconciliation:
    """Lines of the bill within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def billed_lines(self, since: date, until: date) -> Sequence[BilledLine]:
        """Return the bill of ``[since, until)`` before credits, as it was attributed."""
        sums: dict[_Key, _Sum] = {}
        for row in self._charges(since, until):
            name = row.job or f"{BUCKET_PREFIX}{row.bucket}"
            hours = None if row.hours is None else _fraction(row.hours)
            key = _key(row, name)
            sums.setdefault(key, _Sum()).add(int(row.billed), int(row.effective), hours)
        self._move(sums, since, until)
        currency = self._currency()
        return [_line(key, found, currency) for key, found in sorted(sums.items())]

    def _move(self, sums: dict[_Key, _Sum], since: date, until: date) -> None:
        """Move what attribution moved, and the hours behind it in proportion."""
        moves: list[tuple[_Key, _Sum]] = []
        for row in self._transfers(since, until):
            source = _key(row, row.from_key)
            known = sums.get(source)
            hours = None
            if known and known.hours is not None and known.effective:
                hours = known.hours * row.effective / known.effective
            part = _Sum(row.billed, row.effective, hours)
            taken = None if hours is None else -hours
            moves.append((source, _Sum(-row.billed, -row.effective, taken)))
            moves.append((_key(row, row.to_key), part))
        for key, part in moves:
            sums.setdefault(key, _Sum()).add(part.billed, part.effective, part.hours)

    def _charges(self, since: date, until: date) -> Iterator[Any]:
        """Yield sums by the database: an export may hold a line for each resource."""
        columns = _CHARGE.c
        words = (
            *(columns.account, columns.day, columns.job, columns.bucket),
            *(columns.region, columns.usage_type, columns.cost_category),
            columns.pricing,
        )
        quantity = func.sum(cast(columns.quantity, Float))
        is_told = func.count(columns.quantity) == func.count()
        yield from self._session.connection().execute(
            select(
                *words,
                func.sum(columns.billed).label("billed"),
                func.sum(columns.effective).label("effective"),
                case((is_told, quantity)).label("hours"),
            )
            .where(
                columns.day >= since,
                columns.day < until,
                columns.category.not_in(_CREDITS),
            )
            .group_by(*words)
        )

    def _transfers(self, since: date, until: date) -> Iterator[Any]:
        columns = _TRANSFER.c
        yield from self._session.connection().execute(
            select(
                *(columns.account, columns.day, columns.from_key, columns.to_key),
                *(columns.region, columns.usage_type, columns.cost_category),
                *(columns.pricing, columns.billed, columns.effective),
            ).where(columns.day >= since, columns.day < until)
        )

    def _currency(self) -> str:
        found = self._session.execute(
            select(_PROPERTY.c.value).where(_PROPERTY.c.name == CURRENCY)
        ).scalar_one_or_none()
        return found or USD


def _fraction(hours: float) -> Fraction:
    """Return hours as summed by a database, to a microhour."""
    return Fraction(round(hours * _MICRO), _MICRO)


def _key(row: Any, name: str) -> _Key:  # noqa: ANN401 - a row of either table
    return (
        *(row.account, row.day, name, row.region),
        *(row.usage_type, row.cost_category, row.pricing),
    )


def _line(key: _Key, found: _Sum, currency: str) -> BilledLine:
    account, day, name, region, usage_type, category, pricing = key
    shape = running_type_of(usage_type)
    return BilledLine(
        key=name,
        account=account,
        day=day,
        region=region,
        shape=shape,
        cost_category=CostCategory(category),
        pricing=PricingCategory(pricing),
        billed=Money(found.billed, currency),
        effective=Money(found.effective, currency),
        hours=found.hours if shape else None,
    )
