"""Nodes of SageMaker HyperPod clusters. Must not know prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billing.aws.calls import ask, whole
from billing.aws.service_calls import (
    SAGEMAKER_TAGS,
    Found,
    Scope,
    every,
    listing,
    sagemaker_tags,
    single,
)
from billing.core.fleet import Lifecycle
from billing.core.periods import utc
from billing.core.resources import Resource
from billing.core.usage import ResourceKind

PAGE_SIZE = 100

CLUSTERS = listing("list_clusters", "sagemaker:ListClusters", "ClusterSummaries")
CLUSTER = single(
    "describe_cluster", "sagemaker:DescribeCluster", "ClusterArn", "InstanceGroups"
)
NODES = listing(
    "list_cluster_nodes", "sagemaker:ListClusterNodes", "ClusterNodeSummaries"
)
PERMISSIONS = (
    CLUSTERS.permission,
    CLUSTER.permission,
    NODES.permission,
    SAGEMAKER_TAGS.permission,
)
#: A node in any other state holds an instance.
_NO_INSTANCE = frozenset({"Pending", "NotFound"})


def read_clusters(scope: Scope) -> Found:
    """Read every node of every cluster; a node's tags are those of its cluster."""
    found: list[Resource] = []
    for entry in every(scope, CLUSTERS, {"MaxResults": PAGE_SIZE}):
        with whole(CLUSTERS, scope.place):
            arn, name = entry["ClusterArn"], entry["ClusterName"]
        raw = ask(scope.client, CLUSTER, {"ClusterName": name}, place=scope.place)
        with whole(CLUSTER, scope.place):
            groups = {
                group["InstanceGroupName"]: group
                for group in (
                    *raw["InstanceGroups"],
                    *raw.get("RestrictedInstanceGroups", ()),
                )
            }
        tags = sagemaker_tags(scope, arn)
        asked = {"ClusterName": name, "MaxResults": PAGE_SIZE}
        for node in every(scope, NODES, asked):
            with whole(NODES, scope.place):
                found += _node(node, arn, groups, scope=scope, tags=tags)
    return Found(resources=tuple(found))


def _node(
    raw: Mapping[str, Any],
    arn: str,
    groups: Mapping[str, Mapping[str, Any]],
    *,
    scope: Scope,
    tags: Mapping[str, str],
) -> list[Resource]:
    if raw["InstanceStatus"]["Status"] in _NO_INSTANCE:
        return []
    group = groups.get(raw["InstanceGroupName"], {})
    plan = group.get("TrainingPlanArn", "")
    return [
        Resource(
            resource_id=f"{arn}/node/{raw['InstanceId']}",
            kind=ResourceKind.CLUSTER_NODE,
            account=scope.account,
            region=scope.region,
            shape=raw["InstanceType"],
            lifecycle=_lifecycle(group),
            started_at=utc(raw["LaunchTime"]),
            reservation_id=plan,
            tags=tags,
        )
    ]


def _lifecycle(group: Mapping[str, Any]) -> Lifecycle:
    if group.get("TrainingPlanArn"):
        return Lifecycle.TRAINING_PLAN
    if "Spot" in (group.get("CapacityRequirements") or {}):
        return Lifecycle.MANAGED_SPOT
    return Lifecycle.ON_DEMAND
