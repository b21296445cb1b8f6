"""Counters of jobs as CloudWatch metrics: the furthest of each job, nothing made up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from billing.aws.progress_metrics import CloudWatchProgress
from billing.core.progress import Counter
from billing.ports.progress import MetricQuestion
from deploy.sandbox.aws.world import Account, MetricSeed
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws

STEPS = MetricQuestion(
    counter=Counter.STEPS, namespace="Training", metric="steps", dimension="job_id"
)
HERE = (PAYER, "us-east-1")


def steps(job: str, *values: float, minutes_ago: int = 10, **other: Any) -> MetricSeed:
    start = NOW - timedelta(minutes=minutes_ago)
    dimensions = {"job_id": job} | other.pop("dimensions", {})
    return MetricSeed(
        namespace="Training",
        name=other.pop("name", "steps"),
        dimensions=dimensions,
        points=[
            (start + timedelta(minutes=n), value) for n, value in enumerate(values)
        ],
        unit="Count",
        **other,
    )


def read(aws: Aws, *scopes: tuple[str, str]) -> dict[str, int]:
    source = CloudWatchProgress(aws.clients(), scopes or (HERE,))
    found, failures = source.read(STEPS, NOW)
    assert not failures
    return {job: report.value for job, report in found.items()}


def test_the_newest_value_of_the_rank_that_is_ahead_counts(aws: Aws) -> None:
    aws.serve(
        metrics=[
            steps("Job-1", 10, 20, dimensions={"rank": "0"}),
            steps("job-1", 10, 30, 31, dimensions={"rank": "1"}),
            steps("job-2", 7),
        ]
    )

    assert read(aws) == {"job-1": 31, "job-2": 7}


def test_a_restart_shows_as_the_smaller_value_that_is_newer(aws: Aws) -> None:
    aws.serve(metrics=[steps("job-1", 900, 1000, 400)])

    assert read(aws) == {"job-1": 400}


def test_old_negative_and_other_metrics_say_nothing(aws: Aws) -> None:
    aws.serve(
        metrics=[
            steps("old", 5, minutes_ago=90),
            steps("negative", -1),
            steps("other", 5, name="loss"),
        ]
    )

    assert read(aws) == {}


def test_more_metrics_than_one_request_takes_are_all_read_and_counted(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("billing.aws.progress_metrics.BATCH_SIZE", 2)
    sandbox = aws.serve(metrics=[steps(f"job-{n}", n) for n in range(5)])

    assert read(aws) == {f"job-{n}": n for n in range(5)}
    assert len(sandbox.requests.of("GetMetricData")) == 3


def test_an_account_that_refuses_is_named_and_the_others_are_read(aws: Aws) -> None:
    sandbox = aws.serve(accounts=[Account(id=MEMBER)], metrics=[steps("job-1", 5)])
    sandbox.faults.add(kind="deny", service="cloudwatch", region="us-west-2")

    source = CloudWatchProgress(aws.clients(), [HERE, (PAYER, "us-west-2")])
    found, failures = source.read(STEPS, NOW)

    assert list(found) == ["job-1"]
    assert [(one.account, one.region) for one in failures] == [(PAYER, "us-west-2")]
    assert failures[0].code
