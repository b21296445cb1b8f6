"""Questions about stored costs, each one short read.

What is asked by job, team, category or account touches daily rollups only; region,
service and purchase touch charges. Knows no view and no use case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
)

from billing.core.attribution import normalise_job
from billing.core.charges import CREDIT_CATEGORIES
from billing.core.gpus import is_gpu_type
from billing.core.money import USD
from billing.core.periods import utc
from billing.ledger.columns import table_of
from billing.ledger.database import execute, upsert
from billing.ledger.driver import Rows
from billing.ledger.existing import EXISTING
from billing.ledger.freshness import FRESHNESS, SqlFreshness
from billing.ledger.hot import Hot, days, instants, read_ahead
from billing.ledger.jobs import RECORD, job_record, job_records
from billing.ledger.tables import (
    AccountStateRow,
    ChargeRow,
    CostRollupRow,
    JobRow,
)
from billing.ledger.tables_teams import TeamRollupRow
from billing.ledger.teams import TEAM_OF_KEY, teams_of
from billing.ledger.transfer_cells import with_transfers
from billing.ports import CostCellOfDay, JobRecord, NeedsExportError

_ACCOUNT = table_of(AccountStateRow)
_ROLLUP = table_of(CostRollupRow)
_CHARGE = table_of(ChargeRow)
_JOB = table_of(JobRow)
_TEAMS = table_of(TeamRollupRow)

_ROLLUP_KEYS: Mapping[str, ColumnElement[str]] = {
    "": literal(""),
    "job": _ROLLUP.c.key,
    "category": _ROLLUP.c.cost_category,
    "account": _ROLLUP.c.account,
    "team": TEAM_OF_KEY,
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
        self._read_ahead()
        instant = instants(self._session)
        return {account: instant(end) for account, end in _THROUGH.rows(self._session)}

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
        filters = {
            "job": None if job is None else normalise_job(job),
            "team": team,
            "account": account,
        }
        given = {name: value for name, value in filters.items() if value is not None}
        question = _cells_of(by, tuple(given))
        cells = self._cells(
            question.rows(self._session, since=since, until=until, **given)
        )
        if by in _CHARGE_KEYS and (job is not None or team is not None):
            window = {"since": since, "until": until}
            currency = self.currency() or USD
            cells = with_transfers(
                self._session, by, cells, {**window, **given}, currency
            )
        if by == "service" and cells and not any(cell.key for cell in cells):
            message = "the stored data does not say which service each charge is for"
            raise NeedsExportError(message)
        return cells

    def _cells(self, rows: Rows) -> list[CostCellOfDay]:
        currency = self.currency() or USD
        read_day = days(self._session)
        return [
            CostCellOfDay(
                read_day(day),
                account,
                key,
                bool(is_credit),
                int(billed),
                int(effective),
                None if listed is None else int(listed),
                int(charges),
                bool(estimated),
                currency,
            )
            for (
                day, account, key, is_credit, billed, effective, listed, charges, estimated
            ) in rows
        ]  # fmt: skip

    def job_record(self, job: str) -> JobRecord | None:
        """Return what is known of a job; None when neither bill nor fleet named it."""
        self._read_ahead((RECORD, {"job": normalise_job(job)}))
        return job_record(self._session, job)

    def _read_ahead(self, *others: tuple[Hot, dict[str, Any]]) -> None:
        """Read what every answer asks first."""
        first = (_THROUGH, FRESHNESS, EXISTING)
        read_ahead(self._session, *others, *((one, {}) for one in first))

    def job_names(self) -> Sequence[str]:
        """Return every known job id, sorted."""
        return list(
            self._session.execute(select(_JOB.c.job).order_by(_JOB.c.job)).scalars()
        )

    def job_records(self) -> Sequence[JobRecord]:
        """Return every known job, sorted by id."""
        return job_records(self._session)

    def job_teams(self, jobs: Collection[str]) -> Mapping[str, str]:
        """Return the team of each job that is known; "" where it has none."""
        return teams_of(self._session, jobs)

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
def _cells_of(by: str, filters: tuple[str, ...]) -> Hot:
    """Return the question for the cells of a dimension with the named filters."""
    if by in _CHARGE_KEYS:
        query, columns, key = _from_charges(by), _CHARGE.c, _CHARGE.c.job
    elif by not in _ROLLUP_KEYS:
        raise UnknownDimensionError(by)
    elif by == "category" and "job" in filters:
        return _only(_of_one_key(), _ROLLUP.c, _ROLLUP.c.key, filters)
    elif by != "job" and "job" not in filters:
        return _only(_from_teams(by), _TEAMS.c, _TEAMS.c.team, filters)
    else:
        query, columns, key = _from_rollup(by), _ROLLUP.c, _ROLLUP.c.key
    return _only(query, columns, key, filters)


def _only(
    query: Select[Any],
    columns: Any,  # noqa: ANN401 - a table's columns by name
    key: ColumnElement[str],
    filters: tuple[str, ...],
) -> Hot:
    """Return the question with its window and filters as parameters."""
    wanted = {
        name: bindparam(name, type_=String(), required=True)
        for name in ("job", "team", "account")
    }
    of_team = (
        key == wanted["team"]
        if columns is _TEAMS.c
        else key.in_(select(_JOB.c.job).where(_JOB.c.team == wanted["team"]))
    )
    conditions = {
        "job": key == wanted["job"],
        "team": of_team,
        "account": columns.account == wanted["account"],
    }
    asked = query.where(
        columns.day >= bindparam("since", type_=Date(), required=True),
        columns.day < bindparam("until", type_=Date(), required=True),
        *(conditions[name] for name in filters),
    )
    return Hot(lambda _: asked)


def _from_rollup(by: str) -> Select[Any]:
    columns = _ROLLUP.c
    query = _grouped(
        _ROLLUP_KEYS[by],
        columns,
        columns.is_credit,
        listed=_known_list_cost(columns),
        charges=func.sum(columns.charges),
    )
    if by == "team":
        return query.select_from(_ROLLUP.outerjoin(_JOB, _JOB.c.job == columns.key))
    return query.select_from(_ROLLUP)


def _of_one_key() -> Select[Any]:
    """Return the rollup as it is: one key's rows are its cells by category."""
    columns = _ROLLUP.c
    order = (columns.day, columns.account, columns.cost_category, columns.is_credit)
    return select(
        *order,
        columns.billed,
        columns.effective,
        columns.list_cost,
        columns.charges,
        columns.is_estimated,
    ).order_by(*order)


