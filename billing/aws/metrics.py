"""Signals of activity from CloudWatch.

Must not know what idle means. A request is priced by the metrics it asks for ($0.01
per 1,000) and counted before it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from billing.aws.billable import billable_units
from billing.aws.calls import Call, Place, pages, whole
from billing.aws.metric_series import (
    LISTED,
    Listed,
    Points,
    Series,
    batches,
    combine,
    ec2_series,
    listed_series,
)
from billing.aws.scopes import read_scopes
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.core.fleet import ScopeFailure
from billing.core.periods import Period, utc
from billing.ports import MetricSeries, SourceUnavailableError

SOURCE = Source.METRICS.value
#: GetMetricData takes at most this many metrics.
BATCH_SIZE = 500
#: States in which a metric's values can be used.
_USABLE = frozenset({"Complete", "PartialData"})

LIST_METRICS = Call(
    source=SOURCE,
    method="list_metrics",
    permission="cloudwatch:ListMetrics",
    required=("Metrics",),
    page_in="NextToken",
    page_out="NextToken",
)
GET_DATA = Call(
    source=SOURCE,
    method="get_metric_data",
    permission="cloudwatch:GetMetricData",
    required=("MetricDataResults",),
    page_in="NextToken",
    page_out="NextToken",
)
PERMISSIONS = (LIST_METRICS.permission, GET_DATA.permission)


class CloudWatchMetricSource:
    """Reads GPU, CPU, network and disk signals of instances."""

    def __init__(self, clients: AwsClients) -> None:
        self._clients = clients

    def series(
        self, resources: Sequence[tuple[str, str, str]], window: Period
    ) -> tuple[Sequence[MetricSeries], Sequence[ScopeFailure]]:
        """Read every signal of ``(account, region, resource_id)`` over a window.

        A failing account and region is named; a resource without a signal has none.
        """
        wanted: dict[tuple[str, str], set[str]] = {}
        for account, region, resource_id in resources:
            wanted.setdefault((account, region), set()).add(resource_id)

        def read(account: str, region: str) -> list[MetricSeries]:
            ids = frozenset(wanted[account, region])
            place = Place(account=account, region=region)
            return self._read(place, ids, window)

        found, failures = read_scopes(SOURCE, wanted, read)
        return [one for _, some in found for one in some], failures

    def _read(
        self, place: Place, ids: frozenset[str], window: Period
    ) -> list[MetricSeries]:
        client = self._clients.client(
            "cloudwatch", account=place.account, region=place.region
        )
        wanted = [one for instance_id in sorted(ids) for one in ec2_series(instance_id)]
        for listed in LISTED:
            metrics = _list(client, listed, place)
            with whole(LIST_METRICS, place):
                wanted += listed_series(listed, metrics, ids)
        found: list[tuple[Series, Points]] = []
        for batch in batches(wanted, BATCH_SIZE):
            found += _values(client, batch, window, place=place)
        return combine(found)


def _list(client: Any, listed: Listed, place: Place) -> list[Mapping[str, Any]]:
    asked = {"Namespace": listed.namespace, "MetricName": listed.name}
    answers = pages(client, LIST_METRICS, asked, place=place)
    return [metric for answer in answers for metric in answer["Metrics"]]


def _values(
    client: Any, batch: Sequence[Series], window: Period, *, place: Place
) -> Iterator[tuple[Series, Points]]:
    by_id = {f"m{number}": series for number, series in enumerate(batch)}
    asked = {
        "MetricDataQueries": [one.query(name) for name, one in by_id.items()],
        "StartTime": window.start,
        "EndTime": window.end,
        "ScanBy": "TimestampAscending",
    }
    points: dict[str, dict[datetime, float]] = {name: {} for name in by_id}
    with billable_units(len(batch)):
        for answer in pages(client, GET_DATA, asked, place=place):
            with whole(GET_DATA, place):
                for result in answer["MetricDataResults"]:
                    points[result["Id"]].update(_result(result, place))
    for name, series in by_id.items():
        yield series, points[name]


def _result(result: Mapping[str, Any], place: Place) -> dict[datetime, float]:
    """Return one metric's points of one page; partial data leaves gaps."""
    status = result.get("StatusCode", "Complete")
    if status not in _USABLE:
        message = (
            f"CloudWatch answered {status} for {result.get('Label', 'a metric')!r}"
        )
        raise SourceUnavailableError(
            SOURCE, message, account=place.account, region=place.region, cause=status
        )
    instants, values = result["Timestamps"], result["Values"]
    return {utc(at): float(value) for at, value in zip(instants, values, strict=True)}
