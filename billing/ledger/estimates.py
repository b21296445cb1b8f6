"""Estimates and finished runs within one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlalchemy import and_, delete, func, insert, select
from sqlmodel import Session

from billing.core.charges import CostCategory, PricingCategory
from billing.core.estimate_history import FinishedRun, PastEstimate
from billing.core.money import Money
from billing.core.prices import Purchase
from billing.ledger.anomalies import SqlAnomalies
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from billing.ledger.tables import AccountStateRow, ChargeRow
from billing.ledger.tables_estimates import EstimateRow, FinishedRunRow

_ESTIMATE = table_of(EstimateRow)
_RUN = table_of(FinishedRunRow)
_CHARGE = table_of(ChargeRow)
_ACCOUNT = table_of(AccountStateRow)

#: Newest estimates and runs that are read back; older ones teach little.
ESTIMATES_MAX = 2_000
RUNS_MAX = 1_000
#: A bill knows days only: an estimate of the day its job began was made before it.
GRACE = timedelta(days=1)


class SqlEstimates(SqlAnomalies):
    """Estimates and finished runs within one session."""

    _session: Session

    def record_estimate(self, made: PastEstimate) -> None:
        """Keep an estimate; its id is given here."""
        self._session.connection().execute(
            insert(_ESTIMATE).values(
                made_at=made.made_at,
                job=made.job,
                request_id=made.request_id,
                instance_type=made.instance_type,
                count=made.count,
                hours=str(made.hours),
                purchase=made.purchase.value,
                region=made.region,
                currency=made.base.currency,
                base=made.base.nanos,
                low=made.low.nanos,
                expected=made.expected.nanos,
                high=made.high.nanos,
            )
        )

    def past_estimates(self) -> Sequence[PastEstimate]:
        """Return the newest estimates that named a job, with its cost where it is over.

        One made after its job had begun is no prediction, and is left out.
        """
        joined = _ESTIMATE.outerjoin(
            _RUN,
            and_(
                _RUN.c.job == _ESTIMATE.c.job, _RUN.c.currency == _ESTIMATE.c.currency
            ),
        )
        rows = self._session.connection().execute(
            select(_ESTIMATE, _RUN.c.cost, _RUN.c.started_at)
            .select_from(joined)
            .where(_ESTIMATE.c.job != "")
            .order_by(_ESTIMATE.c.estimate_id.desc())
            .limit(ESTIMATES_MAX)
        )
        return [
            _past(row)
            for row in rows
            if row.started_at is None or row.made_at <= row.started_at + GRACE
        ]

    def finished_runs(self) -> Sequence[FinishedRun]:
        """Return runs that are over and billed, the newest first."""
        rows = self._session.connection().execute(
            select(_RUN).order_by(_RUN.c.finished_at.desc(), _RUN.c.job).limit(RUNS_MAX)
        )
        return [_run(row) for row in rows]

    def finished_read_at(self) -> Mapping[str, tuple[datetime, datetime]]:
        """Return, per job on record as over, when it ended and when that was read."""
        rows = self._session.connection().execute(
            select(_RUN.c.job, _RUN.c.finished_at, _RUN.c.read_at)
        )
        return {row.job: (row.finished_at, row.read_at) for row in rows}

    def record_finished(self, runs: Sequence[FinishedRun], now: datetime) -> None:
        """Keep finished runs; a job that is there already is replaced."""
        # Two readers may come at once: they read the same, so the first one stays.
        connection = self._session.connection()
        for run in runs:
            connection.execute(delete(_RUN).where(_RUN.c.job == run.job))
            connection.execute(
                insert_or_nothing(self._session, FinishedRunRow).values(
                    job=run.job,
                    instance_type=run.instance_type,
                    count=run.count,
                    hours=str(run.hours),
                    currency=run.cost.currency,
                    cost=run.cost.nanos,
                    started_at=run.started_at,
                    finished_at=run.finished_at,
                    read_at=now,
                )
            )

    def paid_share(self, family: str, since: date, until: date) -> Fraction | None:
        """Return effective over list cost of a family's hours that were not spot.

        None when the bill of ``[since, until)`` does not tell list cost.
        """
        row = (
            self._session.connection()
            .execute(
                select(
                    func.sum(_CHARGE.c.effective).label("paid"),
                    func.sum(_CHARGE.c.list_cost).label("listed"),
                ).where(
                    _CHARGE.c.account.in_(select(_ACCOUNT.c.account)),
                    _CHARGE.c.day >= since,
                    _CHARGE.c.day < until,
                    _CHARGE.c.cost_category == CostCategory.COMPUTE.value,
                    _CHARGE.c.pricing.in_(
                        [
                            PricingCategory.STANDARD.value,
                            PricingCategory.COMMITTED.value,
                        ]
                    ),
                    _CHARGE.c.usage_type.like(f"%:{family}.%"),
                    _CHARGE.c.list_cost > 0,
                )
            )
            .one()
        )
        return Fraction(int(row.paid), int(row.listed)) if row.listed else None


def _past(row: Any) -> PastEstimate:  # noqa: ANN401 - a row of the tables
    currency = row.currency
    return PastEstimate(
        estimate_id=row.estimate_id,
        job=row.job,
        instance_type=row.instance_type,
        count=row.count,
        hours=Fraction(row.hours),
        purchase=Purchase(row.purchase),
        region=row.region,
        base=Money(row.base, currency),
        low=Money(row.low, currency),
        expected=Money(row.expected, currency),
        high=Money(row.high, currency),
        made_at=row.made_at,
        request_id=row.request_id,
        actual=None if row.cost is None else Money(row.cost, currency),
    )


def _run(row: Any) -> FinishedRun:  # noqa: ANN401 - a row of the table
    return FinishedRun(
        job=row.job,
        instance_type=row.instance_type,
        count=row.count,
        hours=Fraction(row.hours),
        cost=Money(row.cost, row.currency),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
