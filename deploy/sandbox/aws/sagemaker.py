"""SageMaker's lists and descriptions, answered from the world.

It must not know HTTP. moto keeps these too, but with its own times and states; what the
world does not hold is left to moto.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call, Handler
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.world_services import (
    ClusterGroupSeed,
    ClusterSeed,
    EndpointSeed,
    TrainingJobSeed,
    TrainingPlanSeed,
)

Seed = TypeVar("Seed")
PAGES = PageRules(
    field="NextToken",
    unknown_code="ValidationException",
    unknown_text="Invalid pagination token",
)
PAGE = 10


def of_scope(call: Call, seeds: Iterable[Seed]) -> list[Seed]:
    """Return the seeds of a call's account and region."""
    wanted = (call.account, call.region)
    return [s for s in seeds if (s.account, s.region) == wanted]  # type: ignore[attr-defined] # every seed has both


def listed(call: Call, name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one page of rows under the name that the operation gives them."""
    size = int(call.params.get("MaxResults") or PAGE)
    page, token = call.pages.cut(rows, call.params, rules=PAGES, size=size)
    return {name: list(page)} | ({"NextToken": token} if token else {})


def one(call: Call, seeds: Iterable[Seed], **names: Any) -> Seed:
    """Return the seed with these names, or refuse as SageMaker does."""
    for seed in of_scope(call, seeds):
        if all(getattr(seed, name) == value for name, value in names.items()):
            return seed
    message = f"Could not find {' '.join(str(name) for name in names.values())}"
    raise AwsError("ValidationException", message)


def at(value: Any) -> datetime | None:
    """Return an instant of a request: JSON sends seconds since 1970."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    found = datetime.fromisoformat(str(value))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def list_training_jobs(call: Call) -> dict[str, Any]:
    """Answer ListTrainingJobs, newest first."""
    params = call.params
    after = at(params.get("LastModifiedTimeAfter"))
    rows = [
        _job_row(job, call.now)
        for job in of_scope(call, call.world.services.training_jobs)
        if job.created_at <= call.now
        and params.get("StatusEquals") in {None, _job_status(job, call.now)}
        and (after is None or job.modified_at(call.now) > after)
        and params.get("WarmPoolStatusEquals") in {None, _warm(job, call.now)}
    ]
    rows.sort(key=lambda row: (row["CreationTime"], row["TrainingJobName"]))
    return listed(call, "TrainingJobSummaries", rows[::-1])


def describe_training_job(call: Call) -> dict[str, Any]:
    """Answer DescribeTrainingJob."""
    job = one(
        call, call.world.services.training_jobs, name=call.params["TrainingJobName"]
    )
    started = job.started_at is not None and job.started_at <= call.now
    shown = _job_row(job, call.now) | {
        "ModelArtifacts": {"S3ModelArtifacts": ""},
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "ResourceConfig": _resource_config(job),
        "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
        "EnableManagedSpotTraining": job.spot,
    }
    if started:
        shown["TrainingStartTime"] = job.started_at
    if "TrainingEndTime" in shown and started:
        shown |= _seconds(job)
    return shown


def _job_row(job: TrainingJobSeed, now: datetime) -> dict[str, Any]:
    status = _job_status(job, now)
    row: dict[str, Any] = {
        "TrainingJobName": job.name,
        "TrainingJobArn": job.arn,
        "CreationTime": job.created_at,
        "LastModifiedTime": job.modified_at(now),
        "TrainingJobStatus": status,
        "SecondaryStatus": "Training" if status == "InProgress" else status,
    }
    if status != "InProgress":
        row["TrainingEndTime"] = job.ended_at
    warm = _warm(job, now)
    if warm is not None and job.ended_at and job.warm_until:
        kept = min(now, job.warm_until) - job.ended_at
        row["WarmPoolStatus"] = {
            "Status": warm,
            "ResourceRetainedBillableTimeInSeconds": int(kept.total_seconds()),
        }
    return row


def _job_status(job: TrainingJobSeed, now: datetime) -> str:
    is_over = job.ended_at is not None and job.ended_at <= now
    return "Completed" if is_over else "InProgress"


def _warm(job: TrainingJobSeed, now: datetime) -> str | None:
    if job.warm_until is None or job.ended_at is None or job.ended_at > now:
        return None
    return "Available" if now < job.warm_until else "Terminated"


def _resource_config(job: TrainingJobSeed) -> dict[str, Any]:
    config: dict[str, Any] = {"VolumeSizeInGB": 100}
    if job.groups:
        config["InstanceGroups"] = [
            {
                "InstanceGroupName": group.name,
                "InstanceType": group.instance_type,
                "InstanceCount": group.count,
            }
            for group in job.groups
        ]
    elif job.instance_type is not None:
        config |= {"InstanceType": job.instance_type, "InstanceCount": job.count}
    return config | ({"TrainingPlanArn": job.plan} if job.plan else {})


def _seconds(job: TrainingJobSeed) -> dict[str, int]:
    if job.started_at is None or job.ended_at is None:
        return {}
    ran = int((job.ended_at - job.started_at).total_seconds())
    billed = ran if job.billable_s is None else job.billable_s
    return {"TrainingTimeInSeconds": ran, "BillableTimeInSeconds": billed}


def list_clusters(call: Call) -> dict[str, Any]:
    """Answer ListClusters."""
    rows = [_cluster_row(one_) for one_ in of_scope(call, call.world.services.clusters)]
    return listed(call, "ClusterSummaries", rows)


def describe_cluster(call: Call) -> dict[str, Any]:
    """Answer DescribeCluster."""
    cluster = one(call, call.world.services.clusters, name=call.params["ClusterName"])
    groups = [_group(group) for group in cluster.groups]
    return _cluster_row(cluster) | {"InstanceGroups": groups}


def _cluster_row(cluster: ClusterSeed) -> dict[str, Any]:
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "CreationTime": cluster.created_at,
        "ClusterStatus": "InService",
    }


