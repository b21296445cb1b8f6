"""Counters of jobs that are CloudWatch metrics, as reports of progress.

A dimension names the job. Of several series of one job the largest value counts: ranks
tell the same counter, and one that lags is no restart. What it asks is counted like all
requests of CloudWatch. Must not know what progress is used for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from billing.aws.billable import billable_units
from billing.aws.calls import Place, pages, whole
from billing.aws.metrics import BATCH_SIZE, GET_DATA, LIST_METRICS, SOURCE
from billing.aws.scopes import Scope, read_scopes
from billing.aws.session import AwsClients
from billing.core.attribution import normalise_job
from billing.core.fleet import ScopeFailure
from billing.core.periods import utc
from billing.core.progress import COUNT_MAX, ProgressReport
from billing.ports.progress import MetricQuestion

#: How far back the newest value is looked for.
WINDOW = timedelta(minutes=30)
PERIOD_S = 60
#: The only value that AWS takes: metrics with a value in the last three hours.
RECENT = "PT3H"
PERMISSIONS = (LIST_METRICS.permission, GET_DATA.permission)


class CloudWatchProgress:
    """Reads how far jobs are in every configured account and region."""

    def __init__(self, clients: AwsClients, scopes: Sequence[Scope]) -> None:
        self._clients = clients
        self._scopes = tuple(scopes)

    def read(
        self, question: MetricQuestion, now: datetime
    ) -> tuple[Mapping[str, ProgressReport], Sequence[ScopeFailure]]:
        """Return how far each job is; a failing account and region is named."""
        found, failures = read_scopes(
            SOURCE,
            self._scopes,
            lambda account, region: list(
                self._reports(question, Place(account=account, region=region), now)
            ),
        )
        furthest: dict[str, ProgressReport] = {}
        for _, reports in found:
            for job, report in reports:
                if job not in furthest or furthest[job].value < report.value:
                    furthest[job] = report
        return furthest, failures

    def _reports(
        self, question: MetricQuestion, place: Place, now: datetime
    ) -> Iterator[tuple[str, ProgressReport]]:
        client = self._clients.client(
            "cloudwatch", account=place.account, region=place.region
        )
        metrics = _listed(client, question, place)
        for start in range(0, len(metrics), BATCH_SIZE):
            batch = metrics[start : start + BATCH_SIZE]
            newest = _newest(client, batch, place=place, now=now)
            for number, (at, value) in newest.items():
                job = normalise_job(_job_of(batch[number], question.dimension))
                count = _count(value)
                if job and count is not None:
                    yield (
                        job,
                        ProgressReport(counter=question.counter, at=at, value=count),
                    )


def _listed(
    client: Any, question: MetricQuestion, place: Place
) -> list[Mapping[str, Any]]:
    asked = {
        "Namespace": question.namespace,
        "MetricName": question.metric,
        "Dimensions": [{"Name": question.dimension}],
        "RecentlyActive": RECENT,
    }
    answers = pages(client, LIST_METRICS, asked, place=place)
    return [metric for answer in answers for metric in answer["Metrics"]]


def _newest(
    client: Any, batch: Sequence[Mapping[str, Any]], *, place: Place, now: datetime
) -> Mapping[int, tuple[datetime, float]]:
    """Return the newest value of each metric of a batch that has one."""
    ids = {f"m{number}": number for number in range(len(batch))}
    asked = {
        "MetricDataQueries": [
            {
                "Id": name,
                "MetricStat": {
                    "Metric": {
                        key: batch[number][key]
                        for key in ("Namespace", "MetricName", "Dimensions")
                    },
                    "Period": PERIOD_S,
                    "Stat": "Maximum",
                },
                "ReturnData": True,
            }
            for name, number in ids.items()
        ],
        "StartTime": now - WINDOW,
        "EndTime": now,
        "ScanBy": "TimestampDescending",
    }
    newest: dict[int, tuple[datetime, float]] = {}
    with billable_units(len(batch)):
        for answer in pages(client, GET_DATA, asked, place=place):
            with whole(GET_DATA, place):
                for result in answer["MetricDataResults"]:
                    number = ids[result["Id"]]
                    points = zip(result["Timestamps"], result["Values"], strict=True)
                    told = [(utc(at), float(value)) for at, value in points]
                    held = [newest[number]] if number in newest else []
                    if told or held:
                        newest[number] = max([*told, *held])
    return newest


def _job_of(metric: Mapping[str, Any], dimension: str) -> str:
    held = {str(one["Name"]): str(one["Value"]) for one in metric["Dimensions"]}
    return held.get(dimension, "")


def _count(value: float) -> int | None:
    """Return a whole count; None for NaN, negative and absurd values."""
    return int(value) if 0 <= value <= COUNT_MAX else None
