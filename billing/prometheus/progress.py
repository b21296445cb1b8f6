"""Counters of jobs that Prometheus scrapes, as reports of progress.

A query names the job in a label. Of several series of one job the largest value counts:
ranks tell the same counter, and one that lags is no restart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Protocol

from billing.core.attribution import normalise_job
from billing.core.progress import COUNT_MAX, Counter, ProgressReport
from billing.prometheus.client import Series


class Answers(Protocol):
    """What is asked: Prometheus, or a double of it."""

    def at(self, query: str, instant: datetime) -> Sequence[Series]:
        """Return the series of a query at one instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressQuestion:
    """One counter to ask for.

    Attributes:
        query: PromQL; one series for each job.
        job_label: The label that names the job.
    """

    counter: Counter
    query: str
    job_label: str


def scraped_progress(
    source: Answers, question: ProgressQuestion, now: datetime
) -> Mapping[str, ProgressReport]:
    """Return how far each job is, as Prometheus knows it now.

    Series without a job, or whose value is no count, say nothing.

    Raises:
        SourceUnavailableError: Prometheus could not be asked.
    """
    found: dict[str, ProgressReport] = {}
    for one in source.at(question.query, now):
        job = normalise_job(one.labels.get(question.job_label, ""))
        if not job or not one.samples:
            continue
        second, text = one.samples[-1]
        value = _count(text)
        if value is None or (job in found and found[job].value >= value):
            continue
        at = datetime.fromtimestamp(second, UTC)
        found[job] = ProgressReport(counter=question.counter, at=at, value=value)
    return found


def _count(text: str) -> int | None:
    """Return a whole count; None for NaN, infinities, negative and absurd ones."""
    try:
        number = Decimal(text)
        if not number.is_finite() or not 0 <= number <= COUNT_MAX:
            return None
        return int(number)
    except InvalidOperation:
        return None
