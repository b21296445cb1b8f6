"""Cost Explorer's answers about spend, aggregated from the world's lines.

It must not know HTTP or page tokens' form; periods and filters are checked by
`ce_rules` and `ce_filters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from deploy.sandbox.aws import ce_rules as rules
from deploy.sandbox.aws.ce_filters import (
    FILTER_DIMENSIONS,
    Line,
    Predicate,
    compile_filter,
    dimension,
)
from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules

EXACT = Context(prec=60)
PAGES = PageRules(field="NextPageToken", changed_code="RequestChangedException")
QUANTITIES = {"UsageQuantity", "NormalizedUsageAmount"}
#: Fewer days of cost than this give no forecast.
FORECAST_DAYS = 7
FORECAST_SPREAD = Decimal("0.15")
FORECAST_METRICS = {
    "AMORTIZED_COST": "AmortizedCost",
    "BLENDED_COST": "BlendedCost",
    "NET_AMORTIZED_COST": "NetAmortizedCost",
    "NET_UNBLENDED_COST": "NetUnblendedCost",
    "UNBLENDED_COST": "UnblendedCost",
}

Key = tuple[str, ...]


class Sums:
    """Exact sums of the asked metrics over some lines."""

    def __init__(self, metrics: list[str]) -> None:
        """Start at zero."""
        self.amounts = dict.fromkeys(metrics, Decimal(0))
        self.units: set[str] = set()
        self.empty = True

    def add(self, line: Line) -> None:
        """Add one line."""
        amounts = line.seed.amounts()
        self.units.add(line.seed.unit)
        for name, value in self.amounts.items():
            amount = Decimal(amounts[name])
            self.amounts[name] = amount if self.empty else EXACT.add(value, amount)
        self.empty = False

    def shown(self, currency: str) -> dict[str, dict[str, str]]:
        """Return the sums as Cost Explorer writes them."""
        return {
            name: {"Amount": str(value), "Unit": self._unit(name, currency)}
            for name, value in self.amounts.items()
        }

    def _unit(self, name: str, currency: str) -> str:
        if name not in QUANTITIES:
            return currency
        return self.units.copy().pop() if len(self.units) == 1 else "N/A"


def lines(call: Call, asked: rules.Asked, keep: Predicate) -> Iterable[Line]:
    """Return the visible lines of the period that the filter keeps."""
    first, last = asked.start.date(), asked.end
    own_only = call.account != call.world.caller_account
    for seed in call.world.costs:
        at = moment(seed.day, seed.hour)
        if not (first <= seed.day and asked.start <= at < last):
            continue
        if (own_only and seed.account != call.account) or not seed.visible(call.now):
            continue
        line = Line(
            seed=seed,
            payer=call.world.caller_account,
            tags={
                tag.key: seed.tags[tag.key]
                for tag in call.world.tags
                if tag.key in seed.tags and tag.counts(seed.day, call.now)
            },
        )
        if keep(line):
            yield line


def moment(day: date, hour: int | None) -> datetime:
    """Return the instant at which an hour of a day starts."""
    return datetime.combine(day, time(hour or 0), UTC)


def get_cost_and_usage(call: Call, *, with_resources: bool = False) -> dict[str, Any]:
    """Answer GetCostAndUsage and its sibling with resources."""
    params = call.params
    asked = rules.spend_period(
        params,
        call.now,
        history_months=call.world.history_months,
        with_resources=with_resources,
    )
    extra = ("RESOURCE_ID",) if with_resources else ()
    by = rules.groups(params, rules.GROUP_DIMENSIONS + extra)
    metrics = rules.metrics(params)
    keep = compile_filter(params.get("Filter"), FILTER_DIMENSIONS + extra)
    sums = _aggregate(call, asked, keep, by=by, metrics=metrics)
    rows = _rows(asked, sums, grouped=bool(by), metrics=metrics)
    page, token = call.pages.cut(rows, params, rules=PAGES, size=call.world.page_size)
    answer: dict[str, Any] = {
        "ResultsByTime": _results(call, asked, page, grouped=bool(by)),
        "DimensionValueAttributes": _account_names(call, page, by),
    }
    if by:
        answer["GroupDefinitions"] = params["GroupBy"]
    return answer | ({"NextPageToken": token} if token else {})


def get_cost_and_usage_with_resources(call: Call) -> dict[str, Any]:
    """Answer GetCostAndUsageWithResources."""
    return get_cost_and_usage(call, with_resources=True)


Sorted = tuple[datetime, datetime, Key | None, Sums | None]


def _aggregate(
    call: Call,
    asked: rules.Asked,
    keep: Predicate,
    *,
    by: list[tuple[str, str]],
    metrics: list[str],
) -> dict[tuple[datetime, Key], Sums]:
    starts: dict[datetime, datetime] = {}
    sums: dict[tuple[datetime, Key], Sums] = {}
    buckets = asked.buckets()
    for line in lines(call, asked, keep):
        at = moment(line.seed.day, line.seed.hour)
        if at not in starts:
            starts[at] = next(start for start, end in buckets if start <= at < end)
        key = (starts[at], tuple(_group_key(line, kind, name) for kind, name in by))
        if key not in sums:
            sums[key] = Sums(metrics)
        sums[key].add(line)
    return sums


def _group_key(line: Line, kind: str, name: str) -> str:
    if kind == "DIMENSION":
        return dimension(line, name)
    return f"{name}${line.tags.get(name, '') if kind == 'TAG' else ''}"


def _rows(
    asked: rules.Asked,
    sums: dict[tuple[datetime, Key], Sums],
    *,
    grouped: bool,
    metrics: list[str],
) -> list[Sorted]:
    """Return a row per group, and one for each period without groups."""
    by_start: dict[datetime, list[Key]] = {}
    for start, key in sums:
        by_start.setdefault(start, []).append(key)
    rows: list[Sorted] = []
    for start, end in asked.buckets():
        keys = sorted(by_start.get(start, []))
        rows += [(start, end, key, sums[start, key]) for key in keys]
        if not keys:
            rows.append((start, end, None, None if grouped else Sums(metrics)))
    return rows


def _results(
    call: Call, asked: rules.Asked, page: Iterable[Sorted], *, grouped: bool
) -> list[dict[str, Any]]:
    results: dict[datetime, dict[str, Any]] = {}
    for start, end, key, sums in page:
        last_day = (end - timedelta(seconds=1)).date()
        result = results.setdefault(
            start,
            {
                "TimePeriod": asked.shown(start, end),
                "Total": {},
                "Groups": [],
                "Estimated": call.world.estimated(last_day, call.now),
            },
        )
        if sums is None:
            continue
        shown = sums.shown(call.world.currency)
        if grouped and key is not None:
            result["Groups"].append({"Keys": list(key), "Metrics": shown})
        else:
            result["Total"] = shown
    return list(results.values())


def _account_names(
    call: Call, page: Iterable[Sorted], by: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    if ("DIMENSION", "LINKED_ACCOUNT") not in by:
        return []
    place = by.index(("DIMENSION", "LINKED_ACCOUNT"))
    ids = sorted({key[place] for _, _, key, _ in page if key})
    names = {account.id: account.name for account in call.world.accounts}
    return [
        {"Value": id_, "Attributes": {"description": names.get(id_, "")}} for id_ in ids
    ]


def get_cost_forecast(call: Call) -> dict[str, Any]:
    """Answer GetCostForecast from the mean of the last 30 days."""
    params = call.params
    asked = rules.forecast_period(params, call.now)
    metric = FORECAST_METRICS.get(params["Metric"])
    if metric is None:
        message = f"Metric {params['Metric']} is not supported for GetCostForecast."
        raise rules.invalid(message)
    keep = compile_filter(params.get("Filter"))
    today = datetime.combine(call.now.date(), time.min, UTC)
    past = rules.Asked(start=today - timedelta(days=30), end=today, granularity="DAILY")
    sums = _aggregate(call, past, keep, by=[], metrics=[metric])
    if len(sums) < FORECAST_DAYS:
        message = "Insufficient amount of historical data to generate forecast."
        raise AwsError("DataUnavailableException", message)
    total = sum((item.amounts[metric] for item in sums.values()), Decimal(0))
    mean = total / len(sums)
    results = [
        _forecast(
            asked, start, end, mean=mean, banded="PredictionIntervalLevel" in params
        )
        for start, end in asked.buckets()
    ]
    whole = sum((Decimal(item["MeanValue"]) for item in results), Decimal(0))
    return {
        "Total": {"Amount": str(whole), "Unit": call.world.currency},
        "ForecastResultsByTime": results,
    }


def _forecast(
    asked: rules.Asked, start: datetime, end: datetime, *, mean: Decimal, banded: bool
) -> dict[str, Any]:
    value = mean * (end - start).days
    result: dict[str, Any] = {
        "TimePeriod": asked.shown(start, end),
        "MeanValue": str(value),
    }
    if banded:
        result["PredictionIntervalLowerBound"] = str(value * (1 - FORECAST_SPREAD))
        result["PredictionIntervalUpperBound"] = str(value * (1 + FORECAST_SPREAD))
    return result
