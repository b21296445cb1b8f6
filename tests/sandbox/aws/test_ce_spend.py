"""What Cost Explorer answers about spend: groups, tags, arrival, pages."""

from __future__ import annotations

from typing import Any

from deploy.sandbox.aws import World
from deploy.sandbox.aws.builders import (
    cost,
    instant,
    other_charge,
    restated,
    savings_plan_fee,
    savings_plan_use,
)
from deploy.sandbox.aws.world import Account, CostTag
from tests.sandbox.aws.calls import BY_TEAM, refused, spend, total, totals
from tests.sandbox.aws.conftest import Serve

THREE_DAYS = {"Start": "2026-04-10", "End": "2026-04-13"}
BY_RECORD_TYPE = [{"Type": "DIMENSION", "Key": "RECORD_TYPE"}]


def test_totals_are_empty_when_grouped_and_groups_when_not(serve: Serve) -> None:
    # C016
    world = World(costs=[cost("2026-04-10", "5")])

    grouped = spend(serve(world), GroupBy=BY_TEAM)["ResultsByTime"][0]
    whole = spend(serve(world))["ResultsByTime"][0]

    assert (grouped["Total"], len(grouped["Groups"])) == ({}, 1)
    assert (whole["Groups"], whole["Total"]["UnblendedCost"]["Unit"]) == ([], "USD")


def test_days_without_cost_have_no_groups(serve: Serve) -> None:
    # C017
    world = World(costs=[cost("2026-04-11", "5", tags={"team": "a"})])
    world.tags.append(CostTag(key="team"))

    answer = spend(serve(world), TimePeriod=THREE_DAYS, GroupBy=BY_TEAM)

    assert totals(answer) == [{}, {"team$a": "5"}, {}]


def test_amounts_keep_every_digit_and_exponents(serve: Serve) -> None:
    # C015
    amounts = ["1.2E-7", "0E-10", "-3.0E-7", "19.9912345678901234567890"]
    costs = [
        cost("2026-04-10", text, usage_type=f"u{n}") for n, text in enumerate(amounts)
    ]

    answer = spend(
        serve(World(costs=costs)),
        GroupBy=[{"Type": "DIMENSION", "Key": "USAGE_TYPE"}],
    )

    assert totals(answer)[0] == dict(
        zip(("u0", "u1", "u2", "u3"), amounts, strict=True)
    )


def test_a_wrong_or_inactive_tag_key_gives_one_untagged_group(serve: Serve) -> None:
    # C025
    world = World(
        costs=[cost("2026-04-10", "3", tags={"team": "a", "app": "x"})],
        tags=[CostTag(key="team"), CostTag(key="app", status="Inactive")],
    )

    wrong_case = spend(serve(world), GroupBy=[{"Type": "TAG", "Key": "Team"}])
    inactive = spend(serve(world), GroupBy=[{"Type": "TAG", "Key": "app"}])

    assert totals(wrong_case) == [{"Team$": "3"}]
    assert totals(inactive) == [{"app$": "3"}]


def test_cost_before_a_tags_activation_is_untagged_until_a_backfill(
    serve: Serve,
) -> None:
    # C031
    tag = CostTag(
        key="team",
        activated_on=instant("2026-04-11").date(),
        backfilled_at=instant("2026-04-20"),
    )
    tags = {"team": "nlp"}
    costs = [cost("2026-04-10", "7", tags=tags), cost("2026-04-11", "8", tags=tags)]
    sandbox = serve(World(costs=costs, tags=[tag]))
    params: dict[str, Any] = {"TimePeriod": THREE_DAYS, "GroupBy": BY_TEAM}

    before = totals(spend(sandbox, **params))
    sandbox.clock.set("2026-04-20T00:00:00Z")
    after = totals(spend(sandbox, **params))

    assert before[:2] == [{"team$": "7"}, {"team$nlp": "8"}]
    assert after[:2] == [{"team$nlp": "7"}, {"team$nlp": "8"}]


def test_lines_arrive_late_and_are_restated(serve: Serve) -> None:
    # C010
    late = cost("2026-04-13", "80", arrived_at=instant("2026-04-14T08:00"))
    costs = restated(late, "112.40", at=instant("2026-04-16"))
    sandbox = serve(World(costs=costs, estimated_days=2))
    params = {"TimePeriod": {"Start": "2026-04-13", "End": "2026-04-14"}}

    seen = []
    for now in ("2026-04-14T06:00Z", "2026-04-14T09:00Z", "2026-04-17T00:00Z"):
        sandbox.clock.set(now)
        answer = spend(sandbox, **params)
        seen.append((total(answer), answer["ResultsByTime"][0]["Estimated"]))

    assert seen == [("0", True), ("80", True), ("112.40", False)]


