"""Cost Anomaly Detection: findings the world states, filtered as AWS filters them.

It must not know lines of cost: it detects nothing itself.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from deploy.sandbox.aws import ce_rules as rules
from deploy.sandbox.aws.pages import PageRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from deploy.sandbox.aws.own import Call
    from deploy.sandbox.aws.world_anomalies import AnomalySeed

PAGES = PageRules(field="NextPageToken")
DEFAULT_SIZE = 100
#: AWS keeps findings for so many days.
KEPT_DAYS = 90


def get_anomalies(call: Call) -> dict[str, Any]:
    """Answer GetAnomalies: findings that ended in the interval, or go on."""
    params, today = call.params, call.now.date()
    start, end = _interval(params["DateInterval"], today)
    keep = _impact(params.get("TotalImpact"))
    found = [
        _shown(one)
        for one in sorted(call.world.anomalies, key=lambda one: one.id)
        if start <= (one.until or today) <= end
        and keep(one.impact)
        and params.get("Feedback") in {None, one.feedback}
        and params.get("MonitorArn") in {None, _monitor(one)}
    ]
    size = params.get("MaxResults") or DEFAULT_SIZE
    page, token = call.pages.cut(found, params, rules=PAGES, size=size)
    answer: dict[str, Any] = {"Anomalies": list(page)}
    return answer | ({"NextPageToken": token} if token else {})


def _interval(asked: dict[str, str], today: date) -> tuple[date, date]:
    try:
        start = date.fromisoformat(asked["StartDate"][:10])
        end = date.fromisoformat(asked.get("EndDate", today.isoformat())[:10])
    except ValueError as error:
        message = "DateInterval must hold dates."
        raise rules.invalid(message) from error
    if end < start:
        message = "Start date should not be after end date."
        raise rules.invalid(message)
    if start < today - timedelta(days=KEPT_DAYS):
        message = f"Start date must be within the last {KEPT_DAYS} days."
        raise rules.invalid(message)
    return start, end


def _impact(wanted: dict[str, Any] | None) -> Callable[[float], bool]:
    if wanted is None:
        return lambda _: True
    value, end = wanted["StartValue"], wanted.get("EndValue")
    tests: dict[str, Callable[[float], bool]] = {
        "EQUAL": lambda impact: impact == value,
        "GREATER_THAN_OR_EQUAL": lambda impact: impact >= value,
        "LESS_THAN_OR_EQUAL": lambda impact: impact <= value,
        "GREATER_THAN": lambda impact: impact > value,
        "LESS_THAN": lambda impact: impact < value,
        "BETWEEN": lambda impact: value <= impact <= (value if end is None else end),
    }
    return tests[wanted["NumericOperator"]]


def _monitor(one: AnomalySeed) -> str:
    return f"arn:aws:ce::{one.account}:anomalymonitor/services"


def _shown(one: AnomalySeed) -> dict[str, Any]:
    actual = one.expected + one.impact
    shown: dict[str, Any] = {
        "AnomalyId": one.id,
        "AnomalyStartDate": f"{one.since.isoformat()}T00:00:00Z",
        "DimensionValue": one.service,
        "RootCauses": [
            {
                "Service": one.service,
                "Region": one.region,
                "LinkedAccount": one.account,
                "UsageType": one.usage_type,
                "Impact": {"Contribution": one.impact},
            }
        ],
        "AnomalyScore": {"MaxScore": 0.9, "CurrentScore": 0.8},
        "Impact": {
            "MaxImpact": one.impact,
            "TotalImpact": one.impact,
            "TotalActualSpend": actual,
            "TotalExpectedSpend": one.expected,
        },
        "MonitorArn": _monitor(one),
    }
    if one.until is not None:
        shown["AnomalyEndDate"] = f"{one.until.isoformat()}T00:00:00Z"
    return shown | ({"Feedback": one.feedback} if one.feedback else {})
