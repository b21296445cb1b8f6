"""Findings of AWS kept within one session, and fees that explain a day's cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import delete, func, or_, select
from sqlmodel import Session

from billing.core.charges import ChargeCategory
from billing.core.money import USD, Money
from billing.core.periods import rfc3339, utc
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from billing.ledger.tables import AccountStateRow, ChargeRow, LedgerProperty
from billing.ledger.tables_estimates import AwsAnomalyRow
from billing.ports.anomalies import AwsAnomaly
from billing.ports.estimates import Fee

_ANOMALY = table_of(AwsAnomalyRow)
_CHARGE = table_of(ChargeRow)
_ACCOUNT = table_of(AccountStateRow)
_PROPERTY = table_of(LedgerProperty)

#: Where the ledger keeps when AWS was last asked; an answer may be empty.
READ_AT = "aws_anomalies_read_at"
_TEXTS = (
    "anomaly_id",
    "service",
    "region",
    "account",
    "usage_type",
    "monitor",
    "feedback",
)


class SqlAnomalies:
    """Findings of AWS, and fees, within one session."""

    _session: Session

    def aws_anomalies(self, since: date, until: date) -> Sequence[AwsAnomaly]:
        """Return kept findings that overlap ``[since, until)``, largest first."""
        rows = self._session.connection().execute(
            select(_ANOMALY)
            .where(_ANOMALY.c.since < until)
            .where(or_(_ANOMALY.c.until.is_(None), _ANOMALY.c.until >= since))
            .order_by(_ANOMALY.c.impact.desc(), _ANOMALY.c.anomaly_id)
        )
        return [_anomaly(row) for row in rows]

    def aws_anomalies_read_at(self) -> datetime | None:
        """Return when they were last read; None before the first time."""
        text = (
            self._session.connection()
            .execute(select(_PROPERTY.c.value).where(_PROPERTY.c.name == READ_AT))
            .scalar_one_or_none()
        )
        return None if text is None else utc(datetime.fromisoformat(text))

    def keep_aws_anomalies(
        self, found: Sequence[AwsAnomaly], since: date, now: datetime
    ) -> None:
        """Replace the findings that ended since a day, or go on, by these."""
        connection = self._session.connection()
        ids = [one.anomaly_id for one in found]
        connection.execute(
            delete(_ANOMALY).where(
                or_(
                    _ANOMALY.c.until.is_(None),
                    _ANOMALY.c.until >= since,
                    _ANOMALY.c.anomaly_id.in_(ids),
                )
            )
        )
        if found:
            connection.execute(
                insert_or_nothing(self._session, AwsAnomalyRow),
                [_values(one, now) for one in found],
            )
        connection.execute(delete(_PROPERTY).where(_PROPERTY.c.name == READ_AT))
        connection.execute(
            insert_or_nothing(self._session, LedgerProperty).values(
                name=READ_AT, value=rfc3339(now)
            )
        )

    def fees(self, since: date, until: date) -> Sequence[Fee]:
        """Return what was paid at once for a longer time, by day, account and job."""
        rows = self._session.connection().execute(
            select(
                _CHARGE.c.day,
                _CHARGE.c.account,
                _CHARGE.c.job,
                _CHARGE.c.bucket,
                func.sum(_CHARGE.c.effective).label("paid"),
            )
            .where(
                _CHARGE.c.account.in_(select(_ACCOUNT.c.account)),
                _CHARGE.c.day >= since,
                _CHARGE.c.day < until,
                or_(
                    _CHARGE.c.category.in_(
                        [ChargeCategory.PURCHASE.value, ChargeCategory.FEE.value]
                    ),
                    _CHARGE.c.usage_type.like("%CapacityBlock%"),
                ),
            )
            .group_by(_CHARGE.c.day, _CHARGE.c.account, _CHARGE.c.job, _CHARGE.c.bucket)
        )
        return [
            Fee(
                day=row.day,
                account=row.account,
                job=row.job,
                bucket=row.bucket,
                nanos=int(row.paid),
            )
            for row in rows
        ]


def _values(one: AwsAnomaly, now: datetime) -> dict[str, Any]:
    texts = {name: getattr(one, name) for name in _TEXTS}
    return texts | {
        "since": one.since,
        "until": one.until,
        "currency": USD,
        "impact": one.impact.nanos,
        "expected": None if one.expected is None else one.expected.nanos,
        "actual": None if one.actual is None else one.actual.nanos,
        "read_at": now,
    }


def _anomaly(row: Any) -> AwsAnomaly:  # noqa: ANN401 - a row of the table
    def money(nanos: int | None) -> Money | None:
        return None if nanos is None else Money(nanos, row.currency)

    return AwsAnomaly(
        **{name: getattr(row, name) for name in _TEXTS},
        since=row.since,
        until=row.until,
        impact=Money(row.impact, row.currency),
        expected=money(row.expected),
        actual=money(row.actual),
    )
