"""Accelerators of instance types and the shipped price snapshot."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest

from billing.core.data import gpu_prices
from billing.core.gpus import (
    accelerators,
    family_of,
    gpu_count,
    gpu_types_known,
    is_gpu_type,
    same_model,
    snapshot_age,
    snapshot_price,
    snapshot_regions,
)
from billing.core.money import Rate
from billing.core.prices import Purchase
from tests.builders import at, make_key


@pytest.mark.parametrize(
    ("instance_type", "count", "model"),
    [
        ("p5.48xlarge", 8, "H100"),
        ("p5e.48xlarge", 8, "H200"),
        ("p4d.24xlarge", 8, "A100"),
        ("g5.48xlarge", 8, "A10G"),
        ("g6.12xlarge", 4, "L4"),
        ("g6e.12xlarge", 4, "L40S"),
        ("g4dn.metal", 8, "T4"),
        ("trn1.32xlarge", 16, "Trainium"),
        ("trn2u.48xlarge", 16, "Trainium2"),
        ("inf2.48xlarge", 12, "Inferentia2"),
        ("dl1.24xlarge", 8, "Gaudi HL-205"),
        ("gr6.4xlarge", 1, "L4"),
        ("p6-b200.48xlarge", 8, "B200"),
        ("ml.p4d.24xlarge", 8, "A100"),
    ],
)
def test_count_and_model_of_a_type(instance_type: str, count: int, model: str) -> None:
    found = accelerators(instance_type)

    assert found is not None
    assert (found.count, found.model) == (count, model)
    assert found.memory_mib > 0


def test_fractional_gpus_are_seen_as_one_device() -> None:
    found = accelerators("g6f.large")

    assert found is not None
    assert (found.count, found.share) == (1, Fraction(1, 8))
    assert found.physical == Fraction(1, 8)


@pytest.mark.parametrize(
    "instance_type", ["m5.xlarge", "", "p9.48xlarge", "vt1.3xlarge"]
)
def test_unknown_type_has_unknown_gpus(instance_type: str) -> None:
    assert gpu_count(instance_type) is None
    assert not is_gpu_type(instance_type)


def test_same_model_tells_memory_sizes_apart() -> None:
    assert same_model("p4d.24xlarge") == ()  # 40 GB; p4de has 80 GB
    assert same_model("m5.xlarge") == ()


def test_family_of_managed_types() -> None:
    assert family_of("ml.trn1.32xlarge") == "trn1"


def test_snapshot_knows_the_price_of_its_date() -> None:
    price = snapshot_price(make_key("p5.48xlarge"))

    assert price is not None
    assert price.rate == Rate.of("55.04")
    assert price.source == "snapshot"
    assert price.as_of == at("2026-07-20T13:44:30Z")


def test_snapshot_has_no_price_where_aws_sells_none_on_demand() -> None:  # C038
    assert snapshot_price(make_key("p5e.48xlarge")) is None


@pytest.mark.parametrize(
    "key",
    [
        make_key(purchase=Purchase.SPOT, zone="us-east-1a"),
        make_key(platform="Windows"),
        make_key(tenancy="dedicated"),
        make_key(region="cn-north-1"),
        make_key(region="mars-north-1"),
    ],
    ids=["spot", "windows", "dedicated", "china", "no-such-region"],
)
def test_snapshot_answers_only_what_it_holds(key: object) -> None:
    assert snapshot_price(key) is None  # type: ignore[arg-type]


def test_every_snapshot_price_is_positive_and_of_a_known_type() -> None:
    for region, prices in gpu_prices.INSTANCES.items():
        assert region in gpu_prices.PUBLISHED
        for instance_type in prices:
            price = snapshot_price(make_key(instance_type, region=region))
            assert price is not None
            assert price.rate.nanos > 0
            assert instance_type in gpu_types_known()


def test_volume_price_is_per_hour_of_a_730_hour_month() -> None:
    price = snapshot_price(make_key("ebs:gp3"))

    assert price is not None
    assert price.rate == Rate(109_589)


def test_regions_of_the_snapshot() -> None:
    assert snapshot_regions("p4d.24xlarge") == (
        *("eu-west-1", "us-east-1"),
        *("us-gov-west-1", "us-west-2"),
    )


def test_snapshot_tells_its_age() -> None:
    assert snapshot_age(at("2026-07-21T13:44:30Z")) == timedelta(days=1)
