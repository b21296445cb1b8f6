"""Questions about stored costs, each one short read.

What is asked by job, team, category or account touches daily rollups only; region,
service and purchase touch charges. Knows no view and no use case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, literal, select

from billing.core.attribution import normalise_job
from billing.core.charges import BUCKET_PREFIX, CREDIT_CATEGORIES
from billing.core.gpus import is_gpu_type
from billing.core.money import USD, Money
from billing.core.periods import utc
from billing.ledger.columns import table_of
from billing.ledger.database import execute, upsert
from billing.ledger.freshness import SqlFreshness
from billing.ledger.jobs import job_record, job_records
from billing.ledger.tables import (
    AccountStateRow,
    ChargeRow,
    CostRollupRow,
    FreshnessRow,
    JobRow,
)
from billing.ports import CostCellOfDay, JobRecord, NeedsExportError

_ACCOUNT = table_of(AccountStateRow)
_FRESHNESS = table_of(FreshnessRow)

_ROLLUP = table_of(CostRollupRow)
_CHARGE = table_of(ChargeRow)
_JOB = table_of(JobRow)

_ROLLUP_KEYS: Mapping[str, ColumnElement[str]] = {
    "": literal(""),
    "job": _ROLLUP.c.key,
    "category": _ROLLUP.c.cost_category,
    "account": _ROLLUP.c.account,
    # Buckets keep their own name; a job without a team is "".
    "team": case(
        (_ROLLUP.c.key.startswith(BUCKET_PREFIX), _ROLLUP.c.key),
        else_=func.coalesce(_JOB.c.team, ""),
    ),
}
_CHARGE_KEYS: Mapping[str, ColumnElement[str]] = {
    "region": _CHARGE.c.region,
    "service": _CHARGE.c.service,
    "purchase": _CHARGE.c.pricing,
}


class UnknownDimensionError(ValueError):
    """A program asked to group by something that is no dimension."""

    def __init__(self, by: str) -> None:
        known = ", ".join(sorted((*_ROLLUP_KEYS, *_CHARGE_KEYS)))
        super().__init__(f"cannot group by {by!r}; expected one of {known}")


class SqlReader(SqlFreshness, ABC):
    """Answers within one session."""

    @abstractmethod
    def currency(self) -> str | None:
        """Return the ledger's currency; the import side stores it."""

    def billed_through(self) -> Mapping[str, datetime]:
        """Return, per account, the end of the last day that is complete."""
        rows = self._session.execute(
            select(_ACCOUNT.c.account, _ACCOUNT.c.billed_through).order_by(
                _ACCOUNT.c.account
            )
        )
        return {account: through for account, through in rows}  # noqa: C416 - typed rows

    def set_billed_through(
        self, account: str, through: datetime, now: datetime
    ) -> None:
        """Record the end of the last complete day of an account."""
        values = {
            "account": account,
            "billed_through": utc(through),
            "updated_at": now,
        }
        execute(self._session, upsert(self._session, AccountStateRow, values))

    def cells(
        self,
        by: str,
        since: date,
        until: date,
        *,
        job: str | None = None,
        team: str | None = None,
        account: str | None = None,
    ) -> Sequence[CostCellOfDay]:
        """Sum charges of ``[since, until)`` by one dimension, per account and day.

        ``by`` is ``job|team|category|service|account|region|purchase`` or "" (no
        grouping). Cells come by day, account and key. Grouped by team, buckets keep
        their ``bucket:`` key and "" means a job without a known team. ``purchase`` is
        the pricing category. A ``team`` filter means jobs of that team.

        Raises:
            NeedsExportError: The dimension is not in the stored data for this filter.
        """
        if by in _ROLLUP_KEYS:
            query = _from_rollup(by)
            key, columns = _ROLLUP.c.key, _ROLLUP.c
        elif by in _CHARGE_KEYS:
            query = _from_charges(by)
            key, columns = _CHARGE.c.job, _CHARGE.c
        else:
            raise UnknownDimensionError(by)
        query = query.where(columns.day >= since, columns.day < until)
        if job is not None:
            query = query.where(key == normalise_job(job))
        if account is not None:
            query = query.where(columns.account == account)
        if team is not None:
            query = query.where(key.in_(select(_JOB.c.job).where(_JOB.c.team == team)))
        cells = self._cells(query)
        if by == "service" and cells and not any(cell.key for cell in cells):
            message = "the stored data does not say which service each charge is for"
            raise NeedsExportError(message)
        return cells

    def _cells(self, query: Select[Any]) -> list[CostCellOfDay]:
        currency = self.currency() or USD
        return [
            CostCellOfDay(
                key=key,
                account=account,
                day=day,
                is_credit=bool(is_credit),
                billed=Money(int(billed), currency),
                effective=Money(int(effective), currency),
                list_cost=None if listed is None else Money(int(listed), currency),
                charges=int(charges),
                is_estimated=bool(estimated),
            )
            for (
                day, account, key, is_credit, billed, effective, listed, charges, estimated
            ) in self._session.connection().execute(query).all()
        ]  # fmt: skip

    def job_record(self, job: str) -> JobRecord | None:
        """Return what is known of a job; None when neither bill nor fleet named it."""
        return job_record(self._session, job)

    def job_names(self) -> Sequence[str]:
        """Return every known job id, sorted."""
        return list(
            self._session.execute(select(_JOB.c.job).order_by(_JOB.c.job)).scalars()
        )

    def job_records(self) -> Sequence[JobRecord]:
        """Return every known job, sorted by id."""
        return job_records(self._session)

    def billed_instance_hours(
        self, account: str, since: date, until: date
    ) -> Mapping[date, float]:
        """Return instance hours of GPU types that the bill holds, by day.

        Every stored day of the account appears, a day without GPU hours with 0.
        """
        rows = self._session.connection().execute(
            select(_CHARGE.c.day, _CHARGE.c.usage_type, _CHARGE.c.quantity).where(
                _CHARGE.c.account == account,
                _CHARGE.c.day >= since,
                _CHARGE.c.day < until,
                _CHARGE.c.quantity.is_not(None),
                _CHARGE.c.usage_type.like("%:%"),
            )
        )
        hours: dict[date, Decimal] = {}
        for day, usage_type, quantity in rows:
            if is_instance_usage(usage_type):
                hours[day] = hours.get(day, Decimal(0)) + Decimal(quantity)
        stored = self._session.connection().execute(
            select(_ROLLUP.c.day)
            .where(
                _ROLLUP.c.account == account,
                _ROLLUP.c.day >= since,
                _ROLLUP.c.day < until,
            )
            .distinct()
        )
        for (day,) in stored:
            hours.setdefault(day, Decimal(0))
        return {day: float(amount) for day, amount in sorted(hours.items())}