def _from_teams(by: str) -> Select[Any]:
    columns = _TEAMS.c
    key = {
        "": literal(""),
        "team": columns.team,
        "category": columns.cost_category,
        "account": columns.account,
    }[by]
    return _grouped(
        key,
        columns,
        columns.is_credit,
        listed=case((func.sum(columns.unlisted) == 0, func.sum(columns.listed))),
        charges=func.sum(columns.charges),
    ).select_from(_TEAMS)


def _from_charges(by: str) -> Select[Any]:
    columns = _CHARGE.c
    credits_ = (columns.category == one.value for one in sorted(CREDIT_CATEGORIES))
    return _grouped(
        _CHARGE_KEYS[by],
        columns,
        or_(*credits_),
        listed=_known_list_cost(columns),
        charges=func.count(),
    ).select_from(_CHARGE)


def _known_list_cost(columns: Any) -> ColumnElement[Any]:  # noqa: ANN401 - columns
    """Return the sum of list cost; one that is missing leaves it unknown."""
    is_whole = func.count(columns.list_cost) == func.count()
    return case((is_whole, func.sum(columns.list_cost)))


def _grouped(
    key: ColumnElement[str],
    columns: Any,  # noqa: ANN401 - a table's columns by name
    is_credit: ColumnElement[bool],
    *,
    listed: ColumnElement[Any],
    charges: ColumnElement[int],
) -> Select[Any]:
    """Return the sums of one table by day, account, key and whether it is a credit."""
    estimated = (
        case((columns.estimated > 0, 1), else_=0)
        if columns is _TEAMS.c
        else case((columns.is_estimated, 1), else_=0)
    )
    return (
        select(
            columns.day,
            columns.account,
            key.label("cell_key"),
            is_credit.label("credit"),
            func.sum(columns.billed),
            func.sum(columns.effective),
            listed,
            charges,
            func.max(estimated),
        )
        .group_by(columns.day, columns.account, "cell_key", "credit")
        .order_by(columns.day, columns.account, "cell_key", "credit")
    )


_THROUGH = Hot(
    lambda _: select(_ACCOUNT.c.account, _ACCOUNT.c.billed_through).order_by(
        _ACCOUNT.c.account
    ),
    is_kept=True,
)
