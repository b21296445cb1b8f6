"""Cost Explorer: which operations the double answers, and how it refuses.

It must not know HTTP.
"""

from __future__ import annotations

from typing import Any

from deploy.sandbox.aws import ce_anomalies, ce_commitments, ce_lists, ce_spend
from deploy.sandbox.aws.own import Call, Handler, answer

HANDLERS: dict[str, Handler] = {
    "GetAnomalies": ce_anomalies.get_anomalies,
    "GetCostAndUsage": ce_spend.get_cost_and_usage,
    "GetCostAndUsageWithResources": ce_spend.get_cost_and_usage_with_resources,
    "GetCostForecast": ce_spend.get_cost_forecast,
    "GetDimensionValues": ce_lists.get_dimension_values,
    "GetTags": ce_lists.get_tags,
    "ListCostAllocationTags": ce_lists.list_cost_allocation_tags,
    "GetSavingsPlansCoverage": ce_commitments.get_savings_plans_coverage,
    "GetSavingsPlansUtilization": ce_commitments.get_savings_plans_utilization,
    "GetReservationCoverage": ce_commitments.get_reservation_coverage,
    "GetReservationUtilization": ce_commitments.get_reservation_utilization,
}


def handle(call: Call) -> dict[str, Any]:
    """Answer one call to Cost Explorer."""
    return answer(call, HANDLERS, code="ValidationException")
