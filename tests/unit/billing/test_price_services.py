"""Products of SageMaker, FSx and NAT gateways: the one that is meant, or none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from billing.core.gpus import snapshot_price
from billing.core.money import Rate
from billing.core.price_list import (
    AmbiguousPriceError,
    choose_price,
    filters,
    service_code,
)
from billing.core.prices import PriceKey
from deploy.sandbox.aws.price_services import (
    gateway_product,
    lustre_product,
    machine_product,
)


def key(product: str) -> PriceKey:
    return PriceKey(region="us-east-1", product=product)


def rate(product: str, *products: dict[str, object]) -> Rate | None:
    found = choose_price(products, key(product))
    return None if found is None else found.rate


@pytest.mark.parametrize(
    ("use", "price"),
    [("training", "37.69"), ("hosting", "47.11"), ("notebook", "40.00")],
)
def test_a_type_has_one_price_for_each_use(use: str, price: str) -> None:
    products = [
        machine_product("ml.p4d.24xlarge", "Training", "37.69"),
        machine_product("ml.p4d.24xlarge", "Hosting", "47.11"),
        machine_product("ml.p4d.24xlarge", "Notebook", "40.00"),
    ]

    assert rate(f"sagemaker:{use}:ml.p4d.24xlarge", *products) == Rate.of(price)


def test_the_price_of_another_use_is_no_price() -> None:
    hosting = machine_product("ml.p4d.24xlarge", "Hosting", "47.11")

    assert rate("sagemaker:cluster:ml.p4d.24xlarge", hosting) is None


def test_a_free_machine_is_not_believed() -> None:
    free = machine_product("ml.p4d.24xlarge", "Training", "0")

    assert rate("sagemaker:training:ml.p4d.24xlarge", free) is None


def test_a_reserved_cluster_is_not_the_cluster() -> None:
    reserved = machine_product("ml.g5.8xlarge", "Cluster", "1.00")
    reserved["product"]["attributes"]["usagetype"] = (
        "USE1-ReservedCluster:ml.g5.8xlarge"
    )

    assert rate("sagemaker:cluster:ml.g5.8xlarge", reserved) is None


def test_two_products_for_one_use_are_a_guess() -> None:
    one = machine_product("ml.g5.8xlarge", "Cluster", "3.06")
    other = machine_product("ml.g5.8xlarge", "Cluster", "3.07")
    other["product"] |= {"sku": "OTHER"}

    with pytest.raises(AmbiguousPriceError):
        rate("sagemaker:cluster:ml.g5.8xlarge", one, other)


def test_a_file_system_is_priced_by_its_throughput() -> None:
    tiers = [lustre_product("0.145", tier=125), lustre_product("0.21", tier=250)]

    found = rate("fsx:lustre:persistent_2:ssd:250", *tiers)

    assert found == Rate(round(Fraction(Decimal("0.21")) * 10**9 / 730))


def test_backups_of_a_file_system_are_not_its_storage() -> None:
    backup = lustre_product("0.05", tier=125)
    backup["product"]["attributes"]["usagetype"] = "USE1-BackupUsage"

    assert rate("fsx:lustre:persistent_2:ssd:125", backup) is None


def test_scratch_is_priced_by_scratch_alone() -> None:
    persistent = lustre_product("0.145", tier=200)

    assert rate("fsx:lustre:scratch_2:ssd", persistent) is None


def test_a_gateway_is_priced_by_its_hours() -> None:
    products = [
        gateway_product("0.045"),
        gateway_product("0.045", usage="NatGateway-Bytes", unit="GB"),
        gateway_product("0.045", usage="RegionalNatGateway-Hours"),
    ]

    assert rate("nat-gateway", *products) == Rate.of("0.045")


def test_each_service_is_asked_under_its_own_code() -> None:
    assert service_code(key("sagemaker:training:ml.g5.xlarge")) == "AmazonSageMaker"
    assert service_code(key("fsx:lustre:persistent_2:ssd:125")) == "AmazonFSx"
    assert service_code(key("nat-gateway")) == "AmazonEC2"
    assert service_code(key("p5.48xlarge")) == "AmazonEC2"


@pytest.mark.parametrize(
    "product",
    [
        "ebs:snapshot",
        "managed-spot:sagemaker:training:ml.g5.xlarge",
        "sagemaker:hosting:serverless",
    ],
)
def test_what_nobody_publishes_is_not_asked_for(product: str) -> None:
    assert filters(key(product)) is None


def test_the_snapshot_knows_gateways_and_file_systems_of_some_regions() -> None:
    gateway = snapshot_price(key("nat-gateway"))
    lustre = snapshot_price(key("fsx:lustre:persistent_2:ssd:125"))

    assert gateway is not None
    assert gateway.rate == Rate.of("0.045")
    assert lustre is not None
    assert lustre.source == "snapshot"
    assert snapshot_price(key("fsx:lustre:persistent_2:ssd:1000")) is None
    assert snapshot_price(PriceKey(region="sa-east-1", product="nat-gateway")) is None
