"""Cost Explorer beside spend: lists, forecast, coverage, utilisation."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from deploy.sandbox.aws import World
from deploy.sandbox.aws.builders import cost, days
from deploy.sandbox.aws.world import CommitmentDay, CostTag
from tests.sandbox.aws.calls import refused
from tests.sandbox.aws.conftest import Serve

APRIL = {"Start": "2026-04-01", "End": "2026-04-14"}
TAGGED = World(
    costs=[
        cost("2026-04-10", "1", tags={"team": "nlp", "app": "x"}),
        cost("2026-04-10", "1", service="EC2 - Other"),
    ],
    tags=[
        CostTag(key="team", activated_on=date(2026, 1, 1)),
        CostTag(key="app", status="Inactive"),
    ],
)


def test_get_tags_lists_active_keys_and_the_values_of_one(serve: Serve) -> None:
    client = serve(TAGGED).client("ce")

    keys = client.get_tags(TimePeriod=APRIL)
    values = client.get_tags(TimePeriod=APRIL, TagKey="team")

    assert (keys["Tags"], keys["TotalSize"]) == (["team"], 1)
    assert values["Tags"] == ["", "nlp"]


def test_dimension_values_are_searched_and_paged(serve: Serve) -> None:
    client = serve(TAGGED).client("ce")
    params: dict[str, Any] = {"TimePeriod": APRIL, "Dimension": "SERVICE"}

    first = client.get_dimension_values(**params, MaxResults=1)
    second = client.get_dimension_values(
        **params, MaxResults=1, NextPageToken=first["NextPageToken"]
    )
    other = client.get_dimension_values(**params, SearchString="other")

    found = [
        first["DimensionValues"][0]["Value"],
        second["DimensionValues"][0]["Value"],
    ]
    assert found == ["Amazon Elastic Compute Cloud - Compute", "EC2 - Other"]
    assert [v["Value"] for v in other["DimensionValues"]] == ["EC2 - Other"]


def test_an_unknown_dimension_is_refused(serve: Serve) -> None:
    client = serve(TAGGED).client("ce", parameter_validation=False)

    code, message = refused(
        lambda: client.get_dimension_values(TimePeriod=APRIL, Dimension="COLOUR")
    )

    assert (code, "enum value set" in message) == ("ValidationException", True)


def test_cost_allocation_tags_have_a_status_and_pages(serve: Serve) -> None:
    client = serve(TAGGED).client("ce")

    active = client.list_cost_allocation_tags(Status="Active")
    first = client.list_cost_allocation_tags(MaxResults=1)
    second = client.list_cost_allocation_tags(
        MaxResults=1, NextToken=first["NextToken"]
    )

    assert [t["TagKey"] for t in active["CostAllocationTags"]] == ["team"]
    assert active["CostAllocationTags"][0]["LastUpdatedDate"] == "2026-01-01T00:00:00Z"
    assert second["CostAllocationTags"][0]["Status"] == "Active"
    assert "NextToken" not in second


def test_more_than_a_thousand_tags_a_page_is_refused(serve: Serve) -> None:
    client = serve(TAGGED).client("ce", parameter_validation=False)

    code, message = refused(lambda: client.list_cost_allocation_tags(MaxResults=1001))

    assert (code, "less than or equal to 1000" in message) == (
        "ValidationException",
        True,
    )


def forecast(serve: Serve, history: int, **period: str) -> Any:
    costs = [cost(day, "10") for day in days("2026-04-01", "2026-04-14")[:history]]
    client = serve(World(costs=costs)).client("ce")
    return client.get_cost_forecast(
        TimePeriod={"Start": "2026-04-14", "End": "2026-04-16"} | period,
        Metric="UNBLENDED_COST",
        Granularity="DAILY",
        PredictionIntervalLevel=80,
    )


def test_a_forecast_follows_the_last_days(serve: Serve) -> None:
    answer = forecast(serve, 13)

    assert answer["Total"] == {"Amount": "20", "Unit": "USD"}
    assert len(answer["ForecastResultsByTime"]) == 2


def test_a_forecast_without_history_or_period_is_refused(serve: Serve) -> None:
    # C023
    assert refused(lambda: forecast(serve, 3))[0] == "DataUnavailableException"
    code, message = refused(lambda: forecast(serve, 13, End="2026-04-14"))
    assert code == "ValidationException"
    assert "Requested Start: 2026-04-14 must be before requested End" in message


PLANS = World(
    commitments=[
        CommitmentDay(
            day=date(2026, 4, 10),
            kind="savings-plan",
            committed="100",
            used="80",
            on_demand_equivalent="120",
            uncovered="40",
        ),
        CommitmentDay(
            day=date(2026, 4, 11),
            kind="savings-plan",
            family="g5",
            committed="100",
            used="100",
            on_demand_equivalent="150",
            uncovered="0",
        ),
        CommitmentDay(
            day=date(2026, 4, 10),
            kind="reservation",
            committed="24",
            used="12",
            uncovered="36",
        ),
    ]
)


def test_plan_coverage_by_day_and_by_family(serve: Serve) -> None:
    client = serve(PLANS).client("ce")

    daily = client.get_savings_plans_coverage(TimePeriod=APRIL, Granularity="DAILY")
    by_family = client.get_savings_plans_coverage(
        TimePeriod=APRIL, GroupBy=[{"Type": "DIMENSION", "Key": "INSTANCE_FAMILY"}]
    )

    shares = [
        c["Coverage"]["CoveragePercentage"] for c in daily["SavingsPlansCoverages"]
    ]
    assert [float(share) for share in shares] == [75.0, 100.0]
    attributes = [c["Attributes"] for c in by_family["SavingsPlansCoverages"]]
    assert attributes == [{"instance_family": "g5"}, {"instance_family": "p5"}]


def test_plan_utilisation_adds_up(serve: Serve) -> None:
    answer = serve(PLANS).client("ce").get_savings_plans_utilization(TimePeriod=APRIL)

    used = answer["Total"]["Utilization"]
    assert (used["TotalCommitment"], used["UnusedCommitment"]) == ("200", "20")


def test_reservations_are_counted_in_hours(serve: Serve) -> None:
    client = serve(PLANS).client("ce")

    coverage = client.get_reservation_coverage(TimePeriod=APRIL)
    utilisation = client.get_reservation_utilization(TimePeriod=APRIL)

    hours = coverage["Total"]["CoverageHours"]
    assert (hours["ReservedHours"], hours["CoverageHoursPercentage"]) == ("12", "25")
    assert utilisation["Total"]["UnusedHours"] == "12"


@pytest.mark.parametrize(
    "operation",
    [
        "get_savings_plans_coverage",
        "get_savings_plans_utilization",
        "get_reservation_coverage",
        "get_reservation_utilization",
    ],
)
def test_commitment_queries_refuse_an_end_after_today(
    serve: Serve, operation: str
) -> None:
    # C007
    call = getattr(serve(PLANS).client("ce"), operation)

    assert call(TimePeriod=APRIL)
    tomorrow = APRIL | {"End": "2026-04-15"}
    assert refused(lambda: call(TimePeriod=tomorrow))[0] == "DataUnavailableException"


def test_an_organisation_without_plans_has_no_utilisation(serve: Serve) -> None:
    client = serve(World()).client("ce")

    code, _ = refused(lambda: client.get_savings_plans_utilization(TimePeriod=APRIL))

    assert code == "DataUnavailableException"
