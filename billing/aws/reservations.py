"""Reserved capacity: EC2's reservations, Capacity Blocks among them, and training plans.

AWS names the fee of a training plan and of a block's extension, but not of the block
itself. Must not know who uses the capacity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

from billing.aws.calls import whole
from billing.aws.service_calls import Found, Scope, every, listing, tag_map
from billing.core.fleet import Lifecycle
from billing.core.money import USD, Money
from billing.core.periods import utc
from billing.core.resources import Reservation, ReservationKind, Resource
from billing.core.usage import ResourceKind

PAGE_SIZE = 100

CAPACITY = listing(
    "describe_capacity_reservations",
    "ec2:DescribeCapacityReservations",
    "CapacityReservations",
)
EXTENSIONS = listing(
    "describe_capacity_block_extension_history",
    "ec2:DescribeCapacityBlockExtensionHistory",
    "CapacityBlockExtensions",
)
PLANS = listing(
    "list_training_plans", "sagemaker:ListTrainingPlans", "TrainingPlanSummaries"
)
PERMISSIONS = (CAPACITY.permission, EXTENSIONS.permission, PLANS.permission)

_BLOCK = "capacity-block"
_ACTIVE = "active"
_PAID = "payment-succeeded"
_EC2_PAGE = 1_000
_IDS_MAX = 100
_PLAN_STATES = {"Active": _ACTIVE}


def read_reservations(scope: Scope) -> Found:
    """Read the reservations that this account pays for."""
    raws = []
    for raw in every(scope, CAPACITY, {"MaxResults": _EC2_PAGE}):
        with whole(CAPACITY, scope.place):
            payer = raw.get("UnusedReservationBillingOwnerId") or raw["OwnerId"]
        if payer == scope.account:
            raws.append(raw)
    fees = _extension_fees(scope, raws)
    with whole(CAPACITY, scope.place):
        reservations = tuple(_reservation(raw, scope, fees) for raw in raws)
    unused = (_unused(one, ResourceKind.UNUSED_CAPACITY) for one in reservations)
    return Found(
        resources=tuple(one for one in unused if one is not None),
        reservations=reservations,
    )


def read_training_plans(scope: Scope) -> Found:
    """Read SageMaker's training plans."""
    plans = []
    for raw in every(scope, PLANS, {"MaxResults": PAGE_SIZE}):
        with whole(PLANS, scope.place):
            plans.append(_plan(raw, scope))
    held = [one for one in plans if one is not None]
    unused = (_unused(one, ResourceKind.UNUSED_PLAN) for one in held)
    return Found(
        resources=tuple(one for one in unused if one is not None),
        reservations=tuple(held),
    )


def _extension_fees(
    scope: Scope, raws: Sequence[Mapping[str, Any]]
) -> dict[str, Money]:
    """Return what paid extensions of blocks cost, by reservation."""
    ids = sorted(
        str(raw["CapacityReservationId"])
        for raw in raws
        if raw.get("ReservationType") == _BLOCK
    )
    fees: dict[str, Money] = {}
    for start in range(0, len(ids), _IDS_MAX):
        asked = {"CapacityReservationIds": ids[start : start + _IDS_MAX]}
        for raw in every(scope, EXTENSIONS, asked):
            with whole(EXTENSIONS, scope.place):
                if raw["CapacityBlockExtensionStatus"] != _PAID:
                    continue
                name = raw["CapacityReservationId"]
                fee = Money.of(raw["UpfrontFee"], raw.get("CurrencyCode") or USD)
                fees[name] = fees[name] + fee if name in fees else fee
    return fees


def _reservation(
    raw: Mapping[str, Any], scope: Scope, fees: Mapping[str, Money]
) -> Reservation:
    is_block = raw.get("ReservationType") == _BLOCK
    starts_at = raw.get("StartDate") or raw["CreateDate"]
    return Reservation(
        reservation_id=raw["CapacityReservationId"],
        kind=ReservationKind.CAPACITY_BLOCK if is_block else ReservationKind.ON_DEMAND,
        account=scope.account,
        region=scope.region,
        zone=raw.get("AvailabilityZone", ""),
        instance_type=raw["InstanceType"],
        count=int(raw["TotalInstanceCount"]),
        available=raw.get("AvailableInstanceCount"),
        state=raw["State"],
        starts_at=utc(starts_at),
        ends_at=utc(raw["EndDate"]) if raw.get("EndDate") else None,
        bought_at=utc(raw["CreateDate"]) if raw.get("CreateDate") else None,
        extension_fee=fees.get(raw["CapacityReservationId"]),
        block_id=raw.get("CapacityBlockId", ""),
        platform=raw.get("InstancePlatform") or "Linux/UNIX",
        tenancy=raw.get("Tenancy") or "default",
        tags=tag_map(raw.get("Tags", ())),
    )


def _plan(raw: Mapping[str, Any], scope: Scope) -> Reservation | None:
    """Return a plan; None for one that was never paid."""
    parts = raw.get("ReservedCapacitySummaries") or ()
    if raw["Status"] not in {"Active", "Scheduled", "Expired"} or not parts:
        return None
    fee = raw.get("UpfrontFee")
    currency = raw.get("CurrencyCode") or USD
    return Reservation(
        reservation_id=raw["TrainingPlanArn"],
        kind=ReservationKind.TRAINING_PLAN,
        account=scope.account,
        region=scope.region,
        zone=parts[0].get("AvailabilityZone", ""),
        instance_type=parts[0]["InstanceType"],
        count=int(raw.get("TotalInstanceCount") or _count(parts)),
        available=raw.get("AvailableInstanceCount"),
        state=_PLAN_STATES.get(raw["Status"], raw["Status"].lower()),
        starts_at=utc(raw["StartTime"]),
        ends_at=utc(raw["EndTime"]) if raw.get("EndTime") else None,
        fee=Money.of(fee, currency) if fee else None,
        instance_s=_instance_s(parts),
    )


def _count(parts: Iterable[Mapping[str, Any]]) -> int:
    return sum(int(part["TotalInstanceCount"]) for part in parts)


def _instance_s(parts: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the instance-seconds that a plan holds, part by part; None when not told."""
    held = Fraction(0)
    for part in parts:
        hours = part.get("DurationHours")
        minutes = part.get("DurationMinutes")
        if hours is None and minutes is None:
            return None
        length = timedelta(hours=hours or 0, minutes=minutes or 0)
        held += Fraction(length // timedelta(seconds=1)) * part["TotalInstanceCount"]
    return int(held)


def _unused(held: Reservation, kind: ResourceKind) -> Resource | None:
    """Return the part of a reservation that nothing uses; None when AWS says nothing."""
    if held.available is None:
        return None
    is_over = held.ends_at is not None and held.state == "expired"
    lifecycles = {
        ReservationKind.ON_DEMAND: Lifecycle.ON_DEMAND,
        ReservationKind.CAPACITY_BLOCK: Lifecycle.CAPACITY_BLOCK,
        ReservationKind.TRAINING_PLAN: Lifecycle.TRAINING_PLAN,
    }
    return Resource(
        resource_id=held.reservation_id,
        kind=kind,
        account=held.account,
        region=held.region,
        zone=held.zone,
        shape=held.instance_type,
        lifecycle=lifecycles[held.kind],
        started_at=held.starts_at,
        ended_at=held.ends_at if is_over else None,
        is_running=held.state == _ACTIVE,
        is_level=True,
        units=held.available,
        platform=held.platform,
        tenancy=held.tenancy,
        reservation_id=held.reservation_id,
        tags=held.tags,
    )
