"""The rules of Cost Explorer about periods, groups and metrics.

It must not know the world's costs: it reads a request and either refuses it as AWS
does or returns what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from deploy.sandbox.aws.errors import AwsError

METRICS = (
    "AmortizedCost",
    "BlendedCost",
    "NetAmortizedCost",
    "NetUnblendedCost",
    "NormalizedUsageAmount",
    "UnblendedCost",
    "UsageQuantity",
)
GROUP_DIMENSIONS = (
    "AZ",
    "INSTANCE_TYPE",
    "LINKED_ACCOUNT",
    "OPERATION",
    "PURCHASE_TYPE",
    "SERVICE",
    "USAGE_TYPE",
    "PLATFORM",
    "TENANCY",
    "RECORD_TYPE",
    "LEGAL_ENTITY_NAME",
    "INVOICING_ENTITY",
    "DEPLOYMENT_OPTION",
    "DATABASE_ENGINE",
    "CACHE_ENGINE",
    "INSTANCE_TYPE_FAMILY",
    "REGION",
    "BILLING_ENTITY",
    "RESERVATION_ID",
    "SAVINGS_PLANS_TYPE",
    "SAVINGS_PLAN_ARN",
    "OPERATING_SYSTEM",
)
MAX_GROUPS = 2
DETAIL_DAYS = 14
DETAIL_MONTHS = 14
COVERAGE_MONTHS = 13
HOUR_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The half-open period and granularity that a request asked for."""

    start: datetime
    end: datetime
    granularity: str

    def buckets(self) -> list[tuple[datetime, datetime]]:
        """Return the period cut at the granularity's limits."""
        found: list[tuple[datetime, datetime]] = []
        at = self.start
        while at < self.end:
            following = min(_next(at, self.granularity), self.end)
            found.append((at, following))
            at = following
        return found

    def shown(self, start: datetime, end: datetime) -> dict[str, str]:
        """Return a TimePeriod in the granularity's own format."""
        form = HOUR_FORMAT if self.granularity == "HOURLY" else "%Y-%m-%d"
        return {"Start": start.strftime(form), "End": end.strftime(form)}


def invalid(message: str) -> AwsError:
    """Return Cost Explorer's refusal of a request."""
    return AwsError("ValidationException", message)


def spend_period(
    params: dict[str, Any],
    now: datetime,
    *,
    history_months: int,
    with_resources: bool = False,
) -> Asked:
    """Return the period of a spend query, or refuse it."""
    asked = _period(params, params.get("Granularity") or "MONTHLY")
    if asked.end.date() > _month(now.date(), 1):
        message = "end date past the beginning of next month"
        raise invalid(message)
    detailed = with_resources or asked.granularity == "HOURLY"
    oldest_detail = now.date() - timedelta(days=DETAIL_DAYS)
    if detailed and asked.start.date() < oldest_detail:
        message = (
            "start date is too old for hourly, the max supported days for hourly "
            f"granularity is {DETAIL_DAYS} days"
        )
        raise invalid(message)
    _check_history(asked, now.date(), history_months)
    return asked


def tag_period(params: dict[str, Any], now: datetime, history_months: int) -> Asked:
    """Return the period of GetTags or GetDimensionValues, or refuse it."""
    asked = _period(params, "DAILY")
    _check_history(asked, now.date(), history_months)
    return asked


def commitment_period(params: dict[str, Any], now: datetime) -> Asked:
    """Return the period of a coverage or utilisation query, or refuse it."""
    granularity = params.get("Granularity") or "MONTHLY"
    if granularity == "HOURLY":
        message = "HOURLY granularity is not supported for this operation."
        raise invalid(message)
    asked = _period(params, granularity)
    if asked.end.date() > now.date():
        message = "Data is not available for the requested time period: future end."
        raise AwsError("DataUnavailableException", message)
    if asked.start.date() < _month(now.date(), -COVERAGE_MONTHS):
        message = f"Start date must be within {COVERAGE_MONTHS} months."
        raise invalid(message)
    return asked


