"""FSx, NAT gateways and extensions of Capacity Blocks, and the way to every service.

It must not know HTTP; what the world does not answer is left to moto.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from deploy.sandbox.aws import sagemaker
from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.model import problems, validation_text
from deploy.sandbox.aws.own import Call, Handler
from deploy.sandbox.aws.sagemaker import listed, of_scope
from deploy.sandbox.aws.world_services import FileSystemSeed, NatGatewaySeed


def describe_file_systems(call: Call) -> dict[str, Any]:
    """Answer FSx's DescribeFileSystems."""
    rows = [
        _file_system(seed)
        for seed in of_scope(call, call.world.services.file_systems)
        if seed.created_at <= call.now
    ]
    return listed(call, "FileSystems", rows)


def _file_system(seed: FileSystemSeed) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "OwnerId": seed.account,
        "FileSystemId": seed.id,
        "FileSystemType": seed.type,
        "CreationTime": seed.created_at,
        "Lifecycle": seed.lifecycle,
        "StorageCapacity": seed.size_gib,
        "StorageType": seed.storage,
        "Tags": _tags(seed.tags),
    }
    if seed.type == "LUSTRE":
        lustre: dict[str, Any] = {"DeploymentType": seed.deployment}
        if seed.throughput is not None:
            lustre["PerUnitStorageThroughput"] = seed.throughput
        shown["LustreConfiguration"] = lustre
    return shown


def describe_nat_gateways(call: Call) -> dict[str, Any]:
    """Answer DescribeNatGateways; a deleted one stays visible for about an hour."""
    tests = {item["Name"]: item["Values"] for item in call.params.get("Filter") or []}
    unknown = sorted(tests.keys() - {"state", "nat-gateway-id"})
    if unknown:
        raise AwsError("InvalidParameter", f"The filter '{unknown[0]}' is invalid")
    rows = []
    for seed in of_scope(call, call.world.services.nat_gateways):
        row = _gateway(seed, call.now)
        shown = {"state": row["State"], "nat-gateway-id": seed.id}
        if seed.created_at <= call.now and _is_visible(seed, call.now):
            rows += [row] if all(shown[k] in v for k, v in tests.items()) else []
    return listed(call, "NatGateways", rows)


def _is_visible(seed: NatGatewaySeed, now: datetime) -> bool:
    return seed.deleted_at is None or now < seed.deleted_at + timedelta(hours=1)


def _gateway(seed: NatGatewaySeed, now: datetime) -> dict[str, Any]:
    is_gone = seed.deleted_at is not None and seed.deleted_at <= now
    shown = {
        "NatGatewayId": seed.id,
        "VpcId": "vpc-1",
        "SubnetId": "subnet-1",
        "ConnectivityType": "public",
        "CreateTime": seed.created_at,
        "State": "deleted" if is_gone else "available",
        "Tags": _tags(seed.tags),
    }
    return shown | ({"DeleteTime": seed.deleted_at} if is_gone else {})


def describe_extensions(call: Call) -> dict[str, Any]:
    """Answer DescribeCapacityBlockExtensionHistory."""
    wanted = call.params.get("CapacityReservationIds")
    blocks = {
        seed.id: seed for seed in of_scope(call, call.world.capacity_reservations)
    }
    rows = []
    for seed in call.world.services.extensions:
        block = blocks.get(seed.reservation)
        if block is None or (wanted and seed.reservation not in wanted):
            continue
        rows.append(
            {
                "CapacityReservationId": seed.reservation,
                "InstanceType": block.instance_type,
                "InstanceCount": block.count,
                "CapacityBlockExtensionDurationHours": seed.hours,
                "CapacityBlockExtensionStatus": seed.status,
                "CapacityBlockExtensionPurchaseDate": seed.bought_at,
                "UpfrontFee": seed.fee,
                "CurrencyCode": "USD",
            }
        )
    return listed(call, "CapacityBlockExtensions", rows)


def _tags(tags: Any) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


HANDLERS: dict[str, dict[str, Handler]] = {
    "ec2": {
        "DescribeCapacityBlockExtensionHistory": describe_extensions,
        "DescribeNatGateways": describe_nat_gateways,
    },
    "fsx": {"DescribeFileSystems": describe_file_systems},
    "sagemaker": sagemaker.HANDLERS,
}
#: How each service names a request that breaks its model.
INVALID = {"ec2": "InvalidParameterValue", "fsx": "BadRequest"}


def own_answer(call: Call) -> dict[str, Any] | None:
    """Answer what the world knows better than moto; None for everything else."""
    handler = HANDLERS.get(call.service, {}).get(call.operation)
    if handler is None:
        return None
    found = problems(call.service, call.operation, _plain_times(call.params))
    if found:
        code = INVALID.get(call.service, "ValidationException")
        raise AwsError(code, validation_text(found))
    return handler(call)


def _plain_times(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with times as texts, as the model check wants them."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in params.items()
    }
