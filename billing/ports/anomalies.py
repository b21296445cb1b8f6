"""Findings of AWS Cost Anomaly Detection: what they say, and who reads and keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol, runtime_checkable

from billing.core.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsAnomaly:
    """One finding of Cost Anomaly Detection.

    Attributes:
        until: Last day of it (included); None while it goes on.
        service / region / account / usage_type: Its largest root cause; "" if unknown.
        impact: What it cost over what AWS expected.
        expected / actual: None when AWS does not say.
        monitor: Name at the end of the monitor's ARN.
        feedback: ``YES``, ``NO`` or ``PLANNED_ACTIVITY`` as somebody marked it; "".
    """

    anomaly_id: str
    since: date
    until: date | None
    service: str
    region: str
    account: str
    usage_type: str
    impact: Money
    expected: Money | None
    actual: Money | None
    monitor: str
    feedback: str


class AnomalySource(Protocol):
    """Reads findings from AWS."""

    def anomalies(self, since: date, until: date) -> Sequence[AwsAnomaly]:
        """Return findings that ended in ``[since, until)`` or go on, newest first.

        Raises:
            SourceUnavailableError: AWS could not be asked.
        """


@runtime_checkable
class AnomalyLedger(Protocol):
    """Findings of AWS as they were last read."""

    def aws_anomalies(self, since: date, until: date) -> Sequence[AwsAnomaly]:
        """Return kept findings that overlap ``[since, until)``, largest first."""

    def aws_anomalies_read_at(self) -> datetime | None:
        """Return when they were last read; None before the first time."""

    def keep_aws_anomalies(
        self, found: Sequence[AwsAnomaly], since: date, now: datetime
    ) -> None:
        """Replace the findings that ended since a day, or go on, by these."""