def forecast_period(params: dict[str, Any], now: datetime) -> Asked:
    """Return the period of a forecast, or refuse it."""
    granularity = params["Granularity"]
    if granularity == "HOURLY":
        message = "HOURLY granularity is not supported for GetCostForecast."
        raise invalid(message)
    start, end = (_parse(params["TimePeriod"][k], hourly=False) for k in DATES)
    if start >= end:
        message = (
            f"Requested Start: {start.date()} must be before requested End: "
            f"{end.date()}"
        )
        raise invalid(message)
    if start.date() < now.date():
        message = f"Requested Start: {start.date()} must not be in the past"
        raise invalid(message)
    return Asked(start=start, end=end, granularity=granularity)


DATES = ("Start", "End")


def groups(
    params: dict[str, Any], allowed: tuple[str, ...] = GROUP_DIMENSIONS
) -> list[tuple[str, str]]:
    """Return the (type, key) pairs to group by, or refuse them."""
    asked = params.get("GroupBy") or []
    if len(asked) > MAX_GROUPS:
        message = f"GroupBy supports at most {MAX_GROUPS} group definitions."
        raise invalid(message)
    pairs = [(item.get("Type"), item.get("Key")) for item in asked]
    for kind, key in pairs:
        if kind is None:
            message = "Group Definition type is invalid."
            raise invalid(message)
        if not key:
            message = "Group Definition key is invalid."
            raise invalid(message)
        if kind == "DIMENSION" and key not in allowed:
            message = (
                "Group Definition dimension is invalid. Valid values are "
                + ", ".join(allowed)
            )
            raise invalid(message)
    if len(set(pairs)) != len(pairs):
        message = "GroupBy contains the same group definition twice."
        raise invalid(message)
    return pairs


def metrics(params: dict[str, Any]) -> list[str]:
    """Return the asked metrics, or refuse them."""
    asked = params.get("Metrics") or []
    wrong = [name for name in asked if name not in METRICS]
    if wrong or not asked:
        message = f"Metrics {wrong} are not valid. Valid values are {list(METRICS)}"
        raise invalid(message)
    return list(dict.fromkeys(asked))


def _period(params: dict[str, Any], granularity: str) -> Asked:
    hourly = granularity == "HOURLY"
    start, end = (_parse(params["TimePeriod"][k], hourly=hourly) for k in DATES)
    if start >= end:
        message = "Start date (and hour) should be before end date (and hour)"
        raise invalid(message)
    return Asked(start=start, end=end, granularity=granularity)


def _parse(text: str, *, hourly: bool) -> datetime:
    form = HOUR_FORMAT if hourly else "%Y-%m-%d"
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError as error:
        wanted = "yyyy-MM-dd'T'HH:mm:ssZ" if hourly else "yyyy-MM-dd"
        message = f"Time {text} is invalid. Valid format is: {wanted}"
        raise invalid(message) from error


def _check_history(asked: Asked, today: date, history_months: int) -> None:
    start = asked.start.date()
    if start < _month(today, -history_months):
        message = f"You haven't enabled historical data beyond {history_months} months"
        raise invalid(message)
    beyond_detail = start < _month(today, -DETAIL_MONTHS)
    if beyond_detail and asked.granularity != "MONTHLY":
        message = "Only MONTHLY granularity is supported beyond the past 14 months."
        raise invalid(message)
    if beyond_detail and start.day != 1:
        message = (
            "To retrieve data beyond the past 14 months, your start date needs to be "
            "the first day of the month."
        )
        raise invalid(message)


def _month(day: date, offset: int) -> date:
    """Return the first day of the month `offset` months from the day's own."""
    count = day.year * 12 + day.month - 1 + offset
    return date(count // 12, count % 12 + 1, 1)


def _next(at: datetime, granularity: str) -> datetime:
    if granularity == "HOURLY":
        return at + timedelta(hours=1)
    if granularity == "DAILY":
        return at + timedelta(days=1)
    first = _month(at.date(), 1)
    return datetime(first.year, first.month, first.day, tzinfo=UTC)
