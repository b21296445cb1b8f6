"""One right product among many, or none."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from billing.core.money import Rate
from billing.core.price_list import (
    AmbiguousPriceError,
    choose_price,
    filters,
    plausible,
)
from billing.core.prices import Purchase
from tests.builders import at, make_key, make_price

PRODUCTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "price_list_products.json").read_text()
)["PriceList"]


def product(
    price: str | None = "1.00",
    *,
    sku: str = "SKU1",
    unit: str = "Hrs",
    currency: str = "USD",
    family: str = "Compute Instance",
    **attributes: str,
) -> dict[str, Any]:
    dimension = {"unit": unit, "pricePerUnit": {currency: price}}
    return {
        "product": {
            "sku": sku,
            "productFamily": family,
            "attributes": {
                "instanceType": "p5.48xlarge",
                "regionCode": "us-east-1",
                "operatingSystem": "Linux",
                "preInstalledSw": "NA",
                "tenancy": "Shared",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
                **attributes,
            },
        },
        "terms": {"OnDemand": {f"{sku}.AAA": {"priceDimensions": {"X.1": dimension}}}},
        "publicationDate": "2026-09-10T19:55:14Z",
    }


def chosen(*products: dict[str, Any], **key: Any) -> Rate | None:
    found = choose_price(products, make_key(**key))
    return None if found is None else found.rate


@pytest.mark.parametrize(
    ("instance_type", "region", "rate"),
    [
        ("p5.48xlarge", "us-east-1", "55.04"),  # a capacity block at 0.00 beside it
        ("p4d.24xlarge", "us-east-1", "21.957642"),
        ("p4d.24xlarge", "us-west-2", "21.95764"),
        ("p4d.24xlarge", "eu-west-1", "23.71569"),
        ("m5.xlarge", "us-east-1", "0.192"),  # eight products of this type
        ("trn1.32xlarge", "us-west-2", "21.5"),
    ],
)
def test_real_products_give_the_nominal_price(
    instance_type: str, region: str, rate: str
) -> None:
    key = make_key(instance_type, region=region)

    for order in (PRODUCTS, PRODUCTS[::-1]):
        price = choose_price(order, key)
        assert price is not None
        assert price.rate == Rate.of(rate)
        assert price.source == "price list"
        assert price.as_of == at("2026-09-10T19:55:14Z")


@pytest.mark.parametrize(
    ("platform", "tenancy", "rate"),
    [
        ("Windows", "default", "0.376"),
        ("Linux/UNIX", "dedicated", "0.204"),
        ("Linux with SQL Server Standard", "default", "0.672"),
    ],
)
def test_real_products_by_platform_and_tenancy(
    platform: str, tenancy: str, rate: str
) -> None:
    key = make_key("m5.xlarge", platform=platform, tenancy=tenancy)

    price = choose_price(PRODUCTS, key)

    assert price is not None
    assert price.rate == Rate.of(rate)


def test_reservation_products_are_not_the_price() -> None:  # C034
    rows = [
        product("0.00", sku="A", capacitystatus="AllocatedCapacityReservation"),
        product("60.00", sku="B"),
        product("60.00", sku="C", capacitystatus="UnusedCapacityReservation"),
    ]

    assert chosen(*rows) == chosen(*rows[::-1]) == Rate.of("60")


def test_preinstalled_software_is_another_price() -> None:  # C035
    rows = [product("4.00", sku="A", preInstalledSw="SQL Ent"), product("1.00")]

    assert chosen(*rows) == Rate.of("1")


def test_two_products_left_are_never_guessed_between() -> None:  # C035
    with pytest.raises(AmbiguousPriceError, match="expected one product for"):
        chosen(product("1.00", sku="A"), product("2.00", sku="B"))


def test_product_that_two_pages_repeat_is_one_product() -> None:
    assert chosen(product("60.00"), product("60.00")) == Rate.of("60")


def test_bare_metal_lives_in_another_family() -> None:  # C037
    row = product(
        "7.80", family="Compute Instance (bare metal)", instanceType="g4dn.metal"
    )

    assert chosen(row, product="g4dn.metal") == Rate.of("7.80")
    assert chosen(row, product="g5.metal") is None


@pytest.mark.parametrize("price", ["0.0000000000", "0"])
def test_price_of_zero_is_no_price(price: str) -> None:  # C038
    assert chosen(product(price)) is None


def test_region_code_decides_whatever_the_location_is_called() -> None:  # C040
    row = product(regionCode="eu-west-1", location="Europe (Ireland)")

    assert chosen(row, region="eu-west-1") == Rate.of("1")
    assert chosen(row, region="us-east-1") is None


def test_local_zone_is_not_the_region() -> None:
    assert chosen(product(locationType="AWS Local Zone")) is None


def test_other_currency_stays_what_it_is() -> None:  # C042
    row = product("70.00", currency="CNY", regionCode="cn-north-1")

    assert chosen(row, region="cn-north-1") == Rate.of("70", "CNY")


def test_two_hourly_dimensions_are_an_error() -> None:  # C042
    row = product()
    dimensions = row["terms"]["OnDemand"]["SKU1.AAA"]["priceDimensions"]
    dimensions["X.2"] = deepcopy(dimensions["X.1"])

    with pytest.raises(AmbiguousPriceError, match="expected one price dimension"):
        chosen(row)


def test_other_units_are_left_aside() -> None:  # C042
    row = product()
    dimensions = row["terms"]["OnDemand"]["SKU1.AAA"]["priceDimensions"]
    dimensions["X.2"] = {"unit": "Quantity", "pricePerUnit": {"USD": "900"}}

    assert chosen(row) == Rate.of("1")


@pytest.mark.parametrize(
    "key",
    [
        make_key(purchase=Purchase.SPOT, zone="us-east-1a"),
        make_key(purchase=Purchase.CAPACITY_BLOCK),
        make_key(tenancy="host"),
        make_key(platform="Plan 9"),
    ],
    ids=["spot", "capacity-block", "host", "unknown-platform"],
)
def test_what_the_price_list_does_not_sell_has_no_price(key: Any) -> None:  # C039
    assert filters(key) is None
    assert choose_price(PRODUCTS, key) is None


def test_volumes_are_priced_by_the_hour() -> None:
    rows = [
        product("0.08", unit="GB-Mo", family="Storage", volumeApiName="gp3"),
        product(
            "40.96",
            sku="B",
            unit="GiBps-mo",
            family="Provisioned Throughput",
            volumeApiName="gp3",
        ),
        product(
            "0.065",
            sku="C",
            unit="IOPS-Mo",
            family="System Operation",
            volumeApiName="io2",
            usagetype="EBS:VolumeP-IOPS.io2",
        ),
        product(
            "0.0455",
            sku="D",
            unit="IOPS-Mo",
            family="System Operation",
            volumeApiName="io2",
            usagetype="EBS:VolumeP-IOPS.io2.tier2",
        ),
    ]

    assert chosen(*rows, product="ebs:gp3") == Rate(109_589)
    assert chosen(*rows, product="ebs:gp3:throughput") == Rate(54_795)
    assert chosen(*rows, product="ebs:io2:iops") == Rate(89_041)
    assert chosen(*rows, product="ebs:st1") is None


@pytest.mark.parametrize(
    ("new", "is_believed"),
    [("50", True), ("50.01", False), ("2", True), ("1.99", False), ("0", False)],
    ids=["five-times", "more", "a-fifth", "less", "zero"],
)
def test_price_more_than_five_times_off_is_refused(
    new: str,
    is_believed: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    reason = plausible(make_price(new), make_price("10"))

    assert (reason is None) is is_believed


def test_refusal_says_both_prices() -> None:
    reason = plausible(make_price("288.627"), make_price("24.48"))

    assert reason == "$288.63/h is more than 5 times above the last good price $24.48/h"


def test_first_price_has_nothing_to_be_compared_with() -> None:
    assert plausible(make_price("1000"), None) is None


def test_change_of_currency_is_refused() -> None:
    reason = plausible(make_price("70", currency="CNY"), make_price("60"))

    assert reason == "it is in CNY, not in USD"
