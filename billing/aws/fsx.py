"""FSx for Lustre file systems. Must not know prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billing.aws.calls import whole
from billing.aws.service_calls import Found, Scope, every, listing, tag_map
from billing.core.periods import utc
from billing.core.resources import Resource
from billing.core.usage import ResourceKind

PAGE_SIZE = 100

FILE_SYSTEMS = listing(
    "describe_file_systems", "fsx:DescribeFileSystems", "FileSystems"
)
PERMISSIONS = (FILE_SYSTEMS.permission,)
_LUSTRE = "LUSTRE"
_NOT_THERE = frozenset({"CREATING", "FAILED", "DELETING"})


def read_file_systems(scope: Scope) -> Found:
    """Read file systems of the Lustre kind; others come with the bill."""
    found = []
    for raw in every(scope, FILE_SYSTEMS, {"MaxResults": PAGE_SIZE}):
        with whole(FILE_SYSTEMS, scope.place):
            is_lustre = raw["FileSystemType"] == _LUSTRE
            if is_lustre and raw["Lifecycle"] not in _NOT_THERE:
                found.append(_file_system(raw, scope))
    return Found(resources=tuple(found))


def _file_system(raw: Mapping[str, Any], scope: Scope) -> Resource:
    lustre = raw.get("LustreConfiguration", {})
    deployment = str(lustre.get("DeploymentType") or "SCRATCH_1").lower()
    storage = str(raw.get("StorageType") or "SSD").lower()
    return Resource(
        resource_id=raw["FileSystemId"],
        kind=ResourceKind.FILE_SYSTEM,
        account=scope.account,
        region=scope.region,
        shape=f"lustre:{deployment}:{storage}",
        started_at=utc(raw["CreationTime"]),
        size_gib=int(raw["StorageCapacity"]),
        throughput_mibps=lustre.get("PerUnitStorageThroughput"),
        tags=tag_map(raw.get("Tags", ())),
    )
