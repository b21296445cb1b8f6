"""CloudWatch's metrics: exact series by namespace, name and dimensions.

It must not know HTTP. moto matches dimensions loosely and scans everything for each
query, so the double keeps its own index and hides what lies in the clock's future.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import math
import re
import threading
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.world import MetricSeed

LIST_PAGE = 500
MAX_QUERIES = 500
MAX_POINTS = 100_800
LISTED_FOR = timedelta(days=14)
RECENT = timedelta(hours=3)
#: Points older than this are kept only in periods of at least so many seconds.
RETENTION = ((timedelta(days=63), 3600), (timedelta(days=15), 300))
QUERY_ID = re.compile(r"[a-z][a-zA-Z0-9_]*")
SHORT_PERIODS = {1, 5, 10, 20, 30}
MINUTE = 60
PAGES = PageRules(
    field="NextToken",
    unknown_code="InvalidParameterValue",
    changed_code="InvalidParameterValue",
)

SeriesKey = tuple[str, str, str, str, frozenset[tuple[str, str]]]


@dataclass(slots=True)
class Series:
    """The points of one series in order of time."""

    unit: str
    points: list[tuple[datetime, float]] = field(default_factory=list)

    def between(self, start: datetime, end: datetime) -> list[tuple[datetime, float]]:
        """Return the points of a half-open period."""
        low = bisect_left(self.points, (start, -math.inf))
        high = bisect_left(self.points, (end, -math.inf))
        return self.points[low:high]


class Metrics:
    """Every series of every account and region."""

    def __init__(self, seeds: Iterable[MetricSeed]) -> None:
        """Index the world's series."""
        self._series: dict[SeriesKey, Series] = {}
        self._lock = threading.Lock()
        for seed in seeds:
            dimensions = frozenset(seed.dimensions.items())
            key = (seed.account, seed.region, seed.namespace, seed.name, dimensions)
            series = self._series.setdefault(key, Series(seed.unit))
            series.points = sorted([*series.points, *seed.points])

    def handle(self, call: Call) -> dict[str, Any] | None:
        """Answer a call about metrics; None leaves it to moto."""
        handlers = {
            "PutMetricData": self.put,
            "ListMetrics": self.list,
            "GetMetricData": self.data,
            "GetMetricStatistics": self.statistics,
        }
        handler = handlers.get(call.operation)
        return None if handler is None else handler(call)

    def put(self, call: Call) -> dict[str, Any]:
        """Answer PutMetricData."""
        params = call.params
        with self._lock:
            for datum in params.get("MetricData") or []:
                key = _key(call, params["Namespace"], datum)
                unit = datum.get("Unit", "None")
                series = self._series.setdefault(key, Series(unit))
                at = _utc(datum.get("Timestamp")) or call.now
                values = datum.get("Values") or [datum["Value"]]
                counts = datum.get("Counts") or [1] * len(values)
                for value, count in zip(values, counts, strict=True):
                    for _ in range(int(count)):
                        insort(series.points, (at, float(value)))
        return {}

    def list(self, call: Call) -> dict[str, Any]:
        """Answer ListMetrics: series with data in the last two weeks."""
        params = call.params
        reach = RECENT if params.get("RecentlyActive") else LISTED_FOR
        found = [
            _shown(key)
            for key, series in self._series.items()
            if key[:2] == (call.account, call.region)
            and params.get("Namespace") in (None, key[2])
            and params.get("MetricName") in (None, key[3])
            and _has(key[4], params.get("Dimensions") or [])
            and series.between(call.now - reach, call.now + timedelta.resolution)
        ]
        page, token = call.pages.cut(found, params, rules=PAGES, size=LIST_PAGE)
        result: dict[str, Any] = {"Metrics": page}
        return result | ({"NextToken": token} if token else {})

    def data(self, call: Call) -> dict[str, Any]:
        """Answer GetMetricData for queries of single series."""
        params = call.params
        queries = params.get("MetricDataQueries") or []
        _check_queries(queries)
        start, end = _window(params)
        limit = int(params.get("MaxDatapoints") or MAX_POINTS)
        first = call.pages.offset(params, PAGES)
        results: list[dict[str, Any]] = []
        points = 0
        for place, query in enumerate(queries[first:], start=first):
            result = self._query(call, query, start, end)
            points += len(result["Values"])
            if results and points > limit:
                token = call.pages.issue(params, PAGES, place)
                return {"MetricDataResults": results, "NextToken": token}
            if query.get("ReturnData", True):
                results.append(result)
        return {"MetricDataResults": results}

    def statistics(self, call: Call) -> dict[str, Any]:
        """Answer GetMetricStatistics."""
        params = call.params
        start, end = _window(params)
        key = _key(call, params["Namespace"], params)
        series = self._series.get(key)
        names = [
            *(params.get("Statistics") or []),
            *params.get("ExtendedStatistics", []),
        ]
        cut = _buckets(series, start, end, int(params["Period"]), now=call.now)
        extended = set(params.get("ExtendedStatistics") or [])
        shown = [
            {"Timestamp": at, "Unit": series.unit if series else "None"}
            | {name: statistic(name, values) for name in names if name not in extended}
            | {
                "ExtendedStatistics": {
                    name: statistic(name, values) for name in sorted(extended)
                }
            }
            for at, values in cut
        ]
        return {"Label": params["MetricName"], "Datapoints": shown}

    def _query(
        self, call: Call, query: dict[str, Any], start: datetime, end: datetime
    ) -> dict[str, Any]:
        stat = query["MetricStat"]
        metric = stat["Metric"]
        series = self._series.get(_key(call, metric["Namespace"], metric))
        unit = stat.get("Unit")
        if series is not None and unit not in (None, series.unit):
            series = None
        cut = _buckets(series, start, end, int(stat["Period"]), now=call.now)
        if call.params.get("ScanBy", "TimestampDescending") == "TimestampDescending":
            cut.reverse()
        return {
            "Id": query["Id"],
            "Label": query.get("Label") or metric["MetricName"],
            "Timestamps": [at for at, _ in cut],
            "Values": [statistic(stat["Stat"], values) for _, values in cut],
            "StatusCode": "Complete",
        }


