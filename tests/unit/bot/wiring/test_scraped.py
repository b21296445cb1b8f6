"""Progress that Prometheus scrapes: the largest count of each job, nothing made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from pydantic import ValidationError

from billing.core.progress import Counter, ProgressReport
from billing.ports import RequestBudgetError, SourceUnavailableError
from billing.prometheus.client import Series
from billing.prometheus.progress import ProgressQuestion, scraped_progress
from bot.settings.sections import Config
from bot.wiring.metric_progress import MetricProgress, metric_progress_tasks
from bot.wiring.scraped import ScrapedProgress, progress_tasks
from tests.builders import NOW, at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from billing.core.fleet import ScopeFailure
    from billing.ports.progress import MetricQuestion
    from bot.unit_of_work import SqlStore

STEPS = ProgressQuestion(counter=Counter.STEPS, query="steps", job_label="job_id")
CONFIG = {
    "prometheus": {
        "url": "http://127.0.0.1:1",
        "progress": [
            {"counter": "steps", "query": "gone"},
            {"counter": "tokens", "query": "tokens", "job_label": "run"},
        ],
    }
}


@dataclass
class Scraped:
    """A Prometheus that knows its answers by query; others fail."""

    known: dict[str, list[Series]] = field(default_factory=dict)

    def at(self, query: str, instant: datetime) -> Sequence[Series]:
        del instant
        if query not in self.known:
            raise SourceUnavailableError("metrics", "it is gone")
        return self.known[query]


def _series(job: str, value: str, label: str = "job_id") -> Series:
    return Series(labels={label: job}, samples=((NOW.timestamp(), value),))


def test_of_several_ranks_the_one_that_is_ahead_counts() -> None:
    source = Scraped({"steps": [_series("Job-1", "995"), _series("job-1", "1000"),
                                _series("job-1", "990"), _series("job-2", "7")]})  # fmt: skip

    found = scraped_progress(source, STEPS, NOW)

    assert {job: (one.value, one.at) for job, one in found.items()} == {
        "job-1": (1000, NOW),
        "job-2": (7, NOW),
    }


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "1e40", "many", ""])
def test_what_is_no_count_says_nothing(value: str) -> None:
    assert (
        scraped_progress(Scraped({"steps": [_series("job-1", value)]}), STEPS, NOW)
        == {}
    )


def test_a_series_without_a_job_or_a_sample_says_nothing() -> None:
    series = [_series(" ", "5"), Series(labels={"job_id": "job-1"}, samples=())]

    assert scraped_progress(Scraped({"steps": series}), STEPS, NOW) == {}


def _application(store: SqlStore, config: dict[str, Any]) -> Any:
    settings = SimpleNamespace(config=Config.model_validate(config))
    return cast("Any", SimpleNamespace(store=store, settings=settings, now=lambda: NOW))


def test_a_query_that_fails_leaves_the_others_alone(store: SqlStore) -> None:
    old = Series(
        labels={"run": "job-2"}, samples=((at("1999-01-01").timestamp(), "5"),)
    )
    source = Scraped({"tokens": [_series("job-1", "2.5e9", label="run"), old]})

    ScrapedProgress(_application(store, CONFIG), source).read(NOW)

    with store.read() as unit:
        (one,) = unit.ledger.progress_reports("job-1")
        assert unit.ledger.progress_reports("job-2") == []
    assert (one.counter, one.value) == (Counter.TOKENS, 2_500_000_000)


def test_there_is_a_task_only_where_something_is_asked_for(store: SqlStore) -> None:
    assert progress_tasks(_application(store, {})) == []
    (task,) = progress_tasks(_application(store, CONFIG))
    assert task.name == "progress"


def test_a_query_without_anybody_to_ask_is_refused() -> None:
    with pytest.raises(ValidationError, match="progress needs a url"):
        Config.model_validate(
            {"prometheus": {"progress": CONFIG["prometheus"]["progress"]}}
        )


METRICS = {
    "progress": {
        "cloudwatch": [
            {"counter": "steps", "namespace": "Training", "metric": "gone"},
            {"counter": "tokens", "namespace": "Training", "metric": "tokens"},
        ]
    }
}


class Published:
    """A CloudWatch that knows one metric; reading another is over the budget."""

    def read(
        self, question: MetricQuestion, now: datetime
    ) -> tuple[Mapping[str, ProgressReport], Sequence[ScopeFailure]]:
        if question.metric != "tokens":
            raise RequestBudgetError("metrics", "the day's budget is used up")
        report = ProgressReport(counter=question.counter, at=now, value=2500)
        return {"job-1": report}, ()


def test_a_metric_over_the_budget_leaves_the_others_alone(store: SqlStore) -> None:
    MetricProgress(_application(store, METRICS), Published()).read(NOW)

    with store.read() as unit:
        (one,) = unit.ledger.progress_reports("job-1")
    assert (one.counter, one.value) == (Counter.TOKENS, 2500)


def test_metrics_are_read_only_where_they_are_configured(store: SqlStore) -> None:
    assert metric_progress_tasks(_application(store, {})) == []
    (task,) = metric_progress_tasks(_application(store, METRICS))
    assert task.name == "progress-metrics"
