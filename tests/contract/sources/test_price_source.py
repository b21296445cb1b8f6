"""The Price List and spot history as a source of prices: the right one, or none."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.aws.prices import AwsPriceSource
from billing.core.money import Rate
from billing.core.prices import PriceKey, Purchase
from billing.ports import SourceUnavailableError
from deploy.sandbox.aws.builders import spot_series
from deploy.sandbox.aws.world_plans import OfferedPlanSeed
from tests.contract.sources.aws import NOW, Aws

P5 = PriceKey(region="us-east-1", product="p5.48xlarge")
PLAN = PriceKey(
    region="us-east-1", product="p5.48xlarge", purchase=Purchase.SAVINGS_PLAN
)
SPOT = PriceKey(region="us-east-1", product="p5.48xlarge", purchase=Purchase.SPOT)


def test_list_prices_of_shipped_products_are_found(aws: Aws) -> None:
    aws.serve()
    gp3 = PriceKey(region="us-east-1", product="ebs:gp3")

    found = {
        one.key: one for one in AwsPriceSource(aws.clients()).prices([P5, gp3], NOW)
    }

    assert found.keys() == {P5, gp3}
    assert found[P5].rate.nanos > 0
    assert found[gp3].rate.nanos == round(80_000_000 / 730)
    assert found[P5].source == "price list"


def test_an_unknown_type_or_region_has_no_price(aws: Aws) -> None:  # C038, C040
    aws.serve()
    keys = [
        PriceKey(region="us-east-1", product="p99.metal"),
        PriceKey(region="mars-north-1", product="p5.48xlarge"),
    ]

    assert AwsPriceSource(aws.clients()).prices(keys, NOW) == []


def test_the_question_names_everything_that_makes_a_product_unique(aws: Aws) -> None:
    sandbox = aws.serve()

    AwsPriceSource(aws.clients()).prices([P5], NOW)

    (request,) = sandbox.requests.of("GetProducts")
    asked = {one["Field"]: one["Value"] for one in request.parameters["Filters"]}
    assert asked == {
        "regionCode": "us-east-1",
        "instanceType": "p5.48xlarge",
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "tenancy": "Shared",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }  # C034, C035
    assert request.region == "us-east-1"


def test_spot_history_is_a_series_for_each_zone(aws: Aws) -> None:
    start = (NOW - timedelta(hours=20)).isoformat()
    aws.serve(
        spot=[
            *spot_series("p5.48xlarge", "us-east-1a", ["20.5", "21"], start=start),
            *spot_series("p5.48xlarge", "us-east-1b", ["30"], start=start),
            *spot_series("g5.xlarge", "us-east-1a", ["0.4"], start=start),
        ]
    )

    found = AwsPriceSource(aws.clients()).prices([SPOT], NOW)

    assert [(one.key.zone, one.rate) for one in found] == [
        ("us-east-1a", Rate.of("20.5")),
        ("us-east-1a", Rate.of("21")),
        ("us-east-1b", Rate.of("30")),
    ]
    assert [one.effective_from for one in found] == [one.as_of for one in found]


def test_long_spot_history_is_read_to_the_end(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = (NOW - timedelta(hours=20)).isoformat()
    prices = [f"2{n}.5" for n in range(9)]
    series = spot_series(
        "p5.48xlarge", "us-east-1a", prices, start=start, step=timedelta(hours=1)
    )
    aws.serve(spot=series)
    monkeypatch.setattr("billing.aws.prices.SPOT_PAGE_SIZE", 4)

    assert len(AwsPriceSource(aws.clients()).prices([SPOT], NOW)) == 9


def test_a_refused_price_list_is_a_failure_and_no_empty_answer(aws: Aws) -> None:
    sandbox = aws.serve()
    sandbox.faults.add(kind="deny", service="pricing")

    with pytest.raises(SourceUnavailableError) as caught:
        AwsPriceSource(aws.clients()).prices([P5], NOW)

    assert caught.value.cause == "AccessDeniedException"


def offered(rate: str, **other: object) -> OfferedPlanSeed:
    return OfferedPlanSeed(rates={"p5.48xlarge": rate}, **other)  # type: ignore[arg-type]


def test_rates_of_savings_plans_are_read_for_every_term(aws: Aws) -> None:
    aws.serve(
        offered_plans=[
            offered("38.5"),
            offered("36", payment_option="All Upfront"),
            offered("25", type="EC2Instance", years=3, payment_option="All Upfront"),
            offered("40", type="SageMaker"),
            offered("30", region="us-west-2"),
            offered("20", operating_system="Windows"),
            offered("38.4", usage="UnusedBox"),
        ]
    )

    found = AwsPriceSource(aws.clients()).prices([PLAN], NOW)

    assert {one.key.zone: one.rate for one in found} == {
        "Compute:1:No Upfront": Rate.of("38.5"),
        "Compute:1:All Upfront": Rate.of("36"),
        "EC2Instance:3:All Upfront": Rate.of("25"),
    }
    assert {one.source for one in found} == {"Savings Plans offering rates"}


def test_a_plan_rate_of_0_or_two_different_ones_are_no_rate(aws: Aws) -> None:
    aws.serve(
        offered_plans=[
            offered("0"),
            offered("36", years=3),
            offered("37", years=3),
            offered("30", type="EC2Instance"),
        ]
    )
    source = AwsPriceSource(aws.clients())

    found = source.prices([PLAN], NOW)

    assert [one.key.zone for one in found] == ["EC2Instance:1:No Upfront"]
    assert "compute savings plan, 3 years" in source.ambiguous[PLAN]


def test_pages_of_plan_rates_are_read_to_the_end(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = ("No Upfront", "Partial Upfront", "All Upfront")
    aws.serve(offered_plans=[offered("30", payment_option=way) for way in ways])
    monkeypatch.setattr("billing.aws.prices.PLAN_PAGE_SIZE", 2)

    assert len(AwsPriceSource(aws.clients()).prices([PLAN], NOW)) == 3
