"""What the texts of a line of the bill mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.categories import (
    classify,
    is_gpu_running,
    is_usage_record,
    region_of,
    running_type_of,
)
from billing.core.charges import Bucket, ChargeCategory, CostCategory, PricingCategory

COMPUTE, STORAGE = CostCategory.COMPUTE, CostCategory.STORAGE
NETWORK, MANAGED = CostCategory.NETWORK, CostCategory.MANAGED_SERVICE


@pytest.mark.parametrize(
    ("record_type", "category", "pricing", "bucket"),
    [
        ("Usage", "usage", "standard", "untagged"),
        ("DiscountedUsage", "usage", "committed", "untagged"),
        ("Reservation applied usage", "usage", "committed", "untagged"),
        ("SavingsPlanCoveredUsage", "usage", "committed", "untagged"),
        ("Savings Plan Covered Usage", "usage", "committed", "untagged"),
        ("SavingsPlanNegation", "adjustment", "committed", "commitment-unused"),
        ("Savings Plan Negation", "adjustment", "committed", "commitment-unused"),
        ("SavingsPlanRecurringFee", "purchase", "committed", "commitment-unused"),
        ("Savings Plan Upfront Fee", "purchase", "committed", "commitment-unused"),
        ("RIFee", "purchase", "committed", "commitment-unused"),
        ("Recurring reservation fee", "purchase", "committed", "commitment-unused"),
        ("Tax", "tax", "other", "overhead"),
        ("Credit", "credit", "other", "credits"),
        ("Refund", "refund", "other", "credits"),
        ("Fee", "fee", "other", "overhead"),
        ("Support fee", "fee", "other", "overhead"),
        ("EdpDiscount", "adjustment", "other", "overhead"),
        ("Something AWS adds in 2031", "adjustment", "other", "overhead"),
        ("", "adjustment", "other", "overhead"),
    ],
)
def test_record_types_in_both_spellings(
    record_type: str, category: str, pricing: str, bucket: str
) -> None:
    found = classify(record_type, "")

    assert found.category == ChargeCategory(category)
    assert found.pricing == PricingCategory(pricing)
    assert found.bucket == Bucket(bucket)


@pytest.mark.parametrize(
    ("usage_type", "category"),
    [
        ("BoxUsage:p5.48xlarge", COMPUTE),
        ("USW2-SpotUsage:g5.48xlarge", COMPUTE),
        ("EU-DedicatedUsage:p4d.24xlarge", COMPUTE),
        ("UnusedBox:p5.48xlarge", COMPUTE),
        ("USE2-Reservation:p5.48xlarge", COMPUTE),
        ("HeavyUsage:p5.48xlarge", COMPUTE),
        ("ComputeSP:1yrNoUpfront", COMPUTE),
        ("EBS:VolumeUsage.gp3", STORAGE),
        ("USW2-EBS:VolumeP-IOPS.io2", STORAGE),
        ("EBS:SnapshotUsage", STORAGE),
        ("USE1-TimedStorage-ByteHrs", STORAGE),
        ("Requests-Tier1", STORAGE),
        ("NatGateway-Hours", NETWORK),
        ("USW2-NatGateway-Bytes", NETWORK),
        ("DataTransfer-Regional-Bytes", NETWORK),
        ("DataTransfer-Out-Bytes", NETWORK),
        ("USE1-USW2-AWS-Out-Bytes", NETWORK),
        ("LoadBalancerUsage", NETWORK),
        ("USE1-PublicIPv4:InUseAddress", NETWORK),
        ("USW2-Train:ml.p4d.24xlarge", MANAGED),
        ("USE1-Host:ml.g5.xlarge", MANAGED),
        ("Notebk:ml.t3.medium", MANAGED),
        ("USE2-Cluster:ml.p5.48xlarge", MANAGED),
        ("USW2-Train:VolumeUsage.gp2", STORAGE),
        ("USE1-AmazonEKS-Hours:perCluster", MANAGED),
        ("USE1-Unheard-Of", CostCategory.OTHER),
        ("", CostCategory.OTHER),
    ],
)
def test_what_the_money_buys(usage_type: str, category: CostCategory) -> None:
    assert classify("Usage", usage_type).cost_category is category


@pytest.mark.parametrize(
    ("service", "category"),
    [
        ("Amazon SageMaker", MANAGED),
        ("AWS Batch", MANAGED),
        ("Amazon Elastic Container Service for Kubernetes", MANAGED),
        ("Amazon FSx", STORAGE),
        ("Amazon Elastic File System", STORAGE),
        ("AWS Key Management Service", CostCategory.OTHER),
    ],
)
def test_service_decides_where_the_usage_type_says_nothing(
    service: str, category: CostCategory
) -> None:
    found = classify("Usage", "USE1-Something", service=service)

    assert found.cost_category is category


def test_credit_for_a_service_is_not_its_storage() -> None:
    found = classify("Credit", "", service="Amazon FSx")

    assert found.cost_category is CostCategory.OTHER


@pytest.mark.parametrize(
    ("usage_type", "region"),
    [
        ("BoxUsage:p5.48xlarge", "us-east-1"),
        ("USE1-TimedStorage-ByteHrs", "us-east-1"),
        ("USE2-BoxUsage:p5.48xlarge", "us-east-2"),
        ("EU-BoxUsage:g5.xlarge", "eu-west-1"),
        ("EUC1-EBS:VolumeUsage.gp3", "eu-central-1"),
        ("APN1-BoxUsage:g5.xlarge", "ap-northeast-1"),
        ("APS3-BoxUsage:g5.xlarge", "ap-south-1"),
        ("CPT-BoxUsage:g5.xlarge", "af-south-1"),
        ("UGW1-BoxUsage:p4d.24xlarge", "us-gov-west-1"),
        ("USE1-USW2-AWS-Out-Bytes", "us-east-1"),
        ("NatGateway-Hours", "us-east-1"),
        ("XYZ9-BoxUsage:g5.xlarge", ""),
        ("Global-BoxUsage:freetrial", ""),
        ("", ""),
    ],
)
def test_region_of_the_prefix(usage_type: str, region: str) -> None:
    assert region_of(usage_type) == region


@pytest.mark.parametrize(
    ("usage_type", "instance_type"),
    [
        ("BoxUsage:p5.48xlarge", "p5.48xlarge"),
        ("USW2-SpotUsage:p6-b200.48xlarge", "p6-b200.48xlarge"),
        ("UnusedDed:g4dn.metal", "g4dn.metal"),
        ("USE2-Reservation:p5.48xlarge", "p5.48xlarge"),
        ("USW2-Train:ml.p4d.24xlarge", "ml.p4d.24xlarge"),
        ("EBS:VolumeUsage.gp3", ""),
        ("HostUsage:p5", ""),
    ],
)
def test_instance_type_at_the_end(usage_type: str, instance_type: str) -> None:
    assert classify("Usage", usage_type).instance_type == instance_type


def test_spot_is_dynamic_even_where_the_record_is_plain_usage() -> None:
    found = classify("Usage", "USE1-SpotUsage:p5.48xlarge")

    assert found.pricing is PricingCategory.DYNAMIC


def test_credit_for_spot_is_not_dynamic() -> None:
    found = classify("Credit", "USE1-SpotUsage:p5.48xlarge")

    assert found.pricing is PricingCategory.OTHER


def test_job_takes_usage_and_nothing_else() -> None:
    usage = classify("Usage", "BoxUsage:p5.48xlarge", job="job-123")
    tax = classify("Tax", "", job="job-123")

    assert (usage.bucket, usage.job) == (Bucket.JOB, "job-123")
    assert (tax.bucket, tax.job) == (Bucket.OVERHEAD, "")


def test_unused_reservation_without_a_job_is_unused_commitment() -> None:
    unused = classify("Usage", "UnusedBox:p5.48xlarge")

    assert unused.bucket is Bucket.COMMITMENT_UNUSED
    assert classify("Usage", "UnusedBox:p5.48xlarge", job="a").bucket is Bucket.JOB


@pytest.mark.parametrize(
    ("usage_type", "is_running"),
    [
        ("USE2-BoxUsage:p5.48xlarge", True),
        ("SpotUsage:g6f.large", True),
        ("BoxUsage:m5.xlarge", False),
        ("UnusedBox:p5.48xlarge", False),
        ("HeavyUsage:p5.48xlarge", False),
        ("USW2-Train:ml.p4d.24xlarge", False),
        ("EBS:VolumeUsage.gp3", False),
    ],
)
def test_only_running_gpu_instances_count_hours(
    usage_type: str,
    is_running: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    assert is_gpu_running(usage_type) is is_running


@given(st.text(max_size=40), st.text(max_size=60), st.text(max_size=20))
def test_any_text_at_all_is_classified(
    record_type: str, usage_type: str, job: str
) -> None:
    found = classify(record_type, usage_type, job=job)

    assert (found.bucket is Bucket.JOB) == (found.job != "")
    assert is_usage_record(record_type) == (found.category is ChargeCategory.USAGE)
    assert running_type_of(usage_type) in {"", found.instance_type}