def test_a_month_is_estimated_until_it_closes(serve: Serve) -> None:
    sandbox = serve(World(closes_after_days=5))
    params = {"TimePeriod": {"Start": "2026-03-31", "End": "2026-04-01"}}

    sandbox.clock.set("2026-04-05T23:59:59Z")
    open_month = spend(sandbox, **params)["ResultsByTime"][0]["Estimated"]
    sandbox.clock.set("2026-04-06T00:00:00Z")
    closed_month = spend(sandbox, **params)["ResultsByTime"][0]["Estimated"]

    assert (open_month, closed_month) == (True, False)


def test_record_types_stand_apart_in_the_apis_spelling(serve: Serve) -> None:
    # C012, C045
    costs = [
        cost("2026-04-10", "340.00"),
        other_charge("2026-04-10", "Credit", "-340.00"),
        other_charge("2026-04-10", "Tax", "4.20"),
        savings_plan_fee("2026-04-10", "2.25", used="2.10"),
        *savings_plan_use(
            "2026-04-10", "p5.48xlarge", on_demand="3.00", effective="2.10", hours="1"
        ),
    ]
    sandbox = serve(World(costs=costs))

    billed = totals(spend(sandbox, GroupBy=BY_RECORD_TYPE))
    answer = spend(sandbox, GroupBy=BY_RECORD_TYPE, Metrics=["NetAmortizedCost"])
    effective = {
        group["Keys"][0]: group["Metrics"]["NetAmortizedCost"]["Amount"]
        for group in answer["ResultsByTime"][0]["Groups"]
    }

    assert billed == [
        {
            "Usage": "340.00",
            "Credit": "-340.00",
            "Tax": "4.20",
            "SavingsPlanCoveredUsage": "3.00",
            "SavingsPlanNegation": "-3.00",
            "SavingsPlanRecurringFee": "2.25",
        }
    ]
    assert effective["SavingsPlanCoveredUsage"] == "2.10"
    assert effective["SavingsPlanRecurringFee"] == "0.15"


def test_usage_has_the_unit_of_its_lines(serve: Serve) -> None:
    costs = [cost("2026-04-10", "1", quantity="24"), cost("2026-04-10", "1", unit="GB")]
    params: dict[str, Any] = {"Metrics": ["UsageQuantity"]}

    one = spend(serve(World(costs=costs[:1])), **params)["ResultsByTime"][0]["Total"]
    two = spend(serve(World(costs=costs)), **params)["ResultsByTime"][0]["Total"]

    assert one["UsageQuantity"] == {"Amount": "24", "Unit": "Hrs"}
    assert two["UsageQuantity"] == {"Amount": "24", "Unit": "N/A"}


def many_teams(count: int) -> World:
    costs = [cost("2026-04-10", "1", tags={"team": f"t{n}"}) for n in range(count)]
    return World(costs=costs, tags=[CostTag(key="team")], page_size=2)


def test_pages_share_a_day_and_end_without_a_token(serve: Serve) -> None:
    # C001
    sandbox = serve(many_teams(3))

    first = spend(sandbox, GroupBy=BY_TEAM)
    second = spend(sandbox, GroupBy=BY_TEAM, NextPageToken=first["NextPageToken"])

    assert totals(first) == [{"team$t0": "1", "team$t1": "1"}]
    assert totals(second) == [{"team$t2": "1"}]
    assert "NextPageToken" not in second
    periods = {
        r["TimePeriod"]["Start"] for p in (first, second) for r in p["ResultsByTime"]
    }
    assert periods == {"2026-04-10"}


def test_a_token_belongs_to_its_request(serve: Serve) -> None:
    # C002: the code is the one that the operation documents
    sandbox = serve(many_teams(3))
    token = spend(sandbox, GroupBy=BY_TEAM)["NextPageToken"]

    changed = refused(
        lambda: spend(
            sandbox, GroupBy=BY_TEAM, Granularity="MONTHLY", NextPageToken=token
        )
    )
    unknown = refused(lambda: spend(sandbox, GroupBy=BY_TEAM, NextPageToken="tokA"))

    assert changed[0] == "RequestChangedException"
    assert unknown[0] == "InvalidNextTokenException"


def test_a_payer_sees_every_account_and_a_member_its_own(serve: Serve) -> None:
    # C024
    world = World(
        caller_account="111111111111",
        accounts=[
            Account(id="111111111111", name="payer"),
            Account(id="222222222222", name="research"),
        ],
        costs=[
            cost("2026-04-10", "900", account="111111111111"),
            cost("2026-04-10", "300", account="222222222222"),
        ],
    )
    sandbox = serve(world)
    by_account = [{"Type": "DIMENSION", "Key": "LINKED_ACCOUNT"}]

    payer = spend(sandbox, GroupBy=by_account)
    member = sandbox.client("ce", account="222222222222").get_cost_and_usage(
        TimePeriod={"Start": "2026-04-10", "End": "2026-04-11"},
        Granularity="DAILY",
        Metrics=["UnblendedCost"],
    )

    assert totals(payer) == [{"111111111111": "900", "222222222222": "300"}]
    assert payer["DimensionValueAttributes"][1]["Attributes"] == {
        "description": "research"
    }
    assert total(member) == "300"
