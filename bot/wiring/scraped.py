"""Progress of jobs that Prometheus scrapes, kept as if the jobs had reported it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from billing.ports import SourceUnavailableError
from billing.prometheus.client import Prometheus
from billing.prometheus.progress import Answers, ProgressQuestion, scraped_progress
from bot.use_cases.due import Every
from bot.use_cases.progress import ReportTimeError, record_progress
from bot.use_cases.runner import Task
from bot.wiring.application import Application

log = structlog.get_logger()

#: How often the configured queries are asked.
SCRAPED_EVERY = timedelta(minutes=1)
REPORTER = "prometheus"


def progress_tasks(application: Application) -> list[Task]:
    """Return the task that asks for progress; none where nothing is configured."""
    if not application.settings.config.prometheus.progress:
        return []
    read = ScrapedProgress.of(application).read
    return [Task(name="progress", schedule=Every(SCRAPED_EVERY), run=read)]


@dataclass(frozen=True)
class ScrapedProgress:
    """Asks the configured queries, each on its own: one that fails leaves the others."""

    application: Application
    source: Answers

    @classmethod
    def of(cls, application: Application) -> ScrapedProgress:
        """Ask the configured Prometheus."""
        url = application.settings.config.prometheus.url
        return cls(application, Prometheus(url))

    def read(self, slot: datetime) -> None:
        """Keep how far every job is now."""
        del slot
        now = self.application.now()
        for one in self.application.settings.config.prometheus.progress:
            question = ProgressQuestion(
                counter=one.counter, query=one.query, job_label=one.job_label
            )
            try:
                found = scraped_progress(self.source, question, now)
            except SourceUnavailableError as error:
                log.warning("progress_not_read", counter=one.counter, code=error.code)
                continue
            for job, report in found.items():
                try:
                    record_progress(
                        self.application.store, job, [report], by=REPORTER, now=now
                    )
                except ReportTimeError:
                    log.warning("progress_not_believed", counter=one.counter)
