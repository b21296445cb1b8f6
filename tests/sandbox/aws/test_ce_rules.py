"""What Cost Explorer accepts and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from deploy.sandbox.aws import World
from deploy.sandbox.aws.builders import cost, gpu_hours
from deploy.sandbox.aws.world import CostTag
from tests.sandbox.aws.calls import BY_TEAM, raw_call, refused, spend, total, totals
from tests.sandbox.aws.conftest import Serve

WORLD = World(
    costs=[
        cost("2026-04-10", "10", tags={"team": "nlp"}, region="us-west-2"),
        cost("2026-04-10", "2.50"),
        cost("2026-04-13", "7", hour=5),
    ],
    tags=[CostTag(key="team")],
)


def period(start: str, end: str, granularity: str = "DAILY") -> dict[str, Any]:
    return {
        "TimePeriod": {"Start": start, "End": end},
        "Granularity": granularity,
    }


@pytest.mark.parametrize(
    ("params", "text"),
    [
        # C004: moto answers an empty list here
        (period("2026-04-01", "2026-04-01"), "should be before end date"),
        (period("2026-04-02", "2026-04-01"), "should be before end date"),
        (period("2026-04-01", "2026-05-02"), "past the beginning of next month"),
        (period("2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"), "yyyy-MM-dd"),
        (period("2026-04-13", "2026-04-14", "HOURLY"), "Valid format"),
        (
            period("2026-03-30T00:00:00Z", "2026-04-14T00:00:00Z", "HOURLY"),
            "14 days",
        ),
        (period("2024-01-01", "2026-04-01", "MONTHLY"), "historical data"),
        (period("2026-02-30", "2026-04-01"), "invalid"),
        (period("yesterday", "2026-04-01"), "pattern"),
        (period("2026-04-10", "2026-04-11", "WEEKLY"), "enum value set"),
        ({"Metrics": ["Cost"]}, "Valid values"),
        ({"Metrics": []}, "Valid values"),
        ({"GroupBy": [{"Type": "LINKED_ACCOUNT", "Key": "x"}]}, "enum value set"),
        ({"GroupBy": [{"Type": "DIMENSION", "Key": "RESOURCE_ID"}]}, "dimension is"),
        ({"GroupBy": BY_TEAM * 2}, "twice"),
        (
            {"GroupBy": [{"Type": "TAG", "Key": k} for k in ("a", "b", "c")]},
            "at most 2",
        ),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(
    serve: Serve, params: dict[str, Any], text: str
) -> None:
    sandbox = serve(WORLD)

    code, message = refused(lambda: spend(sandbox, **params))

    assert code == "ValidationException"
    assert text in message


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"Colour": "red"}, "Unknown member 'colour'"),
        ({"Metrics": None}, "Value null at 'metrics'"),
        ({"Metrics": "UnblendedCost"}, "list type"),
        ({"TimePeriod": {"Start": "2026-04-01"}}, "Value null at 'timePeriod.end'"),
    ],
)
def test_members_that_a_client_would_not_send_are_refused(
    serve: Serve, body: dict[str, Any], text: str
) -> None:
    sandbox = serve(WORLD)
    whole = period("2026-04-10", "2026-04-11") | {"Metrics": ["UnblendedCost"]} | body

    status, answer = raw_call(sandbox, whole)

    assert (status, answer["__type"]) == (400, "ValidationException")
    assert text in answer["message"]


def test_end_is_exclusive(serve: Serve) -> None:
    sandbox = serve(WORLD)

    answer = spend(sandbox, **period("2026-04-10", "2026-04-13"))

    assert [r["TimePeriod"]["Start"] for r in answer["ResultsByTime"]] == [
        "2026-04-10",
        "2026-04-11",
        "2026-04-12",
    ]


def test_end_may_be_tomorrow(serve: Serve) -> None:
    # C007
    sandbox = serve(WORLD)

    answer = spend(sandbox, **period("2026-04-13", "2026-04-15"))

    assert answer["ResultsByTime"][0]["Total"]["UnblendedCost"]["Amount"] == "7"


def test_months_are_cut_at_the_asked_days(serve: Serve) -> None:
    sandbox = serve(WORLD)

    answer = spend(sandbox, **period("2026-03-30", "2026-04-11", "MONTHLY"))

    assert [r["TimePeriod"] for r in answer["ResultsByTime"]] == [
        {"Start": "2026-03-30", "End": "2026-04-01"},
        {"Start": "2026-04-01", "End": "2026-04-11"},
    ]
    assert answer["ResultsByTime"][1]["Total"]["UnblendedCost"]["Amount"] == "12.50"


def test_hours_of_the_last_days_are_answered(serve: Serve) -> None:
    sandbox = serve(WORLD)

    answer = spend(
        sandbox, **period("2026-04-13T04:00:00Z", "2026-04-13T06:00:00Z", "HOURLY")
    )

    amounts = [r["Total"]["UnblendedCost"]["Amount"] for r in answer["ResultsByTime"]]
    assert amounts == ["0", "7"]
    assert answer["ResultsByTime"][1]["TimePeriod"]["Start"] == "2026-04-13T05:00:00Z"


def test_older_months_need_months_and_their_first_day(serve: Serve) -> None:
    sandbox = serve(World(history_months=38))
    old = period("2024-05-01", "2024-06-01", "MONTHLY")

    assert spend(sandbox, **old)["ResultsByTime"]
    assert (
        "first day"
        in refused(
            lambda: spend(sandbox, **period("2024-05-02", "2024-06-01", "MONTHLY"))
        )[1]
    )
    assert (
        "MONTHLY"
        in refused(lambda: spend(sandbox, **period("2024-05-01", "2024-06-01")))[1]
    )


def test_resources_reach_back_fourteen_days_whatever_the_granularity(
    serve: Serve,
) -> None:
    # C009
    sandbox = serve(WORLD)
    client = sandbox.client("ce")
    params: dict[str, Any] = {
        "Metrics": ["UnblendedCost"],
        "GroupBy": [{"Type": "DIMENSION", "Key": "RESOURCE_ID"}],
        "Filter": {"Dimensions": {"Key": "REGION", "Values": ["us-west-2"]}},
    }

    recent = client.get_cost_and_usage_with_resources(
        **params, **period("2026-04-10", "2026-04-11")
    )
    code, message = refused(
        lambda: client.get_cost_and_usage_with_resources(
            **params, **period("2026-03-14", "2026-04-11")
        )
    )

    assert totals(recent) == [{"NoResourceId": "10"}]
    assert (code, "hourly" in message) == ("ValidationException", True)


NLP = {"Tags": {"Key": "team", "Values": ["nlp"]}}
ABSENT = {"Tags": {"Key": "team", "MatchOptions": ["ABSENT"]}}
WEST = {"Dimensions": {"Key": "REGION", "Values": ["us-west-2"]}}
EAST = {"Dimensions": {"Key": "REGION", "Values": ["us-east-1"]}}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (NLP, "10"),
        (ABSENT, "2.50"),
        ({"Not": ABSENT}, "10"),
        ({"And": [WEST, NLP]}, "10"),
        ({"And": [EAST, NLP]}, "0"),
        ({"Or": [EAST, NLP]}, "12.50"),
        ({"Not": WEST}, "2.50"),
        ({"Tags": {"Key": "team", "Values": [""]}}, "2.50"),
        ({"Tags": {"Key": "team", "Values": ["NLP"]}}, "0"),
        ({"CostCategories": {"Key": "c", "MatchOptions": ["ABSENT"]}}, "12.50"),
    ],
)
def test_filters_select(
    serve: Serve, expression: dict[str, Any], expected: str
) -> None:
    sandbox = serve(WORLD)

    assert total(spend(sandbox, Filter=expression)) == expected


@pytest.mark.parametrize(
    "expression",
    [
        {},
        NLP | WEST,
        {"And": [NLP]},
        {"Dimensions": {"Key": "RESOURCE_ID", "Values": ["i-1"]}},
        {"Dimensions": {"Key": "COLOUR", "Values": ["red"]}},
        {"Dimensions": {"Key": "REGION", "Values": []}},
        {"Dimensions": {"Key": "REGION", "MatchOptions": ["ABSENT"]}},
        {"Tags": {"Key": "team", "MatchOptions": ["ABSENT"], "Values": ["nlp"]}},
        {"Tags": {"Key": "team", "MatchOptions": ["SOMETIMES"], "Values": ["a"]}},
        {"Tags": {"Values": ["a"]}},
    ],
)
def test_filters_that_aws_refuses_are_refused(
    serve: Serve, expression: dict[str, Any]
) -> None:
    sandbox = serve(WORLD)

    assert (
        refused(lambda: spend(sandbox, Filter=expression))[0] == "ValidationException"
    )


def test_an_unknown_region_of_usage_is_a_value_and_not_an_error(serve: Serve) -> None:
    sandbox = serve(
        World(
            costs=[
                gpu_hours("2026-04-10", "p5.48xlarge", hours="2", price="55.04"),
            ]
        )
    )

    answer = spend(sandbox, GroupBy=[{"Type": "DIMENSION", "Key": "AZ"}])

    assert totals(answer) == [{"NoAz": "110.08"}]
