"""Cost Explorer's coverage and utilisation of Savings Plans and reservations.

It must not know lines of cost: the world states commitments by day.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from deploy.sandbox.aws import ce_rules as rules
from deploy.sandbox.aws.ce_filters import Line, compile_filter, dimension
from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.world import CommitmentDay, CostSeed

PLAN_PAGES = PageRules(field="NextToken")
RESERVATION_PAGES = PageRules(field="NextPageToken")
PLAN_DIMENSIONS = ("LINKED_ACCOUNT", "REGION", "SERVICE", "INSTANCE_FAMILY")
PLAN_FILTERS = (*PLAN_DIMENSIONS, "INSTANCE_TYPE_FAMILY", "SAVINGS_PLAN_ARN")
PLAN_GROUPS = ("INSTANCE_FAMILY", "REGION", "SERVICE")
RESERVATION_FILTERS = (
    "AZ",
    "CACHE_ENGINE",
    "DATABASE_ENGINE",
    "DEPLOYMENT_OPTION",
    "INSTANCE_TYPE",
    "LINKED_ACCOUNT",
    "OPERATING_SYSTEM",
    "PLATFORM",
    "REGION",
    "SERVICE",
    "TAG",
    "TENANCY",
)
RESERVATION_GROUPS = (
    "AZ",
    "CACHE_ENGINE",
    "DATABASE_ENGINE",
    "DEPLOYMENT_OPTION",
    "INSTANCE_TYPE",
    "INVOICING_ENTITY",
    "LINKED_ACCOUNT",
    "OPERATING_SYSTEM",
    "PLATFORM",
    "REGION",
    "TENANCY",
)
DEFAULT_SIZE = 500
HUNDRED = Decimal(100)

Days = list[CommitmentDay]


def get_savings_plans_coverage(call: Call) -> dict[str, Any]:
    """Answer GetSavingsPlansCoverage."""
    params = call.params
    by = [key for _, key in rules.groups(params, PLAN_GROUPS)]
    if by and params.get("Granularity"):
        message = "Granularity can't be set if GroupBy is set."
        raise rules.invalid(message)
    if (params.get("Metrics") or ["SpendCoveredBySavingsPlans"]) != [
        "SpendCoveredBySavingsPlans"
    ]:
        message = "Metrics must be SpendCoveredBySavingsPlans."
        raise rules.invalid(message)
    asked = rules.commitment_period(params, call.now)
    days = _days(call, asked, "savings-plan", PLAN_FILTERS)
    rows = [
        {
            "Attributes": attributes,
            "Coverage": _plan_coverage(part),
            "TimePeriod": asked.shown(start, end),
        }
        for start, end in asked.buckets()
        for attributes, part in _grouped(_within(days, start, end), by)
        if part
    ]
    size = params.get("MaxResults", DEFAULT_SIZE)
    page, token = call.pages.cut(rows, params, rules=PLAN_PAGES, size=size)
    answer: dict[str, Any] = {"SavingsPlansCoverages": list(page)}
    return answer | ({"NextToken": token} if token else {})


def get_savings_plans_utilization(call: Call) -> dict[str, Any]:
    """Answer GetSavingsPlansUtilization."""
    asked = rules.commitment_period(call.params, call.now)
    days = _days(call, asked, "savings-plan", PLAN_FILTERS)
    if not days:
        message = "No Savings Plans utilization data for the requested period."
        raise AwsError("DataUnavailableException", message)
    return {
        "Total": _plan_utilisation(days),
        "SavingsPlansUtilizationsByTime": [
            {"TimePeriod": asked.shown(start, end)}
            | _plan_utilisation(_within(days, start, end))
            for start, end in asked.buckets()
        ],
    }


def get_reservation_coverage(call: Call) -> dict[str, Any]:
    """Answer GetReservationCoverage."""
    return _reservations(
        call, groups=RESERVATION_GROUPS, list_field="CoveragesByTime", is_coverage=True
    )


def get_reservation_utilization(call: Call) -> dict[str, Any]:
    """Answer GetReservationUtilization."""
    return _reservations(
        call,
        groups=("SUBSCRIPTION_ID",),
        list_field="UtilizationsByTime",
        is_coverage=False,
    )


def _reservations(
    call: Call, *, groups: tuple[str, ...], list_field: str, is_coverage: bool
) -> dict[str, Any]:
    params = call.params
    by = [key for _, key in rules.groups(params, groups)]
    if by and params.get("Granularity"):
        message = "Granularity can't be set if GroupBy is set."
        raise rules.invalid(message)
    asked = rules.commitment_period(params, call.now)
    days = _days(call, asked, "reservation", RESERVATION_FILTERS)
    figures = _reservation_coverage if is_coverage else _reservation_utilisation
    name = "Coverage" if is_coverage else "Utilization"
    rows = [
        {
            "TimePeriod": asked.shown(start, end),
            "Total": figures(_within(days, start, end)),
            "Groups": [
                {"Attributes": attributes, name: figures(part)}
                for attributes, part in _grouped(_within(days, start, end), by)
                if by
            ],
        }
        for start, end in asked.buckets()
    ]
    size = params.get("MaxResults", DEFAULT_SIZE)
    page, token = call.pages.cut(rows, params, rules=RESERVATION_PAGES, size=size)
    answer: dict[str, Any] = {list_field: list(page), "Total": figures(days)}
    return answer | ({"NextPageToken": token} if token else {})


def _days(call: Call, asked: rules.Asked, kind: str, filters: tuple[str, ...]) -> Days:
    keep = compile_filter(call.params.get("Filter"), filters)
    own_only = call.account != call.world.caller_account
    return [
        day
        for day in _within(call.world.commitments, asked.start, asked.end)
        if day.kind == kind
        and not (own_only and day.account != call.account)
        and keep(_line(day))
    ]


def _line(day: CommitmentDay) -> Line:
    instance_type = day.instance_type or f"{day.family}.48xlarge"
    seed = CostSeed(
        day=day.day,
        account=day.account,
        service=day.service,
        usage_type=f"BoxUsage:{instance_type}",
        unblended="0",
        region=day.region,
        instance_type=instance_type,
    )
    return Line(seed=seed, tags={}, payer=day.account)


def _within(days: Iterable[CommitmentDay], start: datetime, end: datetime) -> Days:
    return [day for day in days if start.date() <= day.day < end.date()]


def _grouped(days: Days, by: list[str]) -> list[tuple[dict[str, str], Days]]:
    groups: dict[tuple[str, ...], Days] = {} if by else {(): days}
    if by:
        for day in days:
            key = tuple(dimension(_line(day), name) for name in by)
            groups.setdefault(key, []).append(day)
    names = [name.lower() for name in by]
    return [
        (dict(zip(names, key, strict=True)), part)
        for key, part in sorted(groups.items())
    ]


def _sum(days: Days, field: str) -> Decimal:
    return sum((Decimal(getattr(day, field)) for day in days), Decimal(0))


def _percent(part: Decimal, whole: Decimal) -> str:
    return str(part * HUNDRED / whole) if whole else "0"


def _plan_coverage(days: Days) -> dict[str, str]:
    covered = _sum(days, "on_demand_equivalent")
    uncovered = _sum(days, "uncovered")
    return {
        "SpendCoveredBySavingsPlans": str(covered),
        "OnDemandCost": str(uncovered),
        "TotalCost": str(covered + uncovered),
        "CoveragePercentage": _percent(covered, covered + uncovered),
    }


def _plan_utilisation(days: Days) -> dict[str, dict[str, str]]:
    committed, used = _sum(days, "committed"), _sum(days, "used")
    on_demand = _sum(days, "on_demand_equivalent")
    return {
        "Utilization": {
            "TotalCommitment": str(committed),
            "UsedCommitment": str(used),
            "UnusedCommitment": str(committed - used),
            "UtilizationPercentage": _percent(used, committed),
        },
        "Savings": {
            "NetSavings": str(on_demand - committed),
            "OnDemandCostEquivalent": str(on_demand),
        },
        "AmortizedCommitment": {
            "AmortizedRecurringCommitment": str(committed),
            "AmortizedUpfrontCommitment": "0",
            "TotalAmortizedCommitment": str(committed),
        },
    }


def _reservation_coverage(days: Days) -> dict[str, dict[str, str]]:
    reserved, on_demand = _sum(days, "used"), _sum(days, "uncovered")
    return {
        "CoverageHours": {
            "OnDemandHours": str(on_demand),
            "ReservedHours": str(reserved),
            "TotalRunningHours": str(reserved + on_demand),
            "CoverageHoursPercentage": _percent(reserved, reserved + on_demand),
        }
    }


def _reservation_utilisation(days: Days) -> dict[str, str]:
    purchased, used = _sum(days, "committed"), _sum(days, "used")
    return {
        "UtilizationPercentage": _percent(used, purchased),
        "PurchasedHours": str(purchased),
        "TotalActualHours": str(used),
        "UnusedHours": str(purchased - used),
        "OnDemandCostOfRIHoursUsed": str(_sum(days, "on_demand_equivalent")),
    }
