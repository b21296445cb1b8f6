"""Findings of AWS Cost Anomaly Detection, of the payer or the caller's own account.

AWS keeps them for 90 days and filters by the day on which they ended. Each page is
counted as a request to Cost Explorer. Must not know what is done about a finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from billing.aws.calls import Call, pages, whole
from billing.aws.ce_calls import REGION
from billing.aws.session import AwsClients
from billing.core.money import USD, Money
from billing.core.periods import DAY
from billing.ports.anomalies import AwsAnomaly

SOURCE = "anomalies"
#: AWS keeps findings for so long.
KEPT = timedelta(days=90)
PAGE_SIZE = 100
_NANOS = Decimal(10) ** 9

ANOMALIES = Call(
    source=SOURCE,
    method="get_anomalies",
    permission="ce:GetAnomalies",
    required=("Anomalies",),
    page_in="NextPageToken",
    page_out="NextPageToken",
)
PERMISSIONS = (ANOMALIES.permission,)


class CostAnomalyDetection:
    """Reads findings with the caller's own credentials."""

    def __init__(self, clients: AwsClients) -> None:
        self._clients = clients

    def anomalies(self, since: date, until: date) -> Sequence[AwsAnomaly]:
        """Return findings that ended in ``[since, until)`` or go on, newest first."""
        client = self._clients.client("ce", region=REGION)
        last = until - DAY  # its end is included
        asked = {
            "DateInterval": {
                "StartDate": max(since, last - KEPT).isoformat(),
                "EndDate": last.isoformat(),
            },
            "MaxResults": PAGE_SIZE,
        }
        found: list[AwsAnomaly] = []
        for answer in pages(client, ANOMALIES, asked):
            with whole(ANOMALIES):
                found += [_anomaly(one) for one in answer["Anomalies"]]
        return sorted(found, key=lambda one: (one.since, one.anomaly_id), reverse=True)


def _anomaly(row: Mapping[str, Any]) -> AwsAnomaly:
    impact = row["Impact"]
    cause = _largest(row.get("RootCauses") or [])
    total = impact.get("TotalImpact")
    end = row.get("AnomalyEndDate")
    return AwsAnomaly(
        anomaly_id=row["AnomalyId"],
        since=_day(row["AnomalyStartDate"]),
        until=_day(end) if end else None,
        service=cause.get("Service") or row.get("DimensionValue") or "",
        region=cause.get("Region") or "",
        account=cause.get("LinkedAccount") or "",
        usage_type=cause.get("UsageType") or "",
        impact=_dollars(impact["MaxImpact"] if total is None else total),
        expected=_dollars_or_none(impact.get("TotalExpectedSpend")),
        actual=_dollars_or_none(impact.get("TotalActualSpend")),
        monitor=row["MonitorArn"].rpartition("/")[2],
        feedback=row.get("Feedback") or "",
    )


def _largest(causes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the cause that contributed most; AWS need not say how much each did."""
    return max(
        causes,
        key=lambda one: (one.get("Impact") or {}).get("Contribution", 0.0),
        default={},
    )


def _day(text: str) -> date:
    return date.fromisoformat(text[:10])


def _dollars(amount: float) -> Money:
    """Read what AWS sends as a JSON number: a cent's worth of digits, rounded once."""
    return Money(int((Decimal(repr(amount)) * _NANOS).to_integral_value()), USD)


def _dollars_or_none(amount: float | None) -> Money | None:
    return None if amount is None else _dollars(amount)