def _group(group: ClusterGroupSeed) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "CurrentCount": len(group.nodes),
        "TargetCount": len(group.nodes),
    }
    if group.plan:
        shown["TrainingPlanArn"] = group.plan
    if group.spot:
        shown["CapacityRequirements"] = {"Spot": {}}
    return shown


def list_cluster_nodes(call: Call) -> dict[str, Any]:
    """Answer ListClusterNodes."""
    cluster = one(call, call.world.services.clusters, name=call.params["ClusterName"])
    rows = [
        {
            "InstanceGroupName": group.name,
            "InstanceId": node.id,
            "InstanceType": group.instance_type,
            "LaunchTime": node.launched_at,
            "InstanceStatus": {"Status": node.status},
        }
        for group in cluster.groups
        for node in group.nodes
    ]
    return listed(call, "ClusterNodeSummaries", rows)


def list_endpoints(call: Call) -> dict[str, Any]:
    """Answer ListEndpoints."""
    rows = [
        _endpoint_row(one_) for one_ in of_scope(call, call.world.services.endpoints)
    ]
    return listed(call, "Endpoints", rows)


def describe_endpoint(call: Call) -> dict[str, Any]:
    """Answer DescribeEndpoint."""
    found = one(call, call.world.services.endpoints, name=call.params["EndpointName"])
    variants = [
        {"VariantName": variant.name}
        | (
            {"CurrentServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 5}}
            if variant.instance_type is None
            else {"CurrentInstanceCount": variant.count}
        )
        for variant in found.variants
    ]
    shown = {"EndpointConfigName": found.name, "ProductionVariants": variants}
    return _endpoint_row(found) | shown


def describe_endpoint_config(call: Call) -> dict[str, Any]:
    """Answer DescribeEndpointConfig; a configuration has its endpoint's name."""
    name = call.params["EndpointConfigName"]
    found = one(call, call.world.services.endpoints, name=name)
    return {
        "EndpointConfigName": name,
        "EndpointConfigArn": found.arn.replace(":endpoint/", ":endpoint-config/"),
        "CreationTime": found.created_at,
        "ProductionVariants": [
            {"VariantName": variant.name, "ModelName": "model"}
            | (
                {"ServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 5}}
                if variant.instance_type is None
                else {
                    "InstanceType": variant.instance_type,
                    "InitialInstanceCount": variant.count,
                }
            )
            for variant in found.variants
        ],
    }


def _endpoint_row(found: EndpointSeed) -> dict[str, Any]:
    return {
        "EndpointName": found.name,
        "EndpointArn": found.arn,
        "EndpointStatus": found.status,
        "CreationTime": found.created_at,
        "LastModifiedTime": found.modified_at or found.created_at,
    }


def list_notebook_instances(call: Call) -> dict[str, Any]:
    """Answer ListNotebookInstances."""
    wanted = call.params.get("StatusEquals")
    rows = [
        {
            "NotebookInstanceName": seed.name,
            "NotebookInstanceArn": seed.arn,
            "NotebookInstanceStatus": seed.status,
            "InstanceType": seed.instance_type,
            "CreationTime": seed.created_at,
            "LastModifiedTime": seed.modified_at or seed.created_at,
        }
        for seed in of_scope(call, call.world.services.notebooks)
        if wanted in {None, seed.status}
    ]
    return listed(call, "NotebookInstances", rows)


def list_apps(call: Call) -> dict[str, Any]:
    """Answer ListApps."""
    rows = [
        {
            "DomainId": seed.domain,
            "AppType": seed.type,
            "AppName": seed.name,
            "Status": seed.status,
            "CreationTime": seed.created_at,
            "ResourceSpec": {"InstanceType": seed.instance_type},
        }
        | ({"SpaceName": seed.space} if seed.space else {"UserProfileName": seed.user})
        for seed in of_scope(call, call.world.services.studio_apps)
    ]
    return listed(call, "Apps", rows)


def describe_app(call: Call) -> dict[str, Any]:
    """Answer DescribeApp."""
    params = call.params
    seed = one(
        call,
        call.world.services.studio_apps,
        domain=params["DomainId"],
        name=params["AppName"],
        space=params.get("SpaceName"),
        user=params.get("UserProfileName"),
    )
    return {
        "AppArn": seed.arn,
        "AppType": seed.type,
        "AppName": seed.name,
        "DomainId": seed.domain,
        "Status": seed.status,
        "CreationTime": seed.created_at,
    }


def list_training_plans(call: Call) -> dict[str, Any]:
    """Answer ListTrainingPlans."""
    rows = [
        _plan_row(seed, call.now)
        for seed in of_scope(call, call.world.services.training_plans)
    ]
    return listed(call, "TrainingPlanSummaries", rows)


def _plan_row(seed: TrainingPlanSeed, now: datetime) -> dict[str, Any]:
    status = "Scheduled" if now < seed.starts_at else "Active"
    hours = int(seed.length.total_seconds()) // 3600
    part = {
        "ReservedCapacityArn": f"{seed.arn}/reserved",
        "InstanceType": seed.instance_type,
        "TotalInstanceCount": seed.count,
        "Status": "Active",
        "DurationHours": hours,
        "StartTime": seed.starts_at,
        "EndTime": seed.ends_at,
    }
    return {
        "TrainingPlanArn": seed.arn,
        "TrainingPlanName": seed.name,
        "Status": "Expired" if seed.ends_at <= now else status,
        "DurationHours": hours,
        "StartTime": seed.starts_at,
        "EndTime": seed.ends_at,
        "UpfrontFee": seed.fee,
        "CurrencyCode": "USD",
        "TotalInstanceCount": seed.count,
        "AvailableInstanceCount": seed.available,
        "InUseInstanceCount": seed.count - seed.available,
        "ReservedCapacitySummaries": [part],
    }


def list_tags(call: Call) -> dict[str, Any]:
    """Answer ListTags for whatever of SageMaker the world holds."""
    services = call.world.services
    arn = call.params["ResourceArn"]
    tagged: list[Any] = [
        *(*services.training_jobs, *services.clusters, *services.endpoints),
        *(*services.notebooks, *services.studio_apps),
    ]
    for seed in of_scope(call, tagged):
        if seed.arn == arn:
            rows = [{"Key": k, "Value": v} for k, v in seed.tags.items()]
            return listed(call, "Tags", rows)
    raise AwsError("ValidationException", f"Could not find {arn}")


HANDLERS: dict[str, Handler] = {
    "DescribeApp": describe_app,
    "DescribeCluster": describe_cluster,
    "DescribeEndpoint": describe_endpoint,
    "DescribeEndpointConfig": describe_endpoint_config,
    "DescribeTrainingJob": describe_training_job,
    "ListApps": list_apps,
    "ListClusterNodes": list_cluster_nodes,
    "ListClusters": list_clusters,
    "ListEndpoints": list_endpoints,
    "ListNotebookInstances": list_notebook_instances,
    "ListTags": list_tags,
    "ListTrainingJobs": list_training_jobs,
    "ListTrainingPlans": list_training_plans,
}
