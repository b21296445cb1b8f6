"""The Price List and Savings Plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import instant
from deploy.sandbox.aws.price_data import instance_product
from deploy.sandbox.aws.world import SavingsPlanSeed
from tests.sandbox.aws.calls import refused
from tests.sandbox.aws.conftest import Serve

NOMINAL = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
    "preInstalledSw": "NA",
}


def term(field: str, value: str, kind: str = "TERM_MATCH") -> dict[str, str]:
    return {"Type": kind, "Field": field, "Value": value}


def products(sandbox: AwsSandbox, *filters: dict[str, str]) -> list[Any]:
    client = sandbox.client("pricing")
    pages = client.get_paginator("get_products").paginate(
        ServiceCode="AmazonEC2", Filters=list(filters), FormatVersion="aws_v1"
    )
    return [json.loads(text) for page in pages for text in page["PriceList"]]


def price(product: Any) -> str:
    offer = next(iter(product["terms"]["OnDemand"].values()))
    dimension = next(iter(offer["priceDimensions"].values()))
    return str(dimension["pricePerUnit"]["USD"])


def nominal(sandbox: AwsSandbox, instance_type: str, region: str) -> list[str]:
    filters = [term(field, value) for field, value in NOMINAL.items()]
    filters += [term("instanceType", instance_type), term("regionCode", region)]
    return [price(item) for item in products(sandbox, *filters)]


@pytest.mark.parametrize(
    ("instance_type", "region", "expected"),
    [
        ("p5.48xlarge", "us-east-1", ["55.0400000000"]),
        ("p4d.24xlarge", "us-west-2", ["21.9576400000"]),
        ("g6e.xlarge", "us-east-1", ["1.8610000000"]),
        ("g4dn.metal", "us-east-1", ["7.8240000000"]),
        ("p5e.48xlarge", "us-east-1", []),
    ],
)
def test_all_filters_leave_one_price(
    serve: Serve, instance_type: str, region: str, expected: list[str]
) -> None:
    assert nominal(serve(World()), instance_type, region) == expected


def test_without_filters_the_awkward_rows_are_there(serve: Serve) -> None:
    # C034, C035
    sandbox = serve(World())

    p5 = products(sandbox, term("instanceType", "p5.48xlarge"))
    m5 = products(sandbox, term("instanceType", "m5.xlarge"))
    g6e = products(sandbox, term("instanceType", "g6e.xlarge"))

    assert "0.0000000000" in {price(item) for item in p5}
    attributes = [item["product"]["attributes"] for item in m5]
    assert {"Windows", "Linux"} == {a["operatingSystem"] for a in attributes}
    assert "SQL Std" in {a["preInstalledSw"] for a in attributes}
    assert "Dedicated" in {a["tenancy"] for a in attributes}
    states = {item["product"]["attributes"]["capacitystatus"] for item in g6e}
    assert states == {
        "Used",
        "UnusedCapacityReservation",
        "AllocatedCapacityReservation",
    }


def test_metal_types_are_another_family(serve: Serve) -> None:
    # C037
    found = products(serve(World()), term("instanceType", "g4dn.metal"))

    families = {item["product"]["productFamily"] for item in found}
    assert families == {"Compute Instance (bare metal)"}


@pytest.mark.parametrize(
    ("field", "name", "expected"),
    [
        ("volumeApiName", "gp3", "0.0800000000"),
        ("usagetype", "EBS:SnapshotUsage", "0.0500000000"),
    ],
)
def test_storage_has_prices(serve: Serve, field: str, name: str, expected: str) -> None:
    found = products(serve(World()), term(field, name), term("regionCode", "us-east-1"))

    assert [price(item) for item in found] == [expected]


def test_the_newer_filter_types_work(serve: Serve) -> None:
    sandbox = serve(World())

    either = products(sandbox, term("instanceType", "p2.xlarge,p3.2xlarge", "ANY_OF"))
    part = products(sandbox, term("instanceType", "p6-", "CONTAINS"))
    none = products(
        sandbox,
        term("volumeApiName", "gp3", "EQUALS"),
        term("regionCode", "us-east-1,us-west-2", "NONE_OF"),
    )

    types = {item["product"]["attributes"]["instanceType"] for item in either}
    assert types == {"p2.xlarge", "p3.2xlarge"}
    assert {i["product"]["attributes"]["instanceType"] for i in part} == {
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
    }
    assert [i["product"]["attributes"]["regionCode"] for i in none] == ["eu-west-1"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"ServiceCode": "AmazonEC3"}, "NotFoundException"),
        ({"FormatVersion": "aws_v2"}, "InvalidParameterException"),
        ({"MaxResults": 101}, "InvalidParameterException"),
        ({"NextToken": "x"}, "InvalidNextTokenException"),
        ({"Filters": [term("colour", "red")]}, "InvalidParameterException"),
        ({"Filters": [term("sku", "x", "LIKE")]}, "InvalidParameterException"),
        ({"Filters": [{"Type": "EQUALS"}]}, "InvalidParameterException"),
    ],
)
def test_wrong_price_requests_are_refused(
    serve: Serve, params: dict[str, Any], code: str
) -> None:
    client = serve(World()).client("pricing", parameter_validation=False)

    asked = {"ServiceCode": "AmazonEC2"} | params
    assert refused(lambda: client.get_products(**asked))[0] == code


def test_the_price_list_has_endpoints_in_few_regions(serve: Serve) -> None:
    client = serve(World()).client("pricing", region="us-west-2")

    assert refused(client.describe_services)[0] == "NoEndpointInRegion"


def test_services_and_attribute_values_are_listed(serve: Serve) -> None:
    client = serve(World()).client("pricing")

    services = client.describe_services(ServiceCode="AmazonEC2")["Services"]
    values = client.get_attribute_values(
        ServiceCode="AmazonEC2", AttributeName="volumeType"
    )["AttributeValues"]

    assert "instanceType" in services[0]["AttributeNames"]
    assert {"Value": "General Purpose"} in values


def test_a_world_adds_products_and_can_drop_the_shipped_ones(serve: Serve) -> None:
    world = World(
        shipped_prices=False,
        products=[
            instance_product("g5.xlarge", "1.00"),
            instance_product("x9.huge", "9"),
        ],
    )

    assert nominal(serve(world), "g5.xlarge", "us-east-1") == ["1.0000000000"]
    assert nominal(serve(World()), "g5.xlarge", "us-east-1") == ["1.0060000000"]


PLAN = SavingsPlanSeed(
    id="sp-1",
    start=instant("2026-01-01"),
    end=instant("2027-01-01"),
    commitment="12.5",
    rates={"BoxUsage:p5.48xlarge": "38.2"},
)


def test_plans_and_their_rates_are_described(serve: Serve) -> None:
    sandbox = serve(World(savings_plans=[PLAN]))
    client = sandbox.client("savingsplans")

    plans = client.describe_savings_plans(states=["active"])["savingsPlans"]
    rates = client.describe_savings_plan_rates(savingsPlanId="sp-1")["searchResults"]
    sandbox.clock.set("2027-01-01T00:00:00Z")
    later = client.describe_savings_plans()["savingsPlans"][0]["state"]

    assert (plans[0]["commitment"], plans[0]["savingsPlanArn"]) == ("12.5", PLAN.arn)
    assert (rates[0]["rate"], rates[0]["unit"]) == ("38.2", "Hrs")
    assert later == "retired"


def test_wrong_plan_requests_are_refused(serve: Serve) -> None:
    client = serve(World()).client("savingsplans", parameter_validation=False)

    state = refused(lambda: client.describe_savings_plans(states=["asleep"]))
    unknown = refused(lambda: client.describe_savings_plan_rates(savingsPlanId="sp-9"))

    assert state[0] == "ValidationException"
    assert unknown[0] == "ResourceNotFoundException"