def statistic(name: str, values: list[float]) -> float:
    """Return one statistic of the values of a period."""
    simple = {
        "Average": sum(values) / len(values),
        "Sum": sum(values),
        "Minimum": min(values),
        "Maximum": max(values),
        "SampleCount": float(len(values)),
    }
    if name in simple:
        return simple[name]
    match = re.fullmatch(r"p(\d+(?:\.\d+)?)", name)
    if match is None:
        message = f"The value {name} for parameter Stat is not supported."
        raise AwsError("InvalidParameterValue", message)
    ordered = sorted(values)
    rank = float(match.group(1)) / 100 * (len(ordered) - 1)
    low = math.floor(rank)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)


def _buckets(
    series: Series | None,
    start: datetime,
    end: datetime,
    period: int,
    *,
    now: datetime,
) -> list[tuple[datetime, list[float]]]:
    cut: dict[datetime, list[float]] = {}
    if series is None:
        return []
    for at, value in series.between(start, min(end, now + timedelta.resolution)):
        if any(now - at > age and period < least for age, least in RETENTION):
            continue
        seconds = int(at.timestamp()) // period * period
        cut.setdefault(datetime.fromtimestamp(seconds, UTC), []).append(value)
    return sorted(cut.items())


def _check_queries(queries: list[dict[str, Any]]) -> None:
    if len(queries) > MAX_QUERIES:
        message = (
            "The collection MetricDataQueries must not have a size greater than "
            f"{MAX_QUERIES}."
        )
        raise AwsError("ValidationError", message)
    ids = [query["Id"] for query in queries]
    if len(set(ids)) != len(ids) or not all(QUERY_ID.fullmatch(i) for i in ids):
        message = "The values for parameter id in MetricDataQueries are not valid."
        raise AwsError("ValidationError", message)
    for query in queries:
        if "MetricStat" not in query:
            message = (
                "the sandbox does not implement metric math in GetMetricData: "
                "ask for single series"
            )
            raise AwsError("NotImplementedInSandbox", message, status=501)
        period = int(query["MetricStat"]["Period"])
        if period not in SHORT_PERIODS and period % MINUTE:
            message = f"The parameter Period must be a multiple of {MINUTE}."
            raise AwsError("ValidationError", message)


def _window(params: dict[str, Any]) -> tuple[datetime, datetime]:
    start, end = _utc(params["StartTime"]), _utc(params["EndTime"])
    if start is None or end is None or start >= end:
        message = "The parameter EndTime must be greater than StartTime."
        raise AwsError("ValidationError", message)
    return start, end


def _key(call: Call, namespace: str, metric: dict[str, Any]) -> SeriesKey:
    pairs = frozenset(
        (item["Name"], item["Value"]) for item in metric.get("Dimensions") or []
    )
    return call.account, call.region, namespace, metric["MetricName"], pairs


def _shown(key: SeriesKey) -> dict[str, Any]:
    _, _, namespace, name, dimensions = key
    return {
        "Namespace": namespace,
        "MetricName": name,
        "Dimensions": [{"Name": n, "Value": v} for n, v in sorted(dimensions)],
    }


def _has(present: frozenset[tuple[str, str]], asked: list[dict[str, str]]) -> bool:
    names = {name for name, _ in present}
    return all(
        (item["Name"], item["Value"]) in present
        if item.get("Value") is not None
        else item["Name"] in names
        for item in asked
    )


def _utc(value: Any) -> datetime | None:
    if value is None:
        return None
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
