"""What jobs report and how busy their instances were, as a protocol; SQL implements it.

Names roles only: no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from billing.core.periods import Period
from billing.core.progress import Counter, ProgressReport


@dataclass(frozen=True, slots=True, kw_only=True)
class HourOfUse:
    """How busy the accelerators of one instance were within one hour.

    Attributes:
        hour: Its first instant.
        gpu_pct: Mean over its accelerators and points, 0-100.
        covered_s: Seconds of the hour that the points cover; the rest is unknown.
    """

    resource_id: str
    hour: datetime
    gpu_pct: float
    covered_s: int


class ProgressLedger(Protocol):
    """Progress of jobs, and hours of use."""

    def record_progress(
        self, job: str, reports: Sequence[ProgressReport], *, by: str, now: datetime
    ) -> None:
        """Keep reports; of one counter and instant the newest counts."""

    def progress_reports(
        self, job: str, counter: Counter | None = None
    ) -> Sequence[ProgressReport]:
        """Return what a job reported, by counter, then time."""

    def record_use(self, hours: Sequence[HourOfUse]) -> None:
        """Keep hours of use; an hour read again replaces what was known of it."""

    def hours_of_use(
        self, resource_ids: Sequence[str], period: Period
    ) -> Sequence[HourOfUse]:
        """Return the hours of use that begin in a period, by resource and hour."""

    def last_hour_of_use(self) -> datetime | None:
        """Return the newest hour that is known of any resource; None when none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricQuestion:
    """One counter of jobs that a metric service knows.

    Attributes:
        dimension: The dimension whose value names the job.
    """

    counter: Counter
    namespace: str
    metric: str
    dimension: str
