"""Short ways to write the data of a world.

They must not know how the double answers: each one returns plain seeds with the
exact spellings that AWS uses.
"""

# ruff: noqa: ANN401  # fields are checked by the seeds that they build

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from deploy.sandbox.aws.world import (
    DEFAULT_ACCOUNT,
    CostSeed,
    InstanceSeed,
    MetricSeed,
    SavingsPlanSeed,
    SpotSeed,
)

EC2_COMPUTE = "Amazon Elastic Compute Cloud - Compute"
EC2_OTHER = "EC2 - Other"
SAVINGS_PLANS = "Savings Plans for AWS Compute usage"
SUPPORT = "AWS Support (Business)"

#: Prefix of usage types by region; us-east-1 has none.
USAGE_PREFIXES = {
    "us-east-1": "",
    "us-east-2": "USE2-",
    "us-west-2": "USW2-",
    "eu-west-1": "EU-",
    "eu-central-1": "EUC1-",
    "ap-northeast-1": "APN1-",
}


def instant(text: str) -> datetime:
    """Return the UTC instant that a short text names."""
    value = datetime.fromisoformat(text)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def days(start: str, end: str) -> list[date]:
    """Return the days from `start` up to and without `end`."""
    first, last = date.fromisoformat(start), date.fromisoformat(end)
    return [first + timedelta(days=n) for n in range((last - first).days)]


def cost(day: str | date, unblended: str, **fields: Any) -> CostSeed:
    """Return one line of cost, by default of on-demand EC2 compute."""
    values: dict[str, Any] = {
        "day": date.fromisoformat(day) if isinstance(day, str) else day,
        "account": DEFAULT_ACCOUNT,
        "service": EC2_COMPUTE,
        "usage_type": "BoxUsage:p5.48xlarge",
        "unblended": unblended,
    }
    return CostSeed(**(values | fields))


def gpu_hours(
    day: str | date,
    instance_type: str,
    *,
    hours: str,
    price: str,
    region: str = "us-east-1",
    tags: Mapping[str, str] | None = None,
    **fields: Any,
) -> CostSeed:
    """Return the on-demand compute of one type on one day."""
    amount = Decimal(hours) * Decimal(price)
    return cost(
        day,
        format(amount, "f"),
        usage_type=f"{USAGE_PREFIXES[region]}BoxUsage:{instance_type}",
        instance_type=instance_type,
        region=region,
        quantity=hours,
        tags=dict(tags or {}),
        **fields,
    )


def spot_hours(day: str | date, instance_type: str, **fields: Any) -> CostSeed:
    """Return the spot compute of one type on one day, as `gpu_hours` does."""
    seed = gpu_hours(day, instance_type, **fields)
    prefix = USAGE_PREFIXES[seed.region]
    return replace(
        seed,
        usage_type=f"{prefix}SpotUsage:{instance_type}",
        operation="RunInstances:SV001",
        purchase_type="Spot Instances",
    )


def volume_cost(day: str | date, unblended: str, **fields: Any) -> CostSeed:
    """Return the gp3 storage of one day, in the service that Cost Explorer uses."""
    values = {
        "service": EC2_OTHER,
        "usage_type": "EBS:VolumeUsage.gp3",
        "operation": "CreateVolume-Gp3",
        "unit": "GB-Mo",
    }
    return cost(day, unblended, **(values | fields))


def other_charge(
    day: str | date, record_type: str, unblended: str, **fields: Any
) -> CostSeed:
    """Return a line without usage: Credit, Refund, Tax, Support, Fee and so on."""
    service = {"Tax": "Tax", "Support": SUPPORT}.get(record_type, EC2_COMPUTE)
    values = {
        "service": service,
        "record_type": record_type,
        "usage_type": "No Usage Type",
        "operation": "No Operation",
        "purchase_type": "No Purchase Type",
        "region": "NoRegion",
        "unit": "N/A",
    }
    return cost(day, unblended, **(values | fields))


def savings_plan_use(
    day: str | date,
    instance_type: str,
    *,
    on_demand: str,
    effective: str,
    hours: str,
    tags: Mapping[str, str] | None = None,
    **fields: Any,
) -> list[CostSeed]:
    """Return use covered by a plan: the covered line and the negation."""
    shared: dict[str, Any] = {
        "usage_type": f"BoxUsage:{instance_type}",
        "instance_type": instance_type,
        "purchase_type": "Savings Plans",
        "quantity": hours,
    } | fields
    covered = cost(
        day,
        on_demand,
        net_unblended=on_demand,
        amortized=effective,
        net_amortized=effective,
        record_type="SavingsPlanCoveredUsage",
        tags=dict(tags or {}),
        **shared,
    )
    negation = cost(
        day,
        f"-{on_demand}",
        net_unblended=f"-{on_demand}",
        amortized="0",
        net_amortized="0",
        record_type="SavingsPlanNegation",
        **shared | {"quantity": "0"},
    )
    return [covered, negation]


def savings_plan_fee(
    day: str | date, committed: str, *, used: str, plan: SavingsPlanSeed | None = None
) -> CostSeed:
    """Return a plan's recurring fee of one day; amortised, only its unused part."""
    unused = format(Decimal(committed) - Decimal(used), "f")
    return cost(
        day,
        committed,
        net_unblended=committed,
        amortized=unused,
        net_amortized=unused,
        service=SAVINGS_PLANS,
        usage_type="ComputeSP:1yrNoUpfront",
        operation="No Operation",
        purchase_type="Savings Plans",
        record_type="SavingsPlanRecurringFee",
        savings_plan_arn=plan.arn if plan else None,
    )


def restated(seed: CostSeed, unblended: str, *, at: datetime) -> list[CostSeed]:
    """Return a line and the one that replaces it from an instant on."""
    later = replace(seed, unblended=unblended, arrived_at=at, replaced_at=None)
    return [replace(seed, replaced_at=at), later]


def instance(
    instance_id: str, instance_type: str, *, launched_at: str, **fields: Any
) -> InstanceSeed:
    """Return one instance, by default running on demand in us-east-1a."""
    return InstanceSeed(
        id=instance_id,
        instance_type=instance_type,
        launched_at=instant(launched_at),
        **fields,
    )


def gpu_utilisation(
    instance_id: str,
    values: Iterable[float],
    *,
    start: str,
    gpu: int = 0,
    step: timedelta = timedelta(minutes=5),
    **fields: Any,
) -> MetricSeed:
    """Return the CloudWatch agent's utilisation series of one GPU."""
    first = instant(start)
    return MetricSeed(
        namespace="CWAgent",
        name="nvidia_smi_utilization_gpu",
        dimensions={
            "InstanceId": instance_id,
            "index": str(gpu),
            "name": "NVIDIA H100 80GB HBM3",
            "arch": "Hopper",
        },
        points=[(first + step * n, value) for n, value in enumerate(values)],
        **fields,
    )


def spot_series(
    instance_type: str,
    zone: str,
    prices: Iterable[str],
    *,
    start: str,
    step: timedelta = timedelta(hours=6),
) -> list[SpotSeed]:
    """Return a spot price series, one price each `step`."""
    first = instant(start)
    return [
        SpotSeed(
            at=first + step * n, instance_type=instance_type, zone=zone, price=price
        )
        for n, price in enumerate(prices)
    ]
