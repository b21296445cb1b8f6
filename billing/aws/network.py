"""NAT gateways and EBS snapshots, which cost beside the instances they serve.

What a gateway carries, and what a snapshot holds, only the bill tells. Must not know
prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billing.aws.calls import whole
from billing.aws.service_calls import Found, Scope, every, listing, tag_map
from billing.core.periods import utc
from billing.core.resources import Resource
from billing.core.usage import ResourceKind

PAGE_SIZE = 1_000

GATEWAYS = listing("describe_nat_gateways", "ec2:DescribeNatGateways", "NatGateways")
SNAPSHOTS = listing("describe_snapshots", "ec2:DescribeSnapshots", "Snapshots")
PERMISSIONS = (GATEWAYS.permission, SNAPSHOTS.permission)
#: States in which a gateway is charged for.
_THERE = ("available", "deleting")


def read_nat_gateways(scope: Scope) -> Found:
    """Read every NAT gateway that is there."""
    asked = {
        "Filter": [{"Name": "state", "Values": list(_THERE)}],
        "MaxResults": PAGE_SIZE,
    }
    found = []
    for raw in every(scope, GATEWAYS, asked):
        with whole(GATEWAYS, scope.place):
            found.append(_gateway(raw, scope))
    return Found(resources=tuple(found))


def read_snapshots(scope: Scope) -> Found:
    """Read snapshots that carry a job's tag; without keys there are none."""
    if not scope.job_tag_keys:
        return Found()
    asked = {
        "OwnerIds": ["self"],
        "Filters": [{"Name": "tag-key", "Values": list(scope.job_tag_keys)}],
        "MaxResults": PAGE_SIZE,
    }
    found = []
    for raw in every(scope, SNAPSHOTS, asked):
        with whole(SNAPSHOTS, scope.place):
            found.append(_snapshot(raw, scope))
    return Found(resources=tuple(found))


def _gateway(raw: Mapping[str, Any], scope: Scope) -> Resource:
    return Resource(
        resource_id=raw["NatGatewayId"],
        kind=ResourceKind.NAT_GATEWAY,
        account=scope.account,
        region=scope.region,
        shape="nat-gateway",
        started_at=utc(raw["CreateTime"]),
        tags=tag_map(raw.get("Tags", ())),
    )


def _snapshot(raw: Mapping[str, Any], scope: Scope) -> Resource:
    return Resource(
        resource_id=raw["SnapshotId"],
        kind=ResourceKind.SNAPSHOT,
        account=scope.account,
        region=scope.region,
        shape="snapshot",
        started_at=utc(raw["StartTime"]),
        size_gib=int(raw.get("VolumeSize") or 0),
        parent_id=raw.get("VolumeId", ""),
        tags=tag_map(raw.get("Tags", ())),
    )