def is_instance_usage(usage_type: str) -> bool:
    """Tell whether a usage type counts hours of an instance type with GPUs.

    >>> is_instance_usage("USE2-BoxUsage:p5.48xlarge"), is_instance_usage("BoxUsage:c5.large")
    (True, False)
    """
    what, _, instance_type = usage_type.rpartition(":")
    what = what.rpartition("-")[2]
    counts = what in _INSTANCE_USAGE
    return counts and is_gpu_type(instance_type)


#: Kinds of EC2 usage that are hours of an instance, however they were bought.
_INSTANCE_USAGE = frozenset(
    {"BoxUsage", "SpotUsage", "DedicatedUsage", "HostBoxUsage", "ReservedBoxUsage"}
)


@cache
def _from_rollup(by: str) -> Select[Any]:
    columns = _ROLLUP.c
    query = _grouped(
        _ROLLUP_KEYS[by], columns, columns.is_credit, charges=func.sum(columns.charges)
    )
    if by == "team":
        return query.select_from(_ROLLUP.outerjoin(_JOB, _JOB.c.job == columns.key))
    return query.select_from(_ROLLUP)


@cache
def _from_charges(by: str) -> Select[Any]:
    columns = _CHARGE.c
    is_credit = columns.category.in_(sorted(CREDIT_CATEGORIES))
    return _grouped(
        _CHARGE_KEYS[by], columns, is_credit, charges=func.count()
    ).select_from(_CHARGE)


def _grouped(
    key: ColumnElement[str],
    columns: Any,  # noqa: ANN401 - a table's columns by name
    is_credit: ColumnElement[bool],
    *,
    charges: ColumnElement[int],
) -> Select[Any]:
    """Return the sums of one table; a missing list cost leaves its sum unknown."""
    listed = case(
        (func.count(columns.list_cost) == func.count(), func.sum(columns.list_cost))
    )
    keys = (
        columns.day,
        columns.account,
        key.label("cell_key"),
        is_credit.label("credit"),
    )
    return (
        select(
            *keys,
            func.sum(columns.billed),
            func.sum(columns.effective),
            listed,
            charges,
            func.max(case((columns.is_estimated, 1), else_=0)),
        )
        .group_by(columns.day, columns.account, "cell_key", "credit")
        .order_by(columns.day, columns.account, "cell_key", "credit")
    )
