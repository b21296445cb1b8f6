"""Progress of jobs that CloudWatch knows, kept as if the jobs had reported it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from billing.core.fleet import ScopeFailure
from billing.core.progress import ProgressReport
from billing.ports import SourceUnavailableError
from billing.ports.progress import MetricQuestion
from bot.settings.progress import CloudWatchProgressSection
from bot.use_cases.due import Every
from bot.use_cases.progress import ReportTimeError, record_progress
from bot.use_cases.runner import Task
from bot.wiring.application import Application

log = structlog.get_logger()

#: Each reading costs $0.01 per 1,000 metrics; a job that is asked every five minutes
#: about $0.003 a day.
READ_EVERY = timedelta(minutes=5)
REPORTER = "cloudwatch"


class Counters(Protocol):
    """What is asked: CloudWatch, or a double of it."""

    def read(
        self, question: MetricQuestion, now: datetime
    ) -> tuple[Mapping[str, ProgressReport], Sequence[ScopeFailure]]:
        """Return how far each job is, and what could not be read."""


def metric_progress_tasks(application: Application) -> list[Task]:
    """Return the task that asks for progress; none where nothing is configured."""
    if not application.settings.config.progress.cloudwatch:
        return []
    return [
        Task(
            name="progress-metrics",
            schedule=Every(READ_EVERY),
            run=lambda slot: MetricProgress.of(application).read(slot),
        )
    ]


@dataclass(frozen=True)
class MetricProgress:
    """Asks the configured metrics, each on its own: one that fails leaves the others."""

    application: Application
    source: Counters

    @classmethod
    def of(cls, application: Application) -> MetricProgress:
        """Ask every configured account and region."""
        return cls(application, application.aws.progress())

    def read(self, slot: datetime) -> None:
        """Keep how far every job is now."""
        del slot
        for one in self.application.settings.config.progress.cloudwatch:
            try:
                self._read(one)
            except SourceUnavailableError as error:
                _failed(one, error.code)

    def _read(self, one: CloudWatchProgressSection) -> None:
        now = self.application.now()
        question = MetricQuestion(
            counter=one.counter, namespace=one.namespace,
            metric=one.metric, dimension=one.dimension,
        )  # fmt: skip
        found, failures = self.source.read(question, now)
        for failure in failures:
            _failed(one, failure.code, failure.account, failure.region)
        for job, report in found.items():
            try:
                record_progress(
                    self.application.store, job, [report], by=REPORTER, now=now
                )
            except ReportTimeError:
                log.warning("progress_not_believed", counter=one.counter)


def _failed(
    one: CloudWatchProgressSection, code: str, account: str = "", region: str = ""
) -> None:
    log.warning(
        "progress_not_read", counter=one.counter, metric=one.metric,
        code=code, account=account, region=region,
    )  # fmt: skip
