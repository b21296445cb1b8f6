"""The count of billable AWS requests, which commits on its own, before each request."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import select, update
from sqlmodel import Session

from billing.core.money import USD, MixedCurrencyError, Money
from billing.core.periods import day_of
from billing.ledger.columns import table_of
from billing.ledger.database import Database, execute, insert_or_nothing
from billing.ledger.tables import BillableRequestRow
from billing.ports import RequestBudgetError

_REQUESTS = table_of(BillableRequestRow)

#: The operation under which a day's sum is kept.
_ALL = ""


class SqlRequestMeter:
    """Counts requests of every process and stops them at the day's budget.

    Args:
        database: Where the count lives.
        budget: What one UTC day may cost; None for no limit.
    """

    def __init__(self, database: Database, budget: Money | None = None) -> None:
        self._database = database
        self._budget = budget
        self._currency = USD if budget is None else budget.currency

    def charge(self, operation: str, cost: Money, now: datetime) -> None:
        """Count one request before it is made.

        Raises:
            RequestBudgetError: It would pass the day's budget; nothing was counted.
        """
        if cost.currency != self._currency:
            raise MixedCurrencyError(self._currency, cost.currency)
        day = day_of(now)
        with self._database.write() as session:
            for name in (_ALL, operation):
                execute(
                    session,
                    insert_or_nothing(session, BillableRequestRow).values(
                        day=day, operation=name, requests=0, cost=0
                    ),
                )
            # One statement checks and counts, so that two processes cannot both fit.
            if not self._count(session, day, _ALL, cost):
                text = "" if self._budget is None else str(self._budget)
                raise RequestBudgetError(
                    operation, f"{operation!r} would pass the day's budget of {text}"
                )
            self._count(session, day, operation, cost)

    def _count(self, session: Session, day: date, operation: str, cost: Money) -> bool:
        row: Any = BillableRequestRow
        statement = update(row).where(row.day == day, row.operation == operation)
        if operation == _ALL and self._budget is not None:
            statement = statement.where(row.cost + cost.nanos <= self._budget.nanos)
        counted = execute(
            session,
            statement.values(requests=row.requests + 1, cost=row.cost + cost.nanos),
        )
        return counted.rowcount == 1

    def spent(self, day: date) -> tuple[int, Money]:
        """Return requests made on a UTC day and what they cost."""
        with self._database.read() as session:
            row = session.execute(
                select(_REQUESTS.c.requests, _REQUESTS.c.cost).where(
                    _REQUESTS.c.day == day,
                    _REQUESTS.c.operation == _ALL,
                )
            ).one_or_none()
        requests, cost = (0, 0) if row is None else row
        return requests, Money(cost, self._currency)
